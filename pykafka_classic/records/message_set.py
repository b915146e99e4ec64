"""Message sets of magic 0 (0.8, 0.9) and magic 1 (0.10): single messages, and wrappers around compressed ones. `layout.py` has the bytes.

A wrapper is a message whose value is a compressed message set of its own magic. Its offset is that of its last inner message. Inner offsets are

* magic 0: absolute, so that a broker has to decompress and compress again to assign them;
* magic 1: relative, 0 for the first; absolute = wrapper offset - relative offset of the last + own relative offset (KIP-31). After compaction they have gaps.
  Some versions of librdkafka sent wrapper offset 0 in any case; then the relative ones are taken as they are.

The wrapper's timestamp and timestamp type (magic 1) hold for its inner messages where the type is LogAppendTime; a CreateTime wrapper has the largest of
theirs.

Source: facts/storage.md 1.1; 2.8 LegacyRecord.java, AbstractLegacyRecordBatch.java.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import cached_property
from struct import Struct
from typing import Final, NamedTuple

from pykafka_classic.records import compression
from pykafka_classic.records.layout import (
    CODEC_MASK,
    CRC,
    ENTRY_PREFIX,
    LEGACY_ATTRIBUTES_POSITION,
    LEGACY_CRC_POSITION,
    LEGACY_HEADER,
    LEGACY_KEY_POSITION,
    LEGACY_OVERHEAD,
    LEGACY_TIMESTAMP_POSITION,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    SIZE_MIN,
    TIMESTAMP_TYPE_MASK,
    CorruptRecord,
    InvalidRecord,
    TimestampType,
)
from pykafka_classic.records.record import Record

_LENGTH: Final = Struct(">i")
_TIMESTAMP: Final = Struct(">q")
_AFTER_CRC: Final = (Struct(">bb"), Struct(">bbq"))  # by magic: magic, attributes, (timestamp)
_NULL: Final = _LENGTH.pack(-1)


class Message(NamedTuple):
    """One message as it lies there: `offset` as stored, relative or not. `size` with its prefix, in bytes."""

    offset: int
    size: int
    crc: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    crc_is_valid: bool

    @property
    def codec(self) -> int:
        """Its codec; an inner message must not have one."""
        return self.attributes & CODEC_MASK


class LegacyBatch:
    """A message of magic 0 or 1, seen as a batch: of itself, or of what it wraps. `buffer` is exactly its bytes.

    The properties are those of `RecordBatch`; what the old formats have not is -1 or False.
    """

    partition_leader_epoch: Final = NO_PARTITION_LEADER_EPOCH
    producer_id: Final = NO_PRODUCER_ID
    producer_epoch: Final = NO_PRODUCER_EPOCH
    base_sequence: Final = NO_SEQUENCE
    last_sequence: Final = NO_SEQUENCE
    has_producer_id: Final = False
    is_transactional: Final = False
    is_control: Final = False

    def __init__(self, buffer: memoryview) -> None:
        self.buffer = buffer
        self.last_offset: int
        self.crc: int
        self.magic: int
        self.attributes: int
        self.last_offset, length, self.crc, self.magic, self.attributes = LEGACY_HEADER.unpack_from(buffer)
        self.size_in_bytes: int = length + LOG_OVERHEAD
        self.max_timestamp: int = _TIMESTAMP.unpack_from(buffer, LEGACY_TIMESTAMP_POSITION)[0] if self.magic else NO_TIMESTAMP

    @property
    def codec(self) -> int:
        """Id of the compression codec; other than 0 makes this a wrapper."""
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> TimestampType:
        """Whose timestamps these are; none in magic 0."""
        if self.magic == 0:
            return TimestampType.NO_TIMESTAMP_TYPE
        return TimestampType.LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_MASK else TimestampType.CREATE_TIME

    @property
    def base_offset(self) -> int:
        """Offset of the first record; a wrapper has to be decompressed for it."""
        return self.last_offset if self.codec == compression.NONE else self.records()[0].offset

    @property
    def next_offset(self) -> int:
        """The offset after this batch."""
        return self.last_offset + 1

    @property
    def records_count(self) -> int | None:
        """1 for a plain message; None for a wrapper, which does not say."""
        return 1 if self.codec == compression.NONE else None

    def computed_crc(self) -> int:
        """The checksum that the bytes have."""
        return zlib.crc32(self.buffer[MAGIC_POSITION:])

    def is_valid(self) -> bool:
        """True where the checksum fits."""
        return self.computed_crc() == self.crc

    def ensure_valid(self) -> None:
        """Raise CorruptRecord where the checksum does not fit."""
        computed = self.computed_crc()
        if computed != self.crc:
            raise CorruptRecord(f"Record is corrupt (stored crc = {self.crc}, computed crc = {computed}) in the message with offset {self.last_offset}")

    @cached_property
    def message(self) -> Message:
        """The outer message: key and value as stored. Raises InvalidRecord."""
        return read_message(bytes(self.buffer), 0, self.size_in_bytes, crc_is_valid=True)

    def inner_messages(self, max_size: int = compression.DECOMPRESSED_SIZE_MAX) -> list[Message]:
        """What a wrapper wraps, as it lies there; a plain message itself. Raises InvalidRecord, CorruptRecord, or KafkaError (MESSAGE_TOO_LARGE)."""
        outer = self.message
        if self.codec == compression.NONE:
            return [outer]
        if self.codec == compression.ZSTD:
            raise InvalidRecord(f"Invalid wrapper compressionType found in legacy deep record iterator {self.magic}")
        if outer.value is None:
            raise InvalidRecord(f"Found invalid compressed record set with null value (magic = {self.magic})")
        messages = _read_messages(compression.decompress(self.codec, outer.value, max_size=max_size, magic=self.magic))
        if not messages:
            raise InvalidRecord("Found invalid compressed record set with no inner records")
        if any(message.codec for message in messages):
            raise InvalidRecord("Inner messages must not be compressed")
        return messages

    def records(self, max_size: int = compression.DECOMPRESSED_SIZE_MAX) -> list[Record]:
        """The records with absolute offsets and effective timestamps. Raises like `inner_messages`."""
        return self.records_of(self.inner_messages(max_size))

    def records_of(self, messages: list[Message]) -> list[Record]:
        """The records of `inner_messages()`, which are at hand already."""
        base = self._absolute_base(messages)
        append_time = self.max_timestamp if self.timestamp_type == TimestampType.LOG_APPEND_TIME else None
        return [Record(base + message.offset, message.timestamp if append_time is None else append_time, message.key, message.value) for message in messages]

    def _absolute_base(self, messages: list[Message]) -> int:
        if self.magic == 0 or self.codec == compression.NONE or self.last_offset == 0:
            return 0
        base = self.last_offset - messages[-1].offset
        if base < 0:
            raise InvalidRecord(
                f"Found invalid wrapper offset in compressed v1 message set, wrapper offset '{self.last_offset}' is less than the last inner message offset "
                f"'{messages[-1].offset}' and it is not zero."
            )
        return base

    def stamped(self, offset: int, timestamp_type: TimestampType, timestamp: int) -> bytes:
        """These bytes with another offset and, in magic 1, timestamp (ms); what a wrapper holds stays. A changed timestamp makes a new checksum."""
        data = bytearray(self.buffer)
        ENTRY_PREFIX.pack_into(data, 0, offset, self.size_in_bytes - LOG_OVERHEAD)
        if self.magic == 1 and (timestamp, timestamp_type) != (self.max_timestamp, self.timestamp_type):
            data[LEGACY_ATTRIBUTES_POSITION] = self.codec | (TIMESTAMP_TYPE_MASK if timestamp_type == TimestampType.LOG_APPEND_TIME else 0)
            _TIMESTAMP.pack_into(data, LEGACY_TIMESTAMP_POSITION, timestamp)
            CRC.pack_into(data, LEGACY_CRC_POSITION, zlib.crc32(memoryview(data)[MAGIC_POSITION:]))
        return bytes(data)

    def __repr__(self) -> str:
        return f"LegacyBatch(magic={self.magic}, offset={self.last_offset}, size={self.size_in_bytes}, crc={self.crc})"


def read_message(data: bytes, position: int, size: int, *, crc_is_valid: bool | None = None) -> Message:
    """The message of `size` bytes (prefix included) at `position`. Its checksum is computed unless the caller says how it is. Raises InvalidRecord."""
    offset, _, crc, magic, attributes = LEGACY_HEADER.unpack_from(data, position)
    if crc_is_valid is None:
        crc_is_valid = zlib.crc32(memoryview(data)[position + MAGIC_POSITION : position + size]) == crc
    if not 0 <= magic <= 1 or size < LEGACY_OVERHEAD[magic]:
        raise InvalidRecord(f"a message of {size} bytes with magic {magic}")
    timestamp = _TIMESTAMP.unpack_from(data, position + LEGACY_TIMESTAMP_POSITION)[0] if magic else NO_TIMESTAMP
    end = position + size
    key, after_key = _read_field(data, position + LEGACY_KEY_POSITION[magic], end)
    value, after_value = _read_field(data, after_key, end)
    if after_value != end:
        raise InvalidRecord(f"the message with offset {offset} has {end - after_value} bytes behind its value")
    return Message(offset, size, crc, magic, attributes, timestamp, key, value, crc_is_valid)


def _read_field(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    if end - position < _LENGTH.size:
        raise InvalidRecord("a message ends before its key's or value's length")
    (length,) = _LENGTH.unpack_from(data, position)
    position += _LENGTH.size
    if length < 0:
        return None, position
    if length > end - position:
        raise InvalidRecord(f"a key or value of {length} bytes where {end - position} are left")
    return data[position : position + length], position + length


def _read_messages(data: bytes) -> list[Message]:
    """The messages of a decompressed set. Raises CorruptRecord for an impossible size, InvalidRecord for a cut last one."""
    messages, position = [], 0
    while len(data) - position >= LOG_OVERHEAD:
        _, length = ENTRY_PREFIX.unpack_from(data, position)
        if length < SIZE_MIN[0]:
            raise CorruptRecord(f"Record size is less than the minimum record overhead ({SIZE_MIN[0]})")
        size = length + LOG_OVERHEAD
        if size > len(data) - position:
            break
        messages.append(read_message(data, position, size))
        position += size
    if position != len(data):
        raise InvalidRecord(f"{len(data) - position} bytes, no whole message, behind {len(messages)} compressed messages")
    return messages


def build_message(magic: int, record: Record, *, attributes: int = 0) -> bytes:
    """One message of magic 0 or 1; offset and timestamp are the record's. Magic 0 drops the timestamp. Headers are not for these formats: ValueError."""
    if record.headers:
        raise ValueError(f"Magic v{magic} does not support record headers")
    head = _AFTER_CRC[1].pack(magic, attributes, record.timestamp) if magic else _AFTER_CRC[0].pack(magic, attributes)
    covered = b"".join((head, *_field(record.key), *_field(record.value)))
    return b"".join((ENTRY_PREFIX.pack(record.offset, CRC.size + len(covered)), CRC.pack(zlib.crc32(covered)), covered))


