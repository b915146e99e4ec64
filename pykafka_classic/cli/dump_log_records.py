"""What kafka-dump-log prints of a .log: a line for each batch, and where it looks inside, a line for each record.

Old messages (magic 0 and 1) are batches of one, or of what they wrap. A record's line repeats what its batch says, for those who search with grep.

Source: facts/tools.md 14; 2.8 DumpLogSegments.scala; golden dumps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from pykafka_classic.cli.dump_log_files import DumpError, FoundBatch, LogFile, base_offset_of
from pykafka_classic.cli.dump_log_findings import Findings
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.records.compression import CompressionType
from pykafka_classic.records.control import ControlType
from pykafka_classic.records.layout import NO_SEQUENCE, SEQUENCE_MAX, TimestampType
from pykafka_classic.records.message_set import LegacyBatch, Message
from pykafka_classic.records.record import Record, iterate_records
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch

TIMESTAMP_LABELS: Final = {
    TimestampType.NO_TIMESTAMP_TYPE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}

Decoder = Callable[[Record], "tuple[str | None, str | None]"]  # a record's key and payload as text; None for what is not there. Raises ValueError


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is printed.

    Attributes:
        deep: look inside the batches.
        metadata: print each record's fields.
        decoder: prints keys and values; None to leave them out.
        bytes_max: read no more of a file, None for all.
    """

    deep: bool
    metadata: bool
    decoder: Decoder | None
    bytes_max: int | None = None


class SeenRecord(NamedTuple):
    """A record and, of an old message, its own bytes' checksum."""

    record: Record
    message: Message | None


def dump_log(path: str, detail: Detail, findings: Findings) -> Iterator[str]:
    """The lines for one file. Raises DumpError, OSError."""
    yield f"Starting offset: {base_offset_of(path)}"
    file = LogFile(path)
    try:
        valid_bytes, last_offset = 0, -1
        for found in file.batches(bytes_max=detail.bytes_max):
            yield batch_line(found)
            valid_bytes += found.batch.size_in_bytes
            if detail.deep:
                describe: Callable[[SeenRecord], str] | None = None
                for seen in records_of(found, path):
                    describe = describe or _describer(found, detail)
                    offset = seen.record.offset
                    if last_offset not in (-1, offset - 1):
                        findings.not_consecutive(path, last_offset, offset)
                    last_offset = offset
                    yield describe(seen)
        if detail.bytes_max is None and file.size > valid_bytes:
            yield f"Found {file.size - valid_bytes} invalid bytes at the end of {Path(path).name}"
    finally:
        file.close()


def records_of(found: FoundBatch, path: str) -> Iterator[SeenRecord]:
    """What is in a batch. Raises DumpError at the first record that cannot be read."""
    batch = found.batch
    try:
        if isinstance(batch, LegacyBatch):
            messages = batch.inner_messages() if batch.codec else [batch.message._replace(crc_is_valid=batch.is_valid())]
            for record, message in zip(batch.records_of(messages), messages, strict=True):
                yield SeenRecord(record, message)
        else:
            append_time = batch.max_timestamp if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else None
            for record in iterate_records(batch.payload(), batch.records_count, batch.base_offset, batch.base_timestamp, append_time):
                yield SeenRecord(record, None)
    except KafkaError as error:
        raise DumpError(f"The batch at position {found.position} of {path} cannot be read: {error}") from error


def codec_name(batch: AnyBatch) -> str:
    """The codec as Kafka's tools print it. Raises DumpError for an unknown one."""
    try:
        return CompressionType(batch.codec).name
    except ValueError:
        raise DumpError(f"Unknown compression type id: {batch.codec}") from None


def batch_line(found: FoundBatch) -> str:
    """The line of a batch."""
    batch = found.batch
    if isinstance(batch, RecordBatch):
        start = (
            f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.records_count} baseSequence: {batch.base_sequence}"
            f" lastSequence: {_sequence(batch, batch.last_offset - batch.base_offset)} producerId: {batch.producer_id} producerEpoch: {batch.producer_epoch}"
            f" partitionLeaderEpoch: {batch.partition_leader_epoch} isTransactional: {_java(batch.is_transactional)} isControl: {_java(batch.is_control)}"
        )
    else:
        start = f"offset: {batch.last_offset}"
    return (
        f"{start} position: {found.position} {TIMESTAMP_LABELS[batch.timestamp_type]}: {batch.max_timestamp} size: {batch.size_in_bytes}"
        f" magic: {batch.magic} compresscodec: {codec_name(batch)} crc: {batch.crc} isvalid: {_java(batch.is_valid())}"
    )


