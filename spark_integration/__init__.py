"""PySpark reads topics by group, and commits when the sink is done.

    from spark_integration import register
    register(spark)
    flights = spark.readStream.format("kafka_classic").option("bootstrap.servers", ...).option("subscribe", "flights").option("group.id", "radar").load()

Reading order: `options`, `planning`, `source`.
"""

from spark_integration.source import KafkaClassicSource

__all__ = ["KafkaClassicSource"]
