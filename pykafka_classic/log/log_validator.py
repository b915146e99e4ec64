"""A leader's last look at records before they go into its log: what is wrong with them, and which offsets, times and epoch do they get.

Three ways, from the usual to the rare:

* **in place, magic 2**: format and codec are those of the topic. A new 61-byte header is made; the records behind it are written as they came, neither copied
  nor decoded. Base offset and leader epoch lie outside the checksum. Only a new timestamp type or largest timestamp makes a new checksum necessary.
* **in place, magic 0 or 1**: the same for old producers on a topic of their format, message by message. Magic 0 wrappers hold absolute offsets and cannot stay.
* **built anew**: the topic wants another format or codec, or the inner offsets of a magic 1 wrapper are not 0, 1, 2, ... (some old clients'). Decode all, write
  all.

How much of a magic 2 batch is looked at. The header always: count and offset range must agree, no markers from clients, a sequence number with every producer
id. Records are only walked where the topic's own rules are about records: a compacted topic (every record needs a key), a limit on timestamps, a conversion.
Otherwise the first 16 records, of a compressed batch those in the first 32 KiB, are checked: structure, offsets 0, 1, 2, ..., timestamps. So the work
is bounded per batch, and a client that builds its batches wrongly is told at once.

Differs from Kafka:

* Kafka walks all records of every batch (and decompresses all of it). Beyond the first 16 records ours believes the producer's checksum: a largest timestamp
  that is wrong is corrected only in batches seen whole, and its offset is the batch's last one otherwise (as Kafka has it for compressed batches).
* Offsets of records other than 0, 1, 2, ... are refused with INVALID_RECORD. Kafka stores them in plain batches and fails with UNKNOWN_SERVER_ERROR in
  compressed ones.
* What an old message.format.version cannot hold is refused with UNSUPPORTED_FOR_MESSAGE_FORMAT (headers, transactions) or UNSUPPORTED_COMPRESSION_TYPE (zstd),
  where Kafka answers UNKNOWN_SERVER_ERROR for some of it.
* Compressed records that do not decompress are refused with INVALID_RECORD, where Kafka answers UNKNOWN_SERVER_ERROR.

Source: facts/storage.md 8, 16, facts/observed.md "Validation on append"; 2.8 LogValidator.scala.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeGuard

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.log_config import LONG_MAX
from pykafka_classic.log.append_checks import AppendContext, AppendRules, analyze_records, check_size
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.record_errors import Looked, RecordError, RecordValidationError, check_records, look_into
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.compression import NONE, ZSTD, decompress_start
from pykafka_classic.records.layout import (
    CODEC_MASK,
    CONTROL_MASK,
    NO_OFFSET,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    RECORDS_POSITION,
    TIMESTAMP_TYPE_MASK,
    InvalidRecord,
    TimestampType,
)
from pykafka_classic.records.message_set import LegacyBatch, build_message_set
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch, iterate_batches
from pykafka_classic.records.record_scan import RecordScan, scan_records

__all__ = ["RecordError", "RecordValidationError", "ValidatedRecords", "validate_and_assign", "validate_append"]

LOOKED_AT_RECORDS: Final = 16  # records of a batch that are checked one by one even where the topic's rules are not about records
LOOKED_AT_BYTES: Final = 32 * 1024  # so much of a compressed batch is unpacked for that


class ValidatedRecords(NamedTuple):
    """What to write, and what to tell about it. Times in ms, -1 for none."""

    parts: list[bytes | memoryview]  # to be written one behind the other
    first_offset: int
    last_offset: int
    max_timestamp: int
    offset_of_max_timestamp: int
    log_append_time: int  # -1 with CreateTime
    message_size_changed: bool = False  # built anew
    converted_count: int = 0  # records that were written again

    @property
    def size(self) -> int:
        """Bytes to write."""
        return sum(map(len, self.parts))


def validate_append(records: bytes | memoryview, rules: AppendRules, context: AppendContext) -> ValidatedRecords | None:
    """All that a log does with records before it writes them: `analyze_records`, `validate_and_assign`, the size once more. None: no whole batch in `records`.

    Raises CorruptRecord, InvalidRecord, RecordValidationError or another KafkaError, with the code that a Produce answer carries.
    """
    batches = analyze_records(records, rules, context.origin)
    if not batches:
        return None
    validated = validate_and_assign(batches, rules, context)
    if validated.message_size_changed:
        for batch in iterate_batches(validated.parts[0]):
            check_size(batch.size_in_bytes, rules)
    return validated


def validate_and_assign(batches: Sequence[AnyBatch], rules: AppendRules, context: AppendContext) -> ValidatedRecords:
    """Check batches whose checksums are known to be right, and give them offsets, epoch and, where the topic says so, times. Raises like `validate_append`."""
    first = batches[0]
    if len(batches) == 1 and isinstance(first, RecordBatch) and rules.keep(first.attributes):  # what nearly all appends are
        _check_batch(first, first, rules, context.origin)
        return _assign_in_place(first, rules, context)
    source_codec = next((batch.codec for batch in reversed(batches) if batch.codec != NONE), NONE)
    target_codec = source_codec if rules.target_codec is None else rules.target_codec
    if target_codec == ZSTD and not rules.zstd_allowed:
        message = "Produce requests to inter.broker.protocol.version < 2.1 broker are not allowed to use ZStandard compression"
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, message)
    if len(batches) > 1 and (first.magic == 2 or source_codec != NONE):
        raise InvalidRecord("Compressed outer record has more than one batch")
    for batch in batches:
        _check_batch(batch, first, rules, context.origin)
    stays = (first.magic == rules.target_magic and source_codec == target_codec) or (first.is_control and source_codec == NONE)
    if stays and isinstance(first, RecordBatch):
        return _assign_in_place(first, rules, context)
    looked = [_look_into_all(batch, rules, context) for batch in batches]
    if stays and source_codec == NONE and _are_legacy(batches):
        return _assign_messages(batches, rules, context)
    if stays and rules.target_magic == 1 and isinstance(first, LegacyBatch) and _is_consecutive(looked[0]):
        return _assign_wrapper(first, looked[0].records, rules, context)
    return _build_anew([record for one in looked for record in one.records], first, target_codec, rules, context)


def _are_legacy(batches: Sequence[AnyBatch]) -> TypeGuard[Sequence[LegacyBatch]]:
    return isinstance(batches[0], LegacyBatch)  # all have the first one's magic


def _check_batch(batch: AnyBatch, first: AnyBatch, rules: AppendRules, origin: AppendOrigin) -> None:
    """What a batch header must not say."""
    if batch.magic != first.magic:
        raise InvalidRecord(
            f"Batch magic {batch.magic} is not the same as the first batch'es magic byte {first.magic} in topic partition {rules.topic_partition}."
        )
    if origin is AppendOrigin.CLIENT and isinstance(batch, RecordBatch):
        wrong = _what_is_wrong(batch)
        if wrong:
            raise InvalidRecord(f"{wrong} in topic partition {rules.topic_partition}.")
    if rules.target_magic < 2:
        if batch.is_transactional:
            raise _unsupported(f"Transactional records cannot be used with magic version {rules.target_magic}")
        if batch.has_producer_id:
            raise _unsupported(f"Idempotent records cannot be used with magic version {rules.target_magic}")


def _what_is_wrong(batch: RecordBatch) -> str:
    """With a batch that a client sent; empty where nothing is."""
    count = batch.records_count
    if batch.last_offset_delta < 0:
        return f"Batch has an invalid offset range: [{batch.base_offset}, {batch.last_offset}]"
    if count <= 0:
        return f"Invalid reported count for record batch: {count}"
    if count != batch.last_offset_delta + 1:
        return f"Inconsistent batch offset range [{batch.base_offset}, {batch.last_offset}] and count of records {count}"
    if batch.attributes & CONTROL_MASK:
        return "Clients are not allowed to write control records"
    if batch.producer_id > NO_PRODUCER_ID and batch.base_sequence < 0:
        return f"Invalid sequence number {batch.base_sequence} in record batch with producerId {batch.producer_id}"
    return ""


def _unsupported(message: str) -> KafkaError:
    return KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, message)


def _assign_in_place(batch: RecordBatch, rules: AppendRules, context: AppendContext) -> ValidatedRecords:
    """Magic 2, format and codec as the topic wants them: a new header before the records as they came."""
    max_timestamp, last_offset = batch.max_timestamp, context.first_offset + batch.last_offset_delta
    offset_of_max = last_offset
    if context.origin is AppendOrigin.CLIENT:
        scan = _scan(batch, rules, context.now_ms)
        seen = max(NO_TIMESTAMP, batch.base_timestamp + scan.largest_timestamp_delta)
        if scan.looked_at < batch.records_count:
            max_timestamp = max(max_timestamp, seen)
        else:
            max_timestamp = seen
            if not batch.attributes & CODEC_MASK:
                offset_of_max = context.first_offset + scan.index_of_largest if seen > NO_TIMESTAMP else NO_OFFSET
    time_type = TimestampType.CREATE_TIME
    if rules.log_append_time:
        time_type, max_timestamp, offset_of_max = TimestampType.LOG_APPEND_TIME, context.now_ms, last_offset
    header = batch.stamped_header(context.first_offset, context.leader_epoch, time_type, max_timestamp)
    append_time = context.now_ms if rules.log_append_time else NO_TIMESTAMP
    return ValidatedRecords([header, batch.buffer[RECORDS_POSITION:]], context.first_offset, last_offset, max_timestamp, offset_of_max, append_time)


def _scan(batch: RecordBatch, rules: AppendRules, now_ms: int) -> RecordScan:
    """Look at as many records as the rules ask for (module docstring)."""
    if batch.attributes & TIMESTAMP_TYPE_MASK:
        check_records(look_into(batch, rules), rules, now_ms)  # refuses them all
    if not rules.about_records:
        compressed = batch.buffer[RECORDS_POSITION:]
        if not batch.attributes & CODEC_MASK:
            plain = bytes(compressed) if len(compressed) <= LOOKED_AT_BYTES else compressed  # bytes are read faster than a view
            return scan_records(plain, batch.records_count, first=LOOKED_AT_RECORDS, complete=True)
        data, complete = decompress_start(batch.codec, compressed, size=LOOKED_AT_BYTES)
        return scan_records(data, batch.records_count, first=LOOKED_AT_RECORDS, complete=complete)
    limit = LONG_MAX if rules.log_append_time else rules.timestamp_difference_max_ms
    scan = scan_records(batch.payload(), batch.records_count, first=batch.records_count, complete=True)
    earliest, latest = batch.base_timestamp + scan.least_timestamp_delta, batch.base_timestamp + scan.largest_timestamp_delta
    if (rules.compacted and scan.null_keys) or now_ms - earliest > limit or latest - now_ms > limit:
        check_records(look_into(batch, rules), rules, now_ms)
    return scan


def _look_into_all(batch: AnyBatch, rules: AppendRules, context: AppendContext) -> Looked:
    """Decode a batch that will be written anew, or is of an old format, and check each record."""
    looked = look_into(batch, rules)
    if isinstance(batch, RecordBatch) and context.origin is AppendOrigin.CLIENT:
        for index, record in enumerate(looked.records):
            if record.offset != batch.base_offset + index:
                raise InvalidRecord(f"record {index} has offset delta {record.offset - batch.base_offset}")
    check_records(looked, rules, context.now_ms)
    return looked


def _assign_messages(batches: Sequence[LegacyBatch], rules: AppendRules, context: AppendContext) -> ValidatedRecords:
    """Magic 0 or 1, not compressed, and so it stays."""
    time_type = TimestampType.LOG_APPEND_TIME if rules.log_append_time else TimestampType.CREATE_TIME
    parts, offset, max_timestamp, offset_of_max = [], context.first_offset, NO_TIMESTAMP, NO_OFFSET
    for batch in batches:
        timestamp = context.now_ms if rules.log_append_time else batch.max_timestamp
        if timestamp > max_timestamp and (batch.magic or rules.log_append_time):
            max_timestamp, offset_of_max = timestamp, offset
        parts.append(batch.stamped(offset, time_type, timestamp))
        offset += 1
    append_time = context.now_ms if rules.log_append_time else NO_TIMESTAMP
    return ValidatedRecords([b"".join(parts)], context.first_offset, offset - 1, max_timestamp, offset_of_max, append_time)


def _is_consecutive(looked: Looked) -> bool:
    """Are a magic 1 wrapper's relative offsets 0, 1, 2, ...? Some old clients' were not; Kafka has always put them right."""
    return all(record.offset == index for index, record in enumerate(looked.records))


def _assign_wrapper(batch: LegacyBatch, records: list[Record], rules: AppendRules, context: AppendContext) -> ValidatedRecords:
    """A magic 1 wrapper that stays: its offset is the last one's, its timestamp the largest one's."""
    last_offset = context.first_offset + len(records) - 1
    if rules.log_append_time:
        part = batch.stamped(last_offset, TimestampType.LOG_APPEND_TIME, context.now_ms)
        return ValidatedRecords([part], context.first_offset, last_offset, context.now_ms, last_offset, context.now_ms)
    max_timestamp = max(NO_TIMESTAMP, *(record.timestamp for record in records))
    part = batch.stamped(last_offset, TimestampType.CREATE_TIME, max_timestamp)
    return ValidatedRecords([part], context.first_offset, last_offset, max_timestamp, last_offset, NO_TIMESTAMP)


def _build_anew(records: list[Record], first: AnyBatch, codec: int, rules: AppendRules, context: AppendContext) -> ValidatedRecords:
    """In the topic's format and codec, with new offsets."""
    records = [record._replace(offset=context.first_offset + index) for index, record in enumerate(records)]
    append_time = context.now_ms if rules.log_append_time else None
    if rules.target_magic == 2:
        fields = BatchFields(
            codec=codec,
            log_append_time=append_time,
            producer_id=first.producer_id,
            producer_epoch=first.producer_epoch,
            base_sequence=first.base_sequence,
            is_transactional=first.is_transactional,
            partition_leader_epoch=context.leader_epoch,
        )
        data = build_batch(records, fields)
    else:
        if any(record.headers for record in records):
            raise _unsupported(f"Magic v{rules.target_magic} does not support record headers")
        if codec == ZSTD:
            raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"ZStandard compression is not supported for magic {rules.target_magic}")
        data = build_message_set(rules.target_magic, records, codec=codec, log_append_time=append_time)
    max_timestamp, offset_of_max = _largest(records, codec, rules, context)
    time = NO_TIMESTAMP if append_time is None else append_time
    last_offset = context.first_offset + len(records) - 1
    return ValidatedRecords([data], context.first_offset, last_offset, max_timestamp, offset_of_max, time, True, len(records))


def _largest(records: list[Record], codec: int, rules: AppendRules, context: AppendContext) -> tuple[int, int]:
    """The largest timestamp and its offset: the last offset, where one batch or wrapper holds all records."""
    together = rules.target_magic == 2 or codec != NONE
    if rules.log_append_time:
        return context.now_ms, records[-1 if together else 0].offset
    timestamp = max(NO_TIMESTAMP, *(record.timestamp for record in records)) if rules.target_magic else NO_TIMESTAMP
    if together or timestamp == NO_TIMESTAMP:
        return timestamp, records[-1].offset
    return timestamp, next(record.offset for record in records if record.timestamp == timestamp)