def _field(data: bytes | None) -> tuple[bytes, ...]:
    return (_NULL,) if data is None else (_LENGTH.pack(len(data)), data)


def build_message_set(
    magic: int, records: Iterable[Record], *, codec: int = compression.NONE, log_append_time: int | None = None, base_offset: int | None = None
) -> bytes:
    """Messages of magic 0 or 1 with the records' offsets, plain or in one compressed wrapper.

    `log_append_time` (ms, magic 1): the timestamp of every message, which then says LogAppendTime. `base_offset`: what the relative offsets in a magic 1
    wrapper count from; the first record's, unless given. Raises ValueError for records with headers and for zstd, which these formats cannot hold.
    """
    attributes = 0
    if log_append_time is not None and magic:
        attributes = TIMESTAMP_TYPE_MASK
        records = [record._replace(timestamp=log_append_time) for record in records]
    records = list(records)
    if codec == compression.NONE:
        return b"".join([build_message(magic, record, attributes=attributes) for record in records])
    if codec == compression.ZSTD:
        raise ValueError(f"ZStandard compression is not supported for magic {magic}")
    if not records:
        return b""
    start = 0 if magic == 0 else records[0].offset if base_offset is None else base_offset
    inner = b"".join([build_message(magic, record._replace(offset=record.offset - start), attributes=attributes) for record in records])
    wrapper = Record(records[-1].offset, max(record.timestamp for record in records), None, compression.compress(codec, inner, magic=magic))
    return build_message(magic, wrapper, attributes=attributes | codec)
