"""Writing magic 2 batches: records in, one batch out.

`build_batch(records)` for a list at hand; `BatchBuilder` where records come one by one and the size decides when to stop (a producer, a coordinator).

Source: 2.8 MemoryRecordsBuilder.java.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from pykafka_classic.common.crc32c import crc32c
from pykafka_classic.records.compression import NONE, compress
from pykafka_classic.records.layout import (
    BATCH_HEADER_FROM_ATTRIBUTES,
    BATCH_HEADER_TO_MAGIC,
    CONTROL_MASK,
    CRC,
    LOG_OVERHEAD,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    RECORDS_POSITION,
    TIMESTAMP_TYPE_MASK,
    TRANSACTIONAL_MASK,
)
from pykafka_classic.records.record import Record, encode_record, record_size

_LENGTH_OVER_RECORDS: Final = RECORDS_POSITION - LOG_OVERHEAD


@dataclass(frozen=True, slots=True)
class BatchFields:
    """What a batch header says besides its records."""

    base_offset: int | None = None  # None: the first record's
    codec: int = NONE
    log_append_time: int | None = None  # ms; None: CreateTime
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    is_transactional: bool = False
    is_control: bool = False
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH

    @property
    def attributes(self) -> int:
        """The int16 of the header."""
        append_time = 0 if self.log_append_time is None else TIMESTAMP_TYPE_MASK
        return self.codec | append_time | (TRANSACTIONAL_MASK if self.is_transactional else 0) | (CONTROL_MASK if self.is_control else 0)


class BatchBuilder:
    """Collects records, whose offsets must rise, for one batch."""

    def __init__(self, fields: BatchFields | None = None) -> None:
        self._fields = fields or BatchFields()
        self._parts: list[bytes] = []
        self._base_offset = self._fields.base_offset
        self._base_timestamp = NO_TIMESTAMP
        self._max_timestamp = NO_TIMESTAMP
        self._last_offset = -1
        self.records_count = 0
        self.uncompressed_size = RECORDS_POSITION  # bytes of the batch so far, before compression

    @property
    def max_timestamp(self) -> int:
        """Largest timestamp so far in ms, -1 without."""
        return self._max_timestamp

    def size_with(self, record: Record) -> int:
        """What `uncompressed_size` would be after `append(record)`."""
        base_offset = record.offset if self._base_offset is None else self._base_offset
        base_timestamp = self._base_timestamp if self._parts else record.timestamp
        return self.uncompressed_size + record_size(record.offset - base_offset, record.timestamp - base_timestamp, record)

    def append(self, record: Record) -> None:
        """Add a record; its offset must be greater than the last one's (and not below the base offset)."""
        if self._base_offset is None:
            self._base_offset = record.offset
        if not self._parts:
            self._base_timestamp = record.timestamp
            self._last_offset = self._base_offset - 1
        if record.offset <= self._last_offset:
            raise ValueError(f"offset {record.offset} after {self._last_offset}")
        parts = encode_record(record.offset - self._base_offset, record.timestamp - self._base_timestamp, record)
        self._parts += parts
        self.records_count += 1
        self.uncompressed_size += sum(map(len, parts))
        self._last_offset = record.offset
        self._max_timestamp = max(self._max_timestamp, record.timestamp)

    def build(self, **changes: Any) -> bytes:
        """The batch. `changes` to its fields: a producer's sequence, say, which is known only when the batch is sent."""
        fields = replace(self._fields, **changes) if changes else self._fields
        assert self._base_offset is not None, "a batch needs a record or a base offset"
        payload = b"".join(self._parts)
        if fields.codec != NONE:
            payload = compress(fields.codec, payload)
        append_time = fields.log_append_time
        return frame_batch(
            replace(fields, base_offset=self._base_offset),
            payload,
            records_count=self.records_count,
            last_offset_delta=max(self._last_offset - self._base_offset, 0),
            timestamps=(self._base_timestamp, self._max_timestamp if append_time is None else append_time),
        )


def frame_batch(fields: BatchFields, payload: bytes, *, records_count: int, last_offset_delta: int, timestamps: tuple[int, int]) -> bytes:
    """The batch around records that are encoded, and compressed as `fields` says. `timestamps`: base and largest, in ms."""
    covered = BATCH_HEADER_FROM_ATTRIBUTES.pack(
        fields.attributes, last_offset_delta, *timestamps, fields.producer_id, fields.producer_epoch, fields.base_sequence, records_count
    )
    head = BATCH_HEADER_TO_MAGIC.pack(fields.base_offset or 0, _LENGTH_OVER_RECORDS + len(payload), fields.partition_leader_epoch, 2)
    return b"".join((head, CRC.pack(crc32c(payload, crc32c(covered))), covered, payload))


def build_batch(records: Iterable[Record], fields: BatchFields | None = None, **changes: Any) -> bytes:
    """One magic 2 batch of these records, their offsets kept. `changes`: fields of `BatchFields`, by name."""
    builder = BatchBuilder(replace(fields or BatchFields(), **changes))
    for record in records:
        builder.append(record)
    return builder.build()
