"""Record batches as they lie in a buffer: views, nothing copied, nothing decoded before it is asked for.

`iterate_batches(buffer)` gives one view for each entry, a `RecordBatch` (magic 2) or a `LegacyBatch` (magic 0 and 1, `message_set.py`), with the same
properties where both have them. `layout.py` has the bytes.

Source: facts/storage.md 1; 2.8 DefaultRecordBatch.java, ByteBufferLogInputStream.java.
"""

from __future__ import annotations

from collections.abc import Iterator

from pykafka_classic.common.crc32c import crc32c
from pykafka_classic.records import compression
from pykafka_classic.records.batch_builder import BatchBuilder, BatchFields, build_batch
from pykafka_classic.records.control import ControlType, EndTransactionMarker, build_end_transaction_marker, read_end_transaction_marker
from pykafka_classic.records.layout import (
    ATTRIBUTES_POSITION,
    BASE_OFFSET_POSITION,
    BATCH_HEADER,
    BATCH_HEADER_FROM_ATTRIBUTES,
    BATCH_HEADER_TO_MAGIC,
    CODEC_MASK,
    CONTROL_MASK,
    CRC,
    LENGTH_POSITION,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    PARTITION_LEADER_EPOCH_POSITION,
    RECORDS_POSITION,
    SIZE_MIN,
    TIMESTAMP_TYPE_MASK,
    TRANSACTIONAL_MASK,
    CorruptRecord,
    InvalidRecord,
    TimestampType,
    add_to_sequence,
)
from pykafka_classic.records.message_set import LegacyBatch
from pykafka_classic.records.record import Header, Record, read_records

__all__ = [
    "BatchBuilder",
    "BatchFields",
    "ControlType",
    "CorruptRecord",
    "EndTransactionMarker",
    "Header",
    "InvalidRecord",
    "LegacyBatch",
    "Record",
    "RecordBatch",
    "TimestampType",
    "build_batch",
    "build_end_transaction_marker",
    "iterate_batches",
    "read_end_transaction_marker",
    "stamp_base_offset",
    "stamp_partition_leader_epoch",
]


