"""Levels are log4j's words; a wish that is wrong in one part changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.server.broker_loggers import change_loggers, describe_loggers

NAME = "kafka.test.BrokerLoggers"


@pytest.fixture(autouse=True)
def logger() -> Iterator[logging.Logger]:
    made = logging.getLogger(NAME)
    yield made
    made.setLevel(logging.NOTSET)


@pytest.mark.parametrize("level", ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"])
def test_a_level_that_is_set_is_told(level: str) -> None:
    change_loggers({NAME: level}, validate_only=False)
    assert describe_loggers()[NAME] == level


def test_a_logger_without_level_has_its_parents(logger: logging.Logger) -> None:
    change_loggers({NAME: "FATAL"}, validate_only=False)
    change_loggers({NAME: None}, validate_only=False)
    assert logger.level == logging.NOTSET
    assert describe_loggers()[NAME] == describe_loggers()["root"]


def test_validation_changes_nothing(logger: logging.Logger) -> None:
    change_loggers({NAME: "FATAL"}, validate_only=True)
    assert logger.level == logging.NOTSET


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"kafka.test.nobody": "INFO"}, ErrorCode.INVALID_REQUEST), ({NAME: "LOUD"}, ErrorCode.INVALID_REQUEST), ({"root": None}, ErrorCode.INVALID_REQUEST)],
)
def test_wrong_wishes_are_refused_whole(logger: logging.Logger, changes: dict[str, str | None], code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as raised:
        change_loggers({NAME: "FATAL"} | changes, validate_only=False)
    assert raised.value.code is code
    assert logger.level == logging.NOTSET
