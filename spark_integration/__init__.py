"""Spark's way to the cluster: a PySpark data source that consumes by group and commits when the sink is done, its sink, and jobs to copy. No jar.

    from spark_integration import register

    register(spark)
    flights = spark.readStream.format("kafka_classic").option("bootstrap.servers", ...).option("subscribe", "flights").option("group.id", "radar").load()

Two processes of the driver matter: the user's program, and the stream's reader that Spark starts beside it. Reading order: `options`, `planning`, `source` and
`batch_plan` (a batch), `stream_plan`, `stream_reader` (a stream), `kafka_member` (the group), `reader_socket`, `listener` (who says that a batch is done);
`executor` is what runs on the executors. docs/spark.md is for users.
"""

from __future__ import annotations

from spark_integration.batch_commit import commit_batch, committing
from spark_integration.listener import register, settle, stop
from spark_integration.places import batch_place, stream_place
from spark_integration.source import KafkaClassicSource

__all__ = ["KafkaClassicSource", "batch_place", "commit_batch", "committing", "register", "settle", "stop", "stream_place"]
