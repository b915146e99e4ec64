"""One batch through compaction: as it was, with fewer records, as an empty header, or gone.

A batch of magic 2 that loses records keeps base offset, last offset and producer fields: offsets and sequence numbers go on to make sense. Where nothing is
left it may stay as a header without records, so that a producer's last sequence number survives. Old formats have no such fields: what is left of a wrapper
becomes a new wrapper.

Source: facts/storage.md 11; MemoryRecords.java (filterTo), DefaultRecordBatch.java (writeEmptyHeader).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from pykafka_classic.common.crc32c import crc32c
from pykafka_classic.records.compression import NONE, compress
from pykafka_classic.records.layout import (
    BATCH_HEADER_FROM_ATTRIBUTES,
    BATCH_HEADER_TO_MAGIC,
    CRC,
    LOG_OVERHEAD,
    NO_TIMESTAMP,
    RECORDS_POSITION,
    TimestampType,
)
from pykafka_classic.records.message_set import LegacyBatch, build_message_set
from pykafka_classic.records.record import Record, encode_record
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch


def with_records(batch: AnyBatch, records: Sequence[Record]) -> bytes:
    """The batch with only these of its records, at least one."""
    if isinstance(batch, LegacyBatch):
        append_time = batch.max_timestamp if batch.timestamp_type == TimestampType.LOG_APPEND_TIME else None
        return build_message_set(batch.magic, records, codec=batch.codec, log_append_time=append_time)
    base_timestamp = records[0].timestamp
    encoded = [encode_record(record.offset - batch.base_offset, record.timestamp - base_timestamp, record) for record in records]
    payload = b"".join(chain.from_iterable(encoded))
    if batch.codec != NONE:
        payload = compress(batch.codec, payload)
    max_timestamp = batch.max_timestamp if batch.timestamp_type == TimestampType.LOG_APPEND_TIME else max(record.timestamp for record in records)
    return _assemble(batch, payload, len(records), (base_timestamp, max_timestamp))


def without_records(batch: RecordBatch) -> bytes:
    """Only the header: no codec, no records, the largest timestamp kept."""
    return _assemble(batch, b"", 0, (NO_TIMESTAMP, batch.max_timestamp))


def _assemble(batch: RecordBatch, payload: bytes, count: int, timestamps: tuple[int, int]) -> bytes:
    attributes = batch.attributes if count else batch.attributes & ~batch.codec
    covered = BATCH_HEADER_FROM_ATTRIBUTES.pack(
        attributes, batch.last_offset_delta, *timestamps, batch.producer_id, batch.producer_epoch, batch.base_sequence, count
    )
    head = BATCH_HEADER_TO_MAGIC.pack(batch.base_offset, RECORDS_POSITION - LOG_OVERHEAD + len(payload), batch.partition_leader_epoch, 2)
    return b"".join((head, CRC.pack(crc32c(payload, crc32c(covered))), covered, payload))
