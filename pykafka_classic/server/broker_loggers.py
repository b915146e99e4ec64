"""Log levels of a broker's loggers, told and changed while it runs (KIP-412). Not stored: a restart forgets them.

Our loggers bear the names of Kafka's, so that an operator turns up the same ones. Levels are log4j's on the wire.

Mirrors kafka.utils.Log4jController and ZkAdminManager.alterLogLevelConfigs.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from pykafka_classic.common.errors import ErrorCode, KafkaError

ROOT: Final = "root"
_LEVELS: Final = {
    "TRACE": 5,  # below what Python names
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


class UnknownLogLevel(KafkaError):
    """No such logger, or no such level."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.INVALID_REQUEST, message)


def describe_loggers() -> dict[str, str]:
    """Logger -> the level in force; the root first."""
    names = sorted(name for name, logger in logging.root.manager.loggerDict.items() if isinstance(logger, logging.Logger))
    return {ROOT: _level_name(logging.root)} | {name: _level_name(logging.getLogger(name)) for name in names}


def _level_name(logger: logging.Logger) -> str:
    level = logger.getEffectiveLevel()
    return next((name for name, number in reversed(_LEVELS.items()) if level >= number), "TRACE")


def change_loggers(changes: Mapping[str, str | None], *, validate_only: bool) -> None:
    """Set levels; None: back to what its parent has. All or nothing. Raises INVALID_REQUEST."""
    known = describe_loggers()
    for name, level in changes.items():
        if name not in known:
            raise UnknownLogLevel(f"Logger {name} does not exist!")
        if level is None and name == ROOT:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Removing the log level of the {ROOT} logger is not allowed")
        if level is not None and level not in _LEVELS:
            valid = "TRACE, ERROR, INFO, FATAL, DEBUG, WARN"  # in the order of a hash set
            message = f"Cannot set the log level of {name} to {level} as it is not a supported log level. Valid log levels are {valid}"
            raise UnknownLogLevel(message)
    if validate_only:
        return
    for name, level in changes.items():
        logger = logging.root if name == ROOT else logging.getLogger(name)
        logger.setLevel(logging.NOTSET if level is None else _LEVELS[level])
