"""The names of exceptions are those of Kafka's own table of errors."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.java_errors import as_java, java_name
from tests.golden.protocol_data import lines


def test_every_code_has_kafkas_exception() -> None:
    table = {each["code"]: each["exception"] for each in lines("error_codes") if each["exception"] is not None}
    assert {int(code): java_name(code) for code in ErrorCode if code is not ErrorCode.NONE} == table


def test_an_exception_prints_as_in_java() -> None:
    assert as_java(KafkaError(ErrorCode.NON_EMPTY_GROUP)) == "org.apache.kafka.common.errors.GroupNotEmptyException: The group is not empty."
