"""The columns of the source: those of the official connector, in its order and with its types.

`timestampType` is 0 for the time that the producer gave (CreateTime), 1 for that of the append (LogAppendTime).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pyspark.sql.types import ArrayType, BinaryType, DataType, IntegerType, LongType, StringType, StructField, StructType, TimestampType

HEADERS: Final = "headers"
_TYPES: Final[dict[str, DataType]] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    HEADERS: ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())])),
}
COLUMNS: Final = tuple(_TYPES)


def schema_of(columns: Iterable[str], metadata: dict[str, Any] | None = None) -> StructType:
    """The schema of these columns; the first one carries `metadata`."""
    names = list(columns)
    return StructType([StructField(name, _TYPES[name], metadata=metadata if name == names[0] else None) for name in names])
