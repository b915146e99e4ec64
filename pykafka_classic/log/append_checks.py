"""What is asked of produced records before any of them is looked at: the form that a Produce version allows, checksums, sizes.

In order, for each partition of a request (a refusal of the first two kinds never reaches a log, so the answer has no log start offset):

1. `has_transactional_batches`: then the request needs a transactional id that it may use, else 53 for the whole request;
2. `check_produced_records`: version 3 and later carry exactly one batch of magic 2 (87); zstd only from version 7 on (76). Versions 0 to 2 carry anything;
3. `analyze_records`, in the log: base offset 0 (87), size (10), checksum (2). It walks batch headers and computes checksums, nothing else;
4. `log_validator`, on what is left.

`AppendRules` is what a topic asks for, made once per configuration; `AppendContext` what belongs to one append.

Source: facts/storage.md 8, facts/observed.md "Validation on append"; 2.8 ProduceRequest.java (validateRecords), Log.scala (analyzeAndValidateRecords).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.log_config import LONG_MAX, LogConfig
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.records.compression import ZSTD, CompressionType
from pykafka_classic.records.layout import (
    CODEC_MASK,
    LENGTH_POSITION,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    RECORDS_POSITION,
    TRANSACTIONAL_MASK,
    CorruptRecord,
    InvalidRecord,
)
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch, iterate_batches

ONE_BATCH_VERSION: Final = 3  # of Produce: from here on one magic 2 batch per partition (KIP-98)
ZSTD_VERSION: Final = 7  # of Produce (KIP-110)
_ATTRIBUTES_LOW_BYTE: Final = 22  # of a magic 2 batch


@dataclass(frozen=True, slots=True)
class AppendRules:
    """What a partition's configuration asks of records that are appended."""

    topic_partition: TopicPartition
    target_magic: int = 2
    target_codec: int | None = None  # None: the producer's
    log_append_time: bool = False  # the broker's clock stamps the records
    timestamp_difference_max_ms: int = LONG_MAX
    compacted: bool = False
    max_message_bytes: int = 1048588
    zstd_allowed: bool = True  # inter.broker.protocol.version is 2.1 or later
    about_records: bool = field(init=False)  # do they ask something of every single record: a key, or a timestamp that is near enough?

    def __post_init__(self) -> None:
        about_records = self.compacted or (self.timestamp_difference_max_ms != LONG_MAX and not self.log_append_time)
        object.__setattr__(self, "about_records", about_records)

    def keep(self, attributes: int) -> bool:
        """Does a batch of magic 2 with these attributes stay as it came?"""
        codec = attributes & CODEC_MASK
        return self.target_magic == 2 and (self.target_codec is None or self.target_codec == codec) and (self.zstd_allowed or codec != ZSTD)

    @staticmethod
    def of(topic_partition: TopicPartition, config: LogConfig, *, zstd_allowed: bool = True) -> AppendRules:
        """The rules of a topic's configuration."""
        return AppendRules(
            topic_partition,
            target_magic=config.record_version,
            target_codec=None if config.compression_type == "producer" else int(CompressionType.of(config.compression_type)),
            log_append_time=config.message_timestamp_type == "LogAppendTime",
            timestamp_difference_max_ms=config.message_timestamp_difference_max_ms,
            compacted=config.compact,
            max_message_bytes=config.max_message_bytes,
            zstd_allowed=zstd_allowed,
        )


class AppendContext(NamedTuple):
    """One append: the offset that its first record gets, the broker's time in ms, the leader's epoch, and who sends it."""

    first_offset: int
    now_ms: int
    leader_epoch: int
    origin: AppendOrigin = AppendOrigin.CLIENT


def is_usual(records: bytes | memoryview | None) -> bool:
    """One whole batch of magic 2, of no transaction and without zstd: `has_transactional_batches` says no to it, and `check_produced_records` nothing."""
    if not records or not _is_one_batch(records):
        return False
    attributes = records[_ATTRIBUTES_LOW_BYTE]
    return not attributes & TRANSACTIONAL_MASK and attributes & CODEC_MASK != ZSTD


def has_transactional_batches(records: bytes | memoryview | None) -> bool:
    """Does a produced record set hold a transactional batch? Raises CorruptRecord where it holds no batches."""
    if records and _is_one_batch(records):
        return bool(records[_ATTRIBUTES_LOW_BYTE] & TRANSACTIONAL_MASK)
    return records is not None and any(batch.is_transactional for batch in iterate_batches(records))


def check_produced_records(records: bytes | memoryview | None, version: int) -> None:
    """Is this what a Produce request of that version may carry for one partition?

    Raises InvalidRecord, CorruptRecord, or KafkaError (UNSUPPORTED_COMPRESSION_TYPE). No records at all are an InvalidRecord from version 3 on, as null too:
    Kafka 2.8 answers twice to null and then closes the connection, which is a defect.
    """
    if version < ONE_BATCH_VERSION or (records and _is_one_batch(records) and records[_ATTRIBUTES_LOW_BYTE] & CODEC_MASK != ZSTD):
        return
    batches = iterate_batches(records or b"")
    first = next(batches, None)
    if first is None:
        raise InvalidRecord(f"Produce requests with version {version} must have at least one record batch")
    if first.magic != 2:
        raise InvalidRecord(f"Produce requests with version {version} are only allowed to contain record batches with magic version 2")
    if first.codec == ZSTD and version < ZSTD_VERSION:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"Produce requests with version {version} are not allowed to use ZStandard compression")
    if next(batches, None) is not None:
        raise InvalidRecord(f"Produce requests with version {version} are only allowed to contain exactly one record batch")


def _is_one_batch(records: bytes | memoryview) -> bool:
    """Exactly one whole batch of magic 2, by its length: what all of today's producers send. Seen without taking its header apart."""
    size = len(records)
    return (
        size >= RECORDS_POSITION
        and records[MAGIC_POSITION] == 2
        and int.from_bytes(records[LENGTH_POSITION:LOG_OVERHEAD], "big", signed=True) == size - LOG_OVERHEAD
    )


def analyze_records(records: bytes | memoryview, rules: AppendRules, origin: AppendOrigin) -> list[AnyBatch]:
    """The batches in `records`, checked; a cut last one is left out.

    Raises InvalidRecord (base offset), KafkaError (MESSAGE_TOO_LARGE), CorruptRecord (checksum, or bytes that are no batch).
    """
    if _is_one_batch(records):
        return [_analyzed(RecordBatch(memoryview(records)), rules, origin)]
    return [_analyzed(batch, rules, origin) for batch in iterate_batches(records)]


def _analyzed(batch: AnyBatch, rules: AppendRules, origin: AppendOrigin) -> AnyBatch:
    if batch.base_offset != 0 and batch.magic == 2 and origin is AppendOrigin.CLIENT:
        raise InvalidRecord(f"The baseOffset of the record batch in the append to {rules.topic_partition} should be 0, but it is {batch.base_offset}")
    if batch.size_in_bytes > rules.max_message_bytes:
        check_size(batch.size_in_bytes, rules)
    if not batch.is_valid():
        raise CorruptRecord(f"Record is corrupt (stored crc = {batch.crc}) in topic partition {rules.topic_partition}.")
    return batch


def check_size(size: int, rules: AppendRules) -> None:
    """Raise KafkaError (MESSAGE_TOO_LARGE) for a batch of more than max.message.bytes."""
    if size > rules.max_message_bytes:
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"The record batch size in the append to {rules.topic_partition} is {size} bytes "
            f"which exceeds the maximum configured value of {rules.max_message_bytes}.",
        )
