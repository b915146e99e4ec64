"""A Spark program that knows nothing of this project: the official connector reads and writes our brokers. What it saw goes to standard output as JSON.

    python job.py JARS BOOTSTRAP SHAPES WRITTEN COPY DIRECTORY

SHAPES: topics to read, with commas between them; WRITTEN: one to write, in batch; COPY: one to write, by a
stream that reads WRITTEN; DIRECTORY: for checkpoints.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession

CELLS = (
    "hex(key) as key",
    "hex(value) as value",
    "topic",
    "partition",
    "offset",
    "unix_micros(timestamp) as us",
    "timestampType",
    "transform(headers, h -> struct(h.key as key, hex(h.value) as value)) as headers",
)
ROWS = 1_000
PER_TRIGGER = 300


class Job:
    """Each method is one use of the connector."""

    def __init__(self, spark: SparkSession, bootstrap: str, directory: str) -> None:
        self._spark = spark
        self._bootstrap = bootstrap
        self._directory = directory

    def read(self, topic: str, **options: str) -> DataFrame:
        """In batch."""
        reader = self._spark.read.format("kafka").option("kafka.bootstrap.servers", self._bootstrap).option("subscribe", topic)
        return reader.option("includeHeaders", "true").options(**options).load()

    def shapes(self, topics: str) -> list[dict[str, Any]]:
        """All cells of all rows of some topics."""
        return [row.asDict(recursive=True) for row in self.read(topics).selectExpr(*CELLS).orderBy("topic", "partition", "offset").collect()]

    def ends(self, topic: str) -> list[int]:
        """How many rows lie between offsets that were given, and before a time."""
        between = self.read(topic, startingOffsets=json.dumps({topic: {"0": 1, "1": -2}}), endingOffsets=json.dumps({topic: {"0": 3, "1": -1}}))
        return [between.where("partition = 0").count(), self.read(topic, endingTimestamp="1600000000003").count()]

    def write(self, topic: str) -> None:
        """In batch, with all columns."""
        rows = self._spark.range(ROWS).selectExpr(
            "concat('k', id) as key",
            "cast(repeat(cast(id as string), 50) as binary) as value",
            "cast(id % 3 as int) as partition",
            "array(struct('id' as key, cast(cast(id as string) as binary) as value)) as headers",
        )
        rows.write.format("kafka").option("kafka.bootstrap.servers", self._bootstrap).option("topic", topic).save()

    def copy(self, source: str, target: str) -> dict[str, Any]:
        """By a stream, at most so many rows a batch, up to what is there now; then once more."""
        runs = []
        for _ in range(2):
            stream = self._spark.readStream.format("kafka").option("kafka.bootstrap.servers", self._bootstrap).option("subscribe", source)
            rows = stream.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", PER_TRIGGER).load().select("key", "value")
            sink = rows.writeStream.format("kafka").option("kafka.bootstrap.servers", self._bootstrap).option("topic", target)
            query = sink.option("checkpointLocation", f"{self._directory}/copy").trigger(availableNow=True).start()
            query.awaitTermination()
            runs.append([progress.numInputRows for progress in query.recentProgress if progress.numInputRows])
        return {"batches": runs}


def main() -> None:
    """Run all."""
    jars, bootstrap, shapes, written, copy, directory = sys.argv[1:]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jars).config("spark.driver.memory", "1g").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.sql.session.timeZone", "UTC").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    job = Job(spark, bootstrap, directory)
    seen = {"shapes": job.shapes(shapes), "ends": job.ends(shapes.split(",")[0])}
    job.write(written)
    seen["read"] = job.read(written).count()
    seen |= job.copy(written, copy)
    print(json.dumps(seen))
    spark.stop()


if __name__ == "__main__":
    main()