def _describer(found: FoundBatch, detail: Detail) -> Callable[[SeenRecord], str]:
    """What makes the lines of a batch's records; the parts that are the same in all of them are made once."""
    batch, decoder = found.batch, detail.decoder
    label = TIMESTAMP_LABELS[batch.timestamp_type]
    common = _common_part(found) if detail.metadata else ""

    def describe(seen: SeenRecord) -> str:
        record, line = seen.record, ""
        if detail.metadata:
            line = f"| {_own_part(seen, label)} {common}"
            line += f" {_new_part(batch, record)}" if isinstance(batch, RecordBatch) else f" {_old_part(seen)}"
            if batch.is_control:
                line += f" {_control_part(record)}"
        if decoder is not None and not batch.is_control:
            key, payload = _decoded(decoder, record)
            if key is not None:
                line += f"{'' if line else '|'} key: {key}"
            if payload is not None:
                line += f" payload: {payload}"
        return line

    return describe


def _own_part(seen: SeenRecord, label: str) -> str:
    record, message = seen
    checksum = "isValid: true crc: null" if message is None else f"isValid: {_java(message.crc_is_valid)} crc: {message.crc}"
    return f"offset: {record.offset} {checksum} keySize: {_size(record.key)} valueSize: {_size(record.value)} {label}: {record.timestamp}"


def _common_part(found: FoundBatch) -> str:
    batch = found.batch
    base_offset = batch.base_offset  # a wrapper is unpacked for it
    last_sequence = _sequence(batch, batch.last_offset - base_offset)
    return (
        f"baseOffset: {base_offset} lastOffset: {batch.last_offset} baseSequence: {batch.base_sequence} lastSequence: {last_sequence}"
        f" producerEpoch: {batch.producer_epoch} partitionLeaderEpoch: {batch.partition_leader_epoch} batchSize: {batch.size_in_bytes}"
        f" magic: {batch.magic} compressType: {codec_name(batch)} position: {found.position}"
    )


def _new_part(batch: RecordBatch, record: Record) -> str:
    sequence = NO_SEQUENCE if batch.base_sequence < 0 else _sequence(batch, record.offset - batch.base_offset)
    return f"sequence: {sequence} headerKeys: [{','.join(header.key for header in record.headers)}]"


def _sequence(batch: AnyBatch, offset_delta: int) -> int:
    """The sequence number so many records on; a damaged, negative one counts on like any other."""
    if batch.base_sequence == NO_SEQUENCE:
        return NO_SEQUENCE
    sequence = batch.base_sequence + offset_delta
    return sequence if sequence <= SEQUENCE_MAX else sequence - SEQUENCE_MAX - 1


def _old_part(seen: SeenRecord) -> str:
    assert seen.message is not None, "batches of magic 0 and 1 hold messages"
    return f"crc: {seen.message.crc} isvalid: {_java(seen.message.crc_is_valid)}"


def _control_part(record: Record) -> str:
    try:
        kind = ControlType.of(record.key)
    except KafkaError as error:
        raise DumpError(f"The control record with offset {record.offset} cannot be read: {error}") from error
    assert record.key is not None, "checked by ControlType.of"
    if kind is ControlType.UNKNOWN:
        number = int.from_bytes(record.key[2:4], "big", signed=True)
        return f"controlType: {_CONTROL_TYPES_OF_RAFT.get(number, 'UNKNOWN')}({number})"
    if record.value is None or len(record.value) < 6 or record.value[0] & 0x80:
        raise DumpError(f"The transaction marker with offset {record.offset} has no coordinator epoch, or a negative version")
    return f"endTxnMarker: {kind.name} coordinatorEpoch: {int.from_bytes(record.value[2:6], 'big', signed=True)}"


_CONTROL_TYPES_OF_RAFT: Final = {2: "QUORUM_REASSIGNMENT", 3: "LEADER_CHANGE"}  # as 2.8 numbered them


def _decoded(decoder: Decoder, record: Record) -> tuple[str | None, str | None]:
    try:
        return decoder(record)
    except ValueError as error:
        raise DumpError(f"The record with offset {record.offset} cannot be decoded: {error}") from error


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _java(value: bool) -> str:
    return "true" if value else "false"
