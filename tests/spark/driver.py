"""A driver's program that can be killed at a certain place: `python -m tests.spark.driver JSON`.

It prints a line for each thing that happens ("begun 3", "written 3", "held"), and stops for ever where it is told to.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from spark_integration import KafkaClassicSource, register, settle, stream_place
from tests.spark.jobs import SPARK_SETTINGS, numbers_of


def main() -> None:
    """Run the query of the job until it ends."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    out = Path(job["out"])
    spark = SparkSession.builder.master("local[2]").config(map=dict(SPARK_SETTINGS)).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if job["listens"]:
        register(spark)
    else:
        spark.dataSource.register(KafkaClassicSource)

    def write(frame: DataFrame, number: int) -> None:
        _reached("begun", number, job)
        _append(out / "appended", [number, numbers_of(frame)])
        frame.write.mode("overwrite").parquet(str(out / "exact" / stream_place(frame, str(out / "checkpoint"), number)))
        _reached("written", number, job)

    frame = spark.readStream.format("kafka_classic").options(**job["options"]).load()
    writer = frame.writeStream.foreachBatch(write).option("checkpointLocation", str(out / "checkpoint"))
    query = writer.trigger(**job["trigger"]).start()
    query.awaitTermination()
    settle(query)
    spark.stop()


def _reached(what: str, number: int, job: dict[str, Any]) -> None:
    print(what, number, flush=True)
    if job["hold"] == [what, number]:
        print("held", flush=True)
        threading.Event().wait()


def _append(path: Path, line: Any) -> None:
    """A sink that keeps what it was given twice."""
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


if __name__ == "__main__":
    main()
