"""The other way out: records that are no flights, and flights that came when their day was closed. Each goes to the dead-letter topic as it came, with why.

Headers of a dead letter: `reason`; `topic`, `partition`, `offset` of where it was. A crash may send a letter again (delivery is at least once): who counts
letters counts positions.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_integration.pipelines.delay_statistics import WINDOW_SECONDS
from spark_integration.pipelines.flight_rows import POSITION

LATE: Final = "too late: its day was closed"


def with_lateness(records: DataFrame, closed_until: datetime | None) -> DataFrame:
    """Give flights a `reason` whose window ends at or before `closed_until`: those are what Spark leaves out of the statistics.

    Args:
        records: with `row` and `reason`, of the stage before.
        closed_until: the watermark; None where there is none yet.
    """
    if closed_until is None:
        return records
    # Not F.window: that would drop the records that have no departure.
    day_ends = (F.floor(F.unix_timestamp("row.departure") / WINDOW_SECONDS) + 1) * WINDOW_SECONDS
    late = day_ends <= F.lit(int(closed_until.timestamp()))
    return records.withColumn("reason", F.when(F.col("reason").isNull() & late, LATE).otherwise(F.col("reason")))


def to_letters(records: DataFrame) -> DataFrame:
    """Those with a reason, as records for the dead-letter topic: `key`, `value`, `headers`."""
    headers = F.array(*(_header(name) for name in ("reason", *POSITION)))
    return records.where(F.col("reason").isNotNull()).select("key", "value", headers.alias("headers"))


def from_letters(letters: DataFrame) -> DataFrame:
    """Each letter once, however often it was sent: `key`, `value`, `reason`, and where it was: `topic`, `partition`, `offset`.

    Args:
        letters: `key`, `value`, `headers`, as the source gives them.
    """
    found = F.map_from_entries("headers")
    named = (found[name].cast("string").alias(name) for name in ("reason", *POSITION))
    typed = letters.select("key", "value", *named).withColumns({"partition": F.col("partition").cast("int"), "offset": F.col("offset").cast("long")})
    return typed.dropDuplicates(list(POSITION))


def _header(name: str) -> Column:
    return F.struct(F.lit(name).alias("key"), F.col(name).cast("string").cast("binary").alias("value"))
