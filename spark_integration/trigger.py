"""What Spark says about how much to read. Spark 4.1 has none of it: there the limits of the options apply always, and AvailableNow reads all in one batch."""

from __future__ import annotations

from typing import Any

from spark_integration.options import Limits

try:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, ReadMinRows
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as AvailableNow
except ImportError:

    class ReadLimit:  # type: ignore[no-redef]
        """Not known to this Spark."""

    class AvailableNow:  # type: ignore[no-redef]
        """Not known to this Spark."""

    ReadAllAvailable = ReadMaxRows = ReadMinRows = None

__all__ = ["AvailableNow", "ReadLimit", "default_limit", "is_unlimited"]


def default_limit(limits: Limits) -> Any:
    """The options in Spark's words; the numbers themselves are taken from the options, for Spark cannot say both at once."""
    if limits.max_offsets is not None:
        return ReadMaxRows(limits.max_offsets)
    return ReadMinRows(limits.min_offsets) if limits.min_offsets is not None else ReadAllAvailable()


def is_unlimited(limit: ReadLimit) -> bool:
    """Trigger.Once: everything, whatever the options say."""
    return ReadAllAvailable is not None and isinstance(limit, ReadAllAvailable)
