"""Stages 2 and 3: what each carrier's flights from each airport were late by, day by day; and who they are.

Each measure can be added up (the worst delay: be taken the greater of), so that parts that were counted apart give the same as one count of all.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

WINDOW_SECONDS: Final = 86_400  # a day; windows begin at midnight of UTC
DELAYED_MINUTES: Final = 15  # the Department of Transportation counts a flight as on time that leaves less than so much late
KEYS: Final = ("day", "carrier", "origin")
MEASURES: Final = ("flights", "departed", "delay_minutes", "delayed", "worst_delay")


def delays(flights: DataFrame) -> DataFrame:
    """One row for each day (of UTC, a date), carrier and origin, with MEASURES.

    `flights` were planned, of which `departed` were not cancelled. Of these: `delay_minutes` is the sum of their delays, `delayed` how many left
    DELAYED_MINUTES or more late, `worst_delay` the longest delay, null where none departed.

    Args:
        flights: columns of the stage before, `departure` with a watermark where it is a stream: it says how late a flight may come to be counted.
    """
    groups = flights.groupBy(F.window("departure", f"{WINDOW_SECONDS} seconds"), "carrier", "origin")
    counted = groups.agg(
        F.count("*").alias("flights"),
        F.count("dep_delay").alias("departed"),
        F.coalesce(F.sum("dep_delay"), F.lit(0)).alias("delay_minutes"),
        F.count_if(F.col("dep_delay") >= DELAYED_MINUTES).alias("delayed"),
        F.max("dep_delay").alias("worst_delay"),
    )
    return counted.select(F.to_date("window.start").alias("day"), "carrier", "origin", *MEASURES)


def added_up(parts: DataFrame, *keys: str) -> DataFrame:
    """MEASURES of several parts as one, for each value of the keys."""
    *sums, worst = MEASURES
    return parts.groupBy(*keys).agg(*(F.sum(name).alias(name) for name in sums), F.max(worst).alias(worst))


def with_names(statistics: DataFrame, airlines: DataFrame, airports: DataFrame) -> DataFrame:
    """Add `airline` and `airport`, the names of carrier and origin; null where the tables do not have them.

    Args:
        statistics: with `carrier` and `origin`.
        airlines: `carrier`, `name`.
        airports: `faa`, `name`.
    """
    of_carriers = airlines.select("carrier", F.col("name").alias("airline"))
    of_origins = airports.select(F.col("faa").alias("origin"), F.col("name").alias("airport"))
    return statistics.join(F.broadcast(of_carriers), "carrier", "left").join(F.broadcast(of_origins), "origin", "left")
