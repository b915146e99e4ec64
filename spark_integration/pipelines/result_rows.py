"""Stage 4, what goes into topics and what comes out of them again.

A result is a record whose key is the day, the carrier and the origin (`2013-01-01 UA EWR`) and whose value is all of it as JSON. Later results of a key
replace earlier ones: so the topic is compacted, and a result that is sent again after a crash does no harm.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_integration.pipelines.delay_statistics import KEYS, MEASURES

RESULT: Final = (
    "day DATE, carrier STRING, airline STRING, origin STRING, airport STRING, "
    "flights LONG, departed LONG, delay_minutes LONG, delayed LONG, worst_delay INT, mean_delay DOUBLE"
)


def to_records(statistics: DataFrame) -> DataFrame:
    """`key` and `value`, binary.

    Args:
        statistics: with names, of `delay_statistics.with_names`.
    """
    mean = F.round(F.col("delay_minutes") / F.nullif("departed", F.lit(0)), 2).alias("mean_delay")
    value = F.to_json(F.struct("day", "carrier", "airline", "origin", "airport", *MEASURES, mean))
    return statistics.select(F.concat_ws(" ", *KEYS).cast("binary").alias("key"), value.cast("binary").alias("value"))


def from_records(records: DataFrame) -> DataFrame:
    """The columns of RESULT, from `value`."""
    return records.select(F.from_json(F.col("value").cast("string"), RESULT).alias("result")).select("result.*")


def latest(records: DataFrame) -> DataFrame:
    """Of each `key` the record with the highest `offset`, which is what a compacted topic keeps in the end; none where that is a tombstone.

    Args:
        records: `key`, `value`, `offset`, `partition`; each key in one partition only.
    """
    newest_first = Window.partitionBy("key").orderBy(F.col("offset").desc())
    return records.withColumn("age", F.row_number().over(newest_first)).where((F.col("age") == 1) & F.col("value").isNotNull()).drop("age")
