"""A leader's decisions about produced records, against Kafka's LogValidator and against the answers of a running broker."""

from __future__ import annotations

from typing import Any, Final

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_checks import AppendContext, AppendRules, check_produced_records, has_transactional_batches
from pykafka_classic.log.log_validator import RecordValidationError, ValidatedRecords, validate_and_assign, validate_append
from pykafka_classic.records.compression import NONE, CompressionType
from pykafka_classic.records.layout import RECORDS_POSITION
from pykafka_classic.records.record_batch import RecordBatch, iterate_batches
from tests.golden.records_data import Line, check_batches, lines, numbered, of_kind

APPENDS = of_kind("append")
ANSWERS = lines("answers")

OURS: Final[dict[str, tuple[ErrorCode, str]]] = {
    # name, or its beginning: what ours answers instead, and why.
    "record_offset_delta_wrong/": (
        ErrorCode.INVALID_RECORD,
        "Kafka stores it if plain, with records outside the batch's offsets, and fails with -1 under gzip",
    ),
    "headers/2/none/format_": (ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, "Kafka fails with -1; the reason is the format"),
    "headers/2/gzip/format_": (ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, "the same"),
    "transactional/2/none/format_": (ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, "Kafka fails with -1 here, with 43 under gzip"),
    "zstd_to_format_1": (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "Kafka fails with -1"),
}
"""The differences on purpose, all of them."""


def difference(name: str) -> ErrorCode | None:
    """Our code where it differs on purpose."""
    return next((code for start, (code, _) in OURS.items() if name.startswith(start)), None)


CODES: Final = {
    "InvalidTimestampException": ErrorCode.INVALID_TIMESTAMP,
    "InvalidRecordException": ErrorCode.INVALID_RECORD,
    "UnsupportedForMessageFormatException": ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    "UnsupportedCompressionTypeException": ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    "CorruptRecordException": ErrorCode.CORRUPT_MESSAGE,
}


CHECKED_BEFORE: Final = {"crc_wrong/none", "crc_wrong/gzip", "base_offset_not_zero/gzip"}
"""What a log checks before LogValidator, which for itself lets the first two pass and stumbles over the third."""

OTHER_WORDS: Final = ("record_length_",)
"""Refusals whose text is in our words; it goes into a log only."""


def rules_and_context(line: Line) -> tuple[AppendRules, AppendContext]:
    rules = AppendRules(
        TopicPartition("t", 0),
        target_magic=line["to_magic"],
        target_codec=CompressionType.of(line["to_codec"]),
        log_append_time=line["timestamp_type"] == "LogAppendTime",
        timestamp_difference_max_ms=line["timestamp_difference_max_ms"],
        compacted=line["compacted"],
        zstd_allowed=line["ibp"] == "2.8",
    )
    return rules, AppendContext(line["first_offset"], line["now"], line["leader_epoch"])


def validate(line: Line) -> ValidatedRecords:
    return validate_and_assign(list(iterate_batches(bytes.fromhex(line["from"]))), *rules_and_context(line))


DECIDED = [line for line in APPENDS if line["name"] not in CHECKED_BEFORE]


@pytest.mark.parametrize("line", DECIDED, ids=numbered(DECIDED))
def test_the_leader_accepts_refuses_and_writes_what_kafka_does(line: Line) -> None:
    code = difference(line["name"])
    if code is None and "error" not in line:
        check_accepted(validate(line), line)
        return
    with pytest.raises(KafkaError) as refused:
        validate(line)
    if code is not None:
        assert refused.value.code == code
        return
    name, _, message = line["error"].removeprefix("RecordValidationException of ").partition(": ")
    assert refused.value.code == CODES[name]
    assert str(refused.value) == message or line["name"].startswith(OTHER_WORDS)
    if line.get("record_errors"):
        assert isinstance(refused.value, RecordValidationError)
        assert [error._asdict() for error in refused.value.record_errors] == line["record_errors"]


