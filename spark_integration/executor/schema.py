"""The columns of the source, as Arrow sees them: those of Spark's own Kafka connector.

| column | Spark | Arrow | |
|---|---|---|---|
| key, value | binary | binary | null where the record has none |
| topic | string | string | |
| partition | int | int32 | |
| offset | bigint | int64 | |
| timestamp | timestamp | timestamp[us, UTC] | a record without one (format 0) has a millisecond before 1970, as Kafka's -1 reads |
| timestampType | int | int32 | 0 CreateTime, 1 LogAppendTime, -1 none |
| headers | array of (key string, value binary) | list of struct | null where the record has none; only with includeHeaders |

Source: Spark's connector/kafka-0-10-sql/.../KafkaRecordToRowConverter.scala.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

HEADER: Final = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
HEADERS: Final = pa.list_(pa.field("element", HEADER))

TYPES: Final = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestampType": pa.int32(),
    "headers": HEADERS,
}


def arrow_schema(columns: Sequence[str]) -> pa.Schema:
    """The schema of batches with these columns. KeyError for a name that is none."""
    return pa.schema([pa.field(name, TYPES[name]) for name in columns])
