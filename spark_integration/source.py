"""The data source, as Spark sees it: `spark.read`, `readStream`, `write` and `writeStream` with `format("kafka_classic")`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, DataSourceStreamWriter, DataSourceWriter, InputPartition
from pyspark.sql.types import StructType

from spark_integration.batch_plan import METADATA, BatchPlan, plan_batch
from spark_integration.cluster import Cluster
from spark_integration.columns import schema_of
from spark_integration.executor_settings import read_partition, read_settings
from spark_integration.option_table import InvalidOption
from spark_integration.options import Membership, SourceOptions, parse_options
from spark_integration.ranges import RangePartition
from spark_integration.solitude import refuse_company

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "kafka_classic"


class KafkaClassicSource(DataSource):
    """Records of topics, read by group. Options: `spark_integration.option_table.OPTIONS`; docs/spark.md."""

    listened: ClassVar[bool] = False  # whether the driver's program tells of batches that are done: see `register`

    @classmethod
    def name(cls) -> str:
        """As in `format(...)`."""
        return NAME

    def schema(self) -> StructType:
        """The columns; with the plan of a batch in their metadata, for this is asked once, when the source is loaded."""
        options = parse_options(self.options)
        with Cluster(options) as cluster:
            return schema_of(options.columns, {METADATA: plan_batch(cluster).to_json()})

    def reader(self, schema: StructType) -> DataSourceReader:
        """A batch. InvalidOption where it would share its group."""
        options = parse_options(self.options)
        if options.group is not None and options.group.membership is Membership.SHARING:
            raise InvalidOption(
                "option 'membership' is sharing: a batch joins nothing, and so cannot share. Read a stream with trigger(availableNow=True), or leave it out"
            )
        return BatchReader(schema, options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802  # Spark's name
        """A stream: lives as long as the query, in a process of its own beside the driver's JVM."""
        from spark_integration.stream_reader import StreamReader  # noqa: PLC0415  # a batch needs none of it

        return StreamReader(schema, parse_options(self.options), listened=self.listened)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """The sink of a batch: `executor/write_settings.py` has its options."""
        from spark_integration.executor.write import batch_writer  # noqa: PLC0415  # who only reads needs none of it

        return batch_writer(schema, self.options, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: ARG002, N802  # Spark's names
        """The sink of a stream. `overwrite`: output mode complete, which sends all rows of the result each time, as the official connector."""
        from spark_integration.executor.write import stream_writer  # noqa: PLC0415  # who only reads needs none of it

        return stream_writer(schema, self.options)


class ListenedSource(KafkaClassicSource):
    """The same, where `register` has made the driver's program listen to its queries."""

    listened = True


class BatchReader(DataSourceReader):
    """Reads what was planned when the source was loaded."""

    def __init__(self, schema: StructType, options: SourceOptions) -> None:
        self._settings = read_settings(schema, options)  # this, and what is in it, is pickled for the executors before `partitions` is called
        self._options = options
        self._planned = next((each.metadata[METADATA] for each in schema if METADATA in each.metadata), None)

    def partitions(self) -> list[InputPartition]:
        """A task for each range. CannotPlan where a sole owner is not alone."""
        with Cluster(self._options) as cluster:
            refuse_company(cluster)
            plan = BatchPlan.of_json(self._planned) if self._planned is not None else plan_batch(cluster)
        # Spark takes no partitions at all for one of None.
        return [RangePartition(each) for each in plan.ranges(self._options)] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """On an executor: Arrow batches of one range."""
        return read_partition(partition, self._settings)