@pytest.mark.parametrize("name", sorted(CHECKED_BEFORE))
def test_what_a_log_checks_first_never_reaches_the_validator(name: str) -> None:
    [line] = [line for line in APPENDS if line["name"] == name]
    with pytest.raises(KafkaError) as refused:
        validate_append(bytes.fromhex(line["from"]), *rules_and_context(line))
    assert refused.value.code == (ErrorCode.CORRUPT_MESSAGE if name.startswith("crc") else ErrorCode.INVALID_RECORD)


def check_accepted(validated: ValidatedRecords, line: Line) -> None:
    data = b"".join(validated.parts)
    assert (validated.size, validated.first_offset) == (len(data), line["first_offset"])
    assert validated.last_offset + 1 == line["next_offset"]
    assert (validated.max_timestamp, validated.offset_of_max_timestamp) == (line["max_timestamp"], line["offset_of_max_timestamp"])
    check_batches(data, line["batches"])
    expected = bytes.fromhex(line["hex"])
    if line["to_codec"] == "none" or not validated.message_size_changed:
        assert data.hex() == expected.hex()
        return
    for ours, theirs in zip(iterate_batches(data), iterate_batches(expected), strict=True):
        assert ours.records() == theirs.records()
        if isinstance(ours, RecordBatch):
            assert ours.buffer[21:RECORDS_POSITION].hex() == theirs.buffer[21:RECORDS_POSITION].hex()


def answer(line: Line, start_offset: int) -> dict[str, Any]:
    """What a broker made of these parts would answer for one partition whose log ends at `start_offset`."""
    records, version = bytes.fromhex(FROM[line["name"]]), line["produce_version"]
    result: dict[str, Any] = {"error": 0, "base_offset": -1, "log_append_time": -1, "log_start_offset": -1, "record_errors": [], "error_message": None}
    if has_transactional_batches(records) and line["transactional_id"] is None:
        return result | {"error": 53}
    try:
        check_produced_records(records, version)
    except KafkaError as error:
        return result | {"error": error.code}
    overrides = line["topic"]
    partition = TopicPartition("answers-7", {"none": 4, "gzip": 5}.get(line["name"].rpartition("/")[2], 0))
    rules = AppendRules.of(partition, LogConfig().with_overrides(overrides))
    try:
        validated = validate_append(records, rules, AppendContext(start_offset, 1700000000000, 0))
    except RecordValidationError as error:
        errors = [item._asdict() for item in error.record_errors]
        return result | {"error": error.code, "log_start_offset": 0, "record_errors": errors, "error_message": str(error)}
    except KafkaError as error:
        return result | {"error": error.code, "log_start_offset": -1 if error.code == ErrorCode.CORRUPT_MESSAGE else 0}
    assert validated is not None
    time = "now" if validated.log_append_time == 1700000000000 else validated.log_append_time
    return result | {"base_offset": validated.first_offset, "log_append_time": time, "log_start_offset": 0}


FROM: Final = {line["name"]: line["from"] for line in APPENDS}


@pytest.mark.parametrize("line", ANSWERS, ids=[f"{line['name']}-v{line['produce_version']}-{line.get('transactional_id', '')}" for line in ANSWERS])
def test_a_produce_request_is_answered_as_by_a_broker(line: Line) -> None:
    ours = answer(line, max(line["base_offset"], 0))
    code = difference(line["name"])
    if code is not None and line["error"] in (0, -1):
        assert ours["error"] == code
        return
    asked = ("error", "base_offset", "log_append_time", "log_start_offset", "record_errors", "error_message")
    assert {key: ours[key] for key in asked if key in line} == {key: line[key] for key in asked if key in line}


def test_every_difference_on_purpose_is_one() -> None:
    names = {line["name"] for line in APPENDS}
    for start, (code, reason) in OURS.items():
        assert any(name.startswith(start) for name in names)
        assert code != NONE
        assert reason
