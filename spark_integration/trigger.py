"""What Spark says about how much to read. Spark 4.1 has none of it: there the limits of the options apply always, and AvailableNow reads all in one batch."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from spark_integration.options import Limits

KNOWS_LIMITS: Final = find_spec("pyspark.sql.streaming.datasource") is not None

if TYPE_CHECKING or KNOWS_LIMITS:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, ReadMinRows
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as AvailableNow
else:

    class ReadLimit:
        """Not known to this Spark."""

    class AvailableNow:
        """Not known to this Spark."""

    ReadAllAvailable = ReadMaxRows = ReadMinRows = None

__all__ = ["KNOWS_LIMITS", "AvailableNow", "ReadLimit", "default_limit", "is_unlimited"]


def default_limit(limits: Limits) -> Any:
    """The options in Spark's words; the numbers themselves are taken from the options, for Spark cannot say both at once."""
    if limits.max_offsets is not None:
        return ReadMaxRows(limits.max_offsets)
    return ReadMinRows(limits.min_offsets) if limits.min_offsets is not None else ReadAllAvailable()


def is_unlimited(limit: ReadLimit | None) -> bool:
    """Trigger.Once: everything, whatever the options say."""
    return KNOWS_LIMITS and isinstance(limit, ReadAllAvailable)
