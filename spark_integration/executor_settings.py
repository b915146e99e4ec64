"""From the options to what executors get, and what they do with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from spark_integration.columns import COLUMNS, HEADERS, schema_of
from spark_integration.option_table import InvalidOption
from spark_integration.options import SourceOptions
from spark_integration.ranges import ReadSettings
from spark_integration.zookeeper_store import find_brokers

if TYPE_CHECKING:
    import pyarrow as pa


def read_settings(schema: StructType, options: SourceOptions) -> ReadSettings:
    """What the executors need. InvalidOption where the user's own schema asks for something that there is not."""
    full = {each.name: each for each in schema_of(COLUMNS)}
    for each in schema:
        if each.name not in full or full[each.name].dataType != each.dataType:
            raise InvalidOption(f"the schema has {each.name} {each.dataType.simpleString()}, which this source has not; the option 'columns' chooses columns")
    columns = tuple(schema.fieldNames())
    return ReadSettings(
        bootstrap_servers=options.bootstrap_servers or find_brokers(options.zookeeper_connect),
        isolation=options.isolation,
        include_headers=HEADERS in columns,
        fail_on_data_loss=options.fail_on_data_loss,
        fetch_max_bytes=options.fetch_max_bytes,
        request_timeout_ms=options.request_timeout_ms,
        columns=columns,
    )


def read_partition(partition: InputPartition, settings: ReadSettings) -> Iterator[pa.RecordBatch]:
    """Arrow batches of a task's range; none where there is nothing to read."""
    from spark_integration.executor.read import read_range  # noqa: PLC0415  # executors alone need it, and it brings pyarrow

    if partition.value is None:
        return iter(())
    return read_range(partition.value, settings)
