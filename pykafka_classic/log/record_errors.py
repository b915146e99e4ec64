"""Which records of a batch a leader refuses, and what it says of each.

Kafka fails a batch as a whole, but tells the producer which records were at fault (KIP-467): INVALID_TIMESTAMP if the time of one was wrong, else
INVALID_RECORD. The texts are Kafka's, for people grep logs for them.

Source: 2.8 LogValidator.scala (validateRecord, processRecordErrors), facts/observed.md "Validation on append".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.log.append_checks import AppendRules
from pykafka_classic.records.compression import NONE, CompressionType
from pykafka_classic.records.layout import NO_TIMESTAMP, TimestampType
from pykafka_classic.records.message_set import Message
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch

_TIMESTAMP_NAMES: Final = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}


class RecordError(NamedTuple):
    """What is wrong with the record that has this index in its batch."""

    batch_index: int
    message: str


class RecordValidationError(KafkaError):
    """Single records are at fault. `record_errors` goes into a Produce answer from version 8 on, the text into its error_message."""

    def __init__(self, code: ErrorCode, record_errors: list[RecordError], message: str) -> None:
        super().__init__(code, message)
        self.record_errors = record_errors


class Looked(NamedTuple):
    """A batch with its records decoded; for magic 0 and 1 also its messages as they lie there."""

    batch: AnyBatch
    records: list[Record]
    messages: list[Message]


def look_into(batch: AnyBatch, rules: AppendRules) -> Looked:
    """Decode a batch, and compare inner messages of a wrapper with it. Raises InvalidRecord, CorruptRecord, RecordValidationError or MESSAGE_TOO_LARGE."""
    if isinstance(batch, RecordBatch):
        return Looked(batch, batch.records(), [])
    messages = batch.inner_messages()
    if batch.codec != NONE:
        _check_inner_messages(messages, batch.magic, rules)
    return Looked(batch, batch.records_of(messages), messages)


def check_records(looked: Looked, rules: AppendRules, now_ms: int) -> None:
    """Keys of a compacted topic, timestamps. Raises RecordValidationError with all that are wrong."""
    errors, code = [], ErrorCode.INVALID_RECORD
    for index, record in enumerate(looked.records):
        if rules.compacted and record.key is None:
            errors.append(RecordError(index, f"Compacted topic cannot accept message without key in topic partition {rules.topic_partition}."))
        elif text := _timestamp_error(looked, index, rules, now_ms):
            errors.append(RecordError(index, text))
            code = ErrorCode.INVALID_TIMESTAMP
    if errors:
        suffix = " due to invalid timestamp" if code == ErrorCode.INVALID_TIMESTAMP else ""
        raise RecordValidationError(code, errors, f"One or more records have been rejected{suffix}")


def _timestamp_error(looked: Looked, index: int, rules: AppendRules, now_ms: int) -> str:
    record, limit = looked.records[index], rules.timestamp_difference_max_ms
    if not rules.log_append_time and record.timestamp != NO_TIMESTAMP and abs(record.timestamp - now_ms) > limit:
        return (
            f"Timestamp {record.timestamp} of message with offset {record.offset} is out of range. "
            f"The timestamp should be within [{now_ms - limit}, {now_ms + limit}]"
        )
    if looked.batch.timestamp_type == TimestampType.LOG_APPEND_TIME:
        return f"Invalid timestamp type in message {_describe(looked, index, rules)}. Producer should not set timestamp type to LogAppendTime."
    return ""


def _describe(looked: Looked, index: int, rules: AppendRules) -> str:
    """A record as Kafka's log messages show it. A compressed batch that stays as it is shows -1 for null, else null and empty look alike."""
    batch, record = looked.batch, looked.records[index]
    if looked.messages:
        return _describe_message(batch, looked.messages[index], record)
    stays = batch.codec != NONE and rules.target_magic == batch.magic and rules.target_codec in (None, batch.codec)
    name, null = ("PartialDefaultRecord", -1) if stays else ("DefaultRecord", 0)
    return f"{name}(offset={record.offset}, timestamp={record.timestamp}, key={_size(record.key, null)} bytes, value={_size(record.value, null)} bytes)"


def _describe_message(batch: AnyBatch, message: Message, record: Record) -> str:
    time = "" if batch.magic == 0 else f"{_TIMESTAMP_NAMES[batch.timestamp_type]}={record.timestamp}, "
    codec = CompressionType(message.codec).name
    return (
        f"LegacyRecordBatch(offset={record.offset}, Record(magic={message.magic}, attributes={message.attributes}, compression={codec}, "
        f"crc={message.crc}, {time}key={_size(message.key, 0)} bytes, value={_size(message.value, 0)} bytes))"
    )


def _size(data: bytes | None, null: int) -> int:
    return null if data is None else len(data)


def _check_inner_messages(messages: Iterable[Message], magic: int, rules: AppendRules) -> None:
    """Inner messages of a wrapper: its own magic (INVALID_RECORD), and each its own right checksum (CORRUPT_MESSAGE)."""
    for index, message in enumerate(messages):
        if message.magic != magic:
            text = f"Record {index}'s magic {message.magic} does not match outer magic {magic} in topic partition {rules.topic_partition}."
            raise RecordValidationError(ErrorCode.INVALID_RECORD, [RecordError(index, text)], "One or more records have been rejected")
        if not message.crc_is_valid:
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"Record is corrupt (stored crc = {message.crc}) in topic partition {rules.topic_partition}.")
