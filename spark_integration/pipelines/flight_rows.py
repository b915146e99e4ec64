"""Stage 1, reading and judging: a record's value becomes a flight, or a reason why it is none. A record is never dropped here.

A value is the number of a row and the row of flights.csv, with commas between: `17,2013,1,1,557,600,-3,...`. All of it is checked by Spark's own CSV reader
in the JVM; no Python runs per record.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # the name that everybody gives it

ROW: Final = (
    "number INT, year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT, sched_arr_time INT, arr_delay INT, "
    "carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, air_time INT, distance INT, hour INT, minute INT, time_hour TIMESTAMP"
)
CORRUPT: Final = "corrupt"
CSV: Final = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT, "nullValue": "NA"}

# Where a record comes from; with this each is found again.
POSITION: Final = ("topic", "partition", "offset")


def with_rows(records: DataFrame) -> DataFrame:
    """Add `row`, a struct of the columns of ROW, of CORRUPT (the text where it is no such row) and of `departure` (when it should have left).

    Args:
        records: at least `value`, as the source gives it.
    """
    row = F.from_csv(F.col("value").cast("string"), f"{ROW}, {CORRUPT} STRING", CSV)
    departure = F.col("row.time_hour") + F.make_dt_interval(mins=F.col("row.minute"))
    return records.withColumn("row", row).withColumn("row", F.col("row").withField("departure", departure))


def judged(records: DataFrame, airlines: DataFrame, airports: DataFrame) -> DataFrame:
    """Add `reason`: why a record is no flight; null where it is one.

    Args:
        records: with `row`, of `with_rows`.
        airlines: column `carrier`, each once.
        airports: column `faa`, each once.
    """
    carriers = airlines.select(F.col("carrier").alias("known_carrier"))
    origins = airports.select(F.col("faa").alias("known_origin"))
    looked_up = records.join(F.broadcast(carriers), F.col("row.carrier") == F.col("known_carrier"), "left").join(
        F.broadcast(origins), F.col("row.origin") == F.col("known_origin"), "left"
    )
    return looked_up.withColumn("reason", _reason()).drop("known_carrier", "known_origin")


def _reason() -> Column:
    """The first that applies. What is null after reading was empty, or NA, or no number."""
    day = F.try_to_date(F.format_string("%04d-%02d-%02d", "row.year", "row.month", "row.day"), "yyyy-MM-dd")
    return (
        F.when(F.coalesce(F.length("value"), F.lit(0)) == 0, "no value")
        .when(F.col(f"row.{CORRUPT}").isNotNull() | F.col("row").isNull(), "not a row of flights")
        .when(F.col("row.number").isNull(), "no number")
        .when(day.isNull(), "no such day")
        .when(F.col("row.departure").isNull(), "no departure time")
        .when(F.col("known_carrier").isNull(), F.concat(F.lit("no such carrier: "), F.coalesce("row.carrier", F.lit("none"))))
        .when(F.col("known_origin").isNull(), F.concat(F.lit("no such airport: "), F.coalesce("row.origin", F.lit("none"))))
    )