class RecordBatch:
    """A magic 2 batch: its header as read, its bytes as a view (`buffer`, exactly this batch).

    Making one is one struct unpack. Nothing is checked but the length: `ensure_valid` compares the checksum.
    """

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "buffer",
        "crc",
        "last_offset_delta",
        "magic",
        "max_timestamp",
        "partition_leader_epoch",
        "producer_epoch",
        "producer_id",
        "records_count",
        "size_in_bytes",
    )

    base_offset: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int  # ms
    max_timestamp: int  # ms
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    def __init__(self, buffer: memoryview) -> None:
        self.buffer = buffer
        (
            self.base_offset,
            length,
            self.partition_leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.records_count,
        ) = BATCH_HEADER.unpack_from(buffer)
        self.size_in_bytes: int = length + LOG_OVERHEAD

    @property
    def codec(self) -> int:
        """Id of the compression codec (`compression.CompressionType`)."""
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether timestamps are the producer's or the leader's."""
        return TimestampType.LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_MASK else TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        """Part of a transaction (its marker too)."""
        return self.attributes & TRANSACTIONAL_MASK != 0

    @property
    def is_control(self) -> bool:
        """Holds a marker, no data."""
        return self.attributes & CONTROL_MASK != 0

    @property
    def has_producer_id(self) -> bool:
        """Sent by an idempotent or transactional producer."""
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_offset(self) -> int:
        """Offset of the last record (even if compaction removed it)."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The offset after this batch."""
        return self.last_offset + 1

    @property
    def last_sequence(self) -> int:
        """Sequence number of the last record, -1 without."""
        return NO_SEQUENCE if self.base_sequence < 0 else add_to_sequence(self.base_sequence, self.last_offset_delta)

    def computed_crc(self) -> int:
        """The checksum that the bytes have."""
        return crc32c(self.buffer[ATTRIBUTES_POSITION:])

    def is_valid(self) -> bool:
        """True where the checksum fits."""
        return crc32c(self.buffer[ATTRIBUTES_POSITION:]) == self.crc

    def ensure_valid(self) -> None:
        """Raise CorruptRecord where the checksum does not fit."""
        computed = self.computed_crc()
        if computed != self.crc:
            raise CorruptRecord(f"Record is corrupt (stored crc = {self.crc}, computed crc = {computed}) in the batch with base offset {self.base_offset}")

    def payload(self, max_size: int = compression.DECOMPRESSED_SIZE_MAX) -> bytes:
        """The records' bytes, decompressed. Raises CorruptRecord, or KafkaError (MESSAGE_TOO_LARGE) where they are more than `max_size`."""
        compressed = self.buffer[RECORDS_POSITION:]
        return bytes(compressed) if self.codec == compression.NONE else compression.decompress(self.codec, compressed, max_size=max_size)

    def records(self, max_size: int = compression.DECOMPRESSED_SIZE_MAX) -> list[Record]:
        """The records, decoded, with absolute offsets and effective timestamps. Raises like `payload`."""
        append_time = self.max_timestamp if self.attributes & TIMESTAMP_TYPE_MASK else None
        return read_records(self.payload(max_size), self.records_count, self.base_offset, self.base_timestamp, append_time)

    def stamped_header(self, base_offset: int, leader_epoch: int, timestamp_type: TimestampType, max_timestamp: int) -> bytes:
        """The 61 bytes that, before the records as they are, make this batch one of the log. The checksum changes only where a timestamp does."""
        attributes, crc = self.attributes, self.crc
        append_time = TIMESTAMP_TYPE_MASK if timestamp_type is TimestampType.LOG_APPEND_TIME else 0
        changed = max_timestamp != self.max_timestamp or attributes & TIMESTAMP_TYPE_MASK != append_time
        if changed:
            attributes = attributes & (CODEC_MASK | TRANSACTIONAL_MASK | CONTROL_MASK) | append_time
        producer = self.producer_id, self.producer_epoch, self.base_sequence, self.records_count
        covered = BATCH_HEADER_FROM_ATTRIBUTES.pack(attributes, self.last_offset_delta, self.base_timestamp, max_timestamp, *producer)
        if changed:
            crc = crc32c(self.buffer[RECORDS_POSITION:], crc32c(covered))
        return BATCH_HEADER_TO_MAGIC.pack(base_offset, self.size_in_bytes - LOG_OVERHEAD, leader_epoch, self.magic) + CRC.pack(crc) + covered

    def __repr__(self) -> str:
        return f"RecordBatch(magic={self.magic}, offsets=[{self.base_offset}, {self.last_offset}], size={self.size_in_bytes}, crc={self.crc})"


AnyBatch = RecordBatch | LegacyBatch


def iterate_batches(buffer: bytes | bytearray | memoryview) -> Iterator[AnyBatch]:
    """The entries of a buffer, one by one. A cut last entry ends it silently (legal in a fetch). Raises CorruptRecord for an impossible magic or size."""
    view = memoryview(buffer)
    position, end = 0, len(view)
    while end - position > MAGIC_POSITION:
        size = entry_size(view, position)
        if size > end - position:
            return
        entry = view[position : position + size]
        yield RecordBatch(entry) if entry[MAGIC_POSITION] == 2 else LegacyBatch(entry)
        position += size


def entry_size(buffer: memoryview, position: int) -> int:
    """Bytes of the entry at `position`, of which 17 must be there. Raises CorruptRecord."""
    magic = buffer[position + MAGIC_POSITION]
    size = int.from_bytes(buffer[position + LENGTH_POSITION : position + LOG_OVERHEAD], "big", signed=True)
    if magic > 2:
        raise CorruptRecord(f"Invalid magic found in record: {magic}, at position {position}")
    if size < SIZE_MIN[magic]:
        raise CorruptRecord(f"Record size {size} at position {position} is less than the minimum record overhead ({SIZE_MIN[magic]})")
    return size + LOG_OVERHEAD


def stamp_base_offset(buffer: bytearray | memoryview, base_offset: int) -> None:
    """Write the base offset of the magic 2 batch that begins `buffer`. The checksum does not cover it."""
    buffer[BASE_OFFSET_POSITION:LENGTH_POSITION] = base_offset.to_bytes(8, "big", signed=True)


def stamp_partition_leader_epoch(buffer: bytearray | memoryview, leader_epoch: int) -> None:
    """Write the leader epoch of the magic 2 batch that begins `buffer`. The checksum does not cover it."""
    buffer[PARTITION_LEADER_EPOCH_POSITION:MAGIC_POSITION] = leader_epoch.to_bytes(4, "big", signed=True)
