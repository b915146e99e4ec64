"""Where each byte of a record batch or message stands, and the two ways in which such bytes can be bad.

Everything in a log, in a Produce request and in a Fetch answer is a sequence of entries `offset i64, size i32, body[size]`. In every format the magic byte,
which tells the format, stands at position 16 of its entry. Integers are big-endian.

Magic 2, a record batch (`BATCH_HEADER` and the positions below):

```
 0 base_offset i64             17 crc u32, CRC-32C of 21..end     43 producer_id i64      (-1 none)
 8 batch_length i32            21 attributes i16                  51 producer_epoch i16   (-1 none)
12 partition_leader_epoch i32  23 last_offset_delta i32           53 base_sequence i32    (-1 none)
16 magic i8 = 2                27 base_timestamp i64              57 records_count i32
                               35 max_timestamp i64               61 records, as a whole compressed or not
```

Base offset and leader epoch lie before the checksum's range: a leader stamps them without touching the checksum.

Magic 0 and 1, a message; in a compressed wrapper the value is a compressed sequence of messages:

```
 0 offset i64 | 8 size i32 | 12 crc u32, CRC-32 of 16..end | 16 magic i8 | 17 attributes i8 | magic 1: 18 timestamp i64 | key (i32 length, bytes) | value (the
 same)
```

Attributes: bits 0-2 codec; 3 timestamp type; magic 2 also 4 transactional, 5 control.

Source: facts/storage.md 1; 2.8 DefaultRecordBatch.java, LegacyRecord.java.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final

from pykafka_classic.common.errors import ErrorCode, KafkaError

BASE_OFFSET_POSITION: Final = 0
LENGTH_POSITION: Final = 8
LOG_OVERHEAD: Final = 12  # bytes that the length does not count
PARTITION_LEADER_EPOCH_POSITION: Final = 12
MAGIC_POSITION: Final = 16
CRC_POSITION: Final = 17
ATTRIBUTES_POSITION: Final = 21  # here the checksum begins
LAST_OFFSET_DELTA_POSITION: Final = 23
BASE_TIMESTAMP_POSITION: Final = 27
MAX_TIMESTAMP_POSITION: Final = 35
PRODUCER_ID_POSITION: Final = 43
PRODUCER_EPOCH_POSITION: Final = 51
BASE_SEQUENCE_POSITION: Final = 53
RECORDS_COUNT_POSITION: Final = 57
RECORDS_POSITION: Final = 61

BATCH_HEADER: Final = Struct(">qiibIhiqqqhii")
BATCH_HEADER_TO_MAGIC: Final = Struct(">qiib")  # what comes before the crc
BATCH_HEADER_FROM_ATTRIBUTES: Final = Struct(">hiqqqhii")  # what the crc covers
CRC: Final = Struct(">I")
assert BATCH_HEADER.size == RECORDS_POSITION
assert BATCH_HEADER_TO_MAGIC.size == CRC_POSITION
assert BATCH_HEADER_FROM_ATTRIBUTES.size == RECORDS_POSITION - ATTRIBUTES_POSITION

ENTRY_PREFIX: Final = Struct(">qi")  # offset, size
LEGACY_HEADER: Final = Struct(">qiIbb")  # magic 0; magic 1 has a timestamp behind
LEGACY_CRC_POSITION: Final = 12
LEGACY_ATTRIBUTES_POSITION: Final = 17
LEGACY_TIMESTAMP_POSITION: Final = 18
LEGACY_KEY_POSITION: Final = (18, 26)  # by magic: where the key's length stands
LEGACY_OVERHEAD: Final = (26, 34)  # by magic: bytes of a message with null key and null value, prefix included
assert LEGACY_HEADER.size == LEGACY_TIMESTAMP_POSITION

SIZE_MIN: Final = (14, 22, 49)  # by magic: smallest value of the size field
RECORD_SIZE_MIN: Final = 7  # a magic 2 record: length, attributes, two deltas, key length, value length and header count, a byte each

CODEC_MASK: Final = 0x07
TIMESTAMP_TYPE_MASK: Final = 0x08
TRANSACTIONAL_MASK: Final = 0x10
CONTROL_MASK: Final = 0x20

NO_OFFSET: Final = -1
NO_TIMESTAMP: Final = -1  # ms
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_PARTITION_LEADER_EPOCH: Final = -1

SEQUENCE_MAX: Final = 0x7FFFFFFF  # after it comes 0


class TimestampType(IntEnum):
    """What a record's timestamp means. Magic 0 has none."""

    NO_TIMESTAMP_TYPE = -1
    CREATE_TIME = 0  # the producer's
    LOG_APPEND_TIME = 1  # the leader's, when it wrote the batch


class CorruptRecord(KafkaError):
    """Bytes that no batch or message can have, or a wrong checksum. The text says what and where."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.CORRUPT_MESSAGE) -> None:
        super().__init__(code, message)


class InvalidRecord(CorruptRecord):
    """A batch whose bytes arrived as they were sent, but whose records break the format's rules (INVALID_RECORD on the wire)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ErrorCode.INVALID_RECORD)


def add_to_sequence(sequence: int, increment: int) -> int:
    """The sequence number `increment` later; after 2147483647 comes 0."""
    return (sequence + increment) & SEQUENCE_MAX
