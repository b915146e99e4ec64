"""What a log4j.properties asks for: the subset that Kafka's own config/log4j.properties is written in.

    log4j.rootLogger=INFO, stdout, file
    log4j.appender.file=org.apache.log4j.DailyRollingFileAppender
    log4j.appender.file.File=${kafka.logs.dir}/server.log
    log4j.appender.file.DatePattern='.'yyyy-MM-dd-HH
    log4j.appender.file.layout=org.apache.log4j.PatternLayout
    log4j.appender.file.layout.ConversionPattern=[%d] %p %m (%c)%n
    log4j.logger.kafka.controller=TRACE, file
    log4j.additivity.kafka.controller=false

Appenders: ConsoleAppender, FileAppender, DailyRollingFileAppender, RollingFileAppender. Of patterns: %d (as ISO 8601 has it) %p %c %m %t %n %%, with widths.
What is not of this subset is refused, for a log that goes nowhere is noticed when it is needed.

Source: log4j 1.2's manual; Kafka 2.8's config/log4j.properties for the keys in use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final

from pykafka_classic.common.properties import parse_properties

LOGS_DIR_VARIABLE: Final = "kafka.logs.dir"
DEFAULT_PATTERN: Final = "[%d] %p %m (%c)%n"
DEFAULT_DATE_PATTERN: Final = "'.'yyyy-MM-dd"
DEFAULT_MAX_FILE_SIZE: Final = 10 * 1024 * 1024
DEFAULT_MAX_BACKUP_INDEX: Final = 1

# log4j's levels as numbers of Python's logging, whose names differ for two of them.
LEVELS: Final = {"ALL": 1, "TRACE": 5, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50, "OFF": 60}

_CLASSES: Final = re.compile(r"org\.apache\.log4j\.(\w+)")
_VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")
_CONVERSION: Final = re.compile(r"%(-?\d*)(?:\.\d+)?([a-zA-Z%])(\{[^}]*\})?")
_FIELDS: Final = {"d": "asctime", "p": "levelname", "c": "name", "m": "message", "t": "threadName"}
_SIZE: Final = re.compile(r"(\d+)\s*(KB|MB|GB)?", re.IGNORECASE)
_UNITS: Final = {"": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}
_DATE_TOKEN: Final = re.compile(r"'([^']*)'|([A-Za-z])\2*|([^A-Za-z']+)")
_DATE_LETTERS: Final = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M"}


class Log4jError(ValueError):
    """The file asks for something that is not there; the text says what."""


class AppenderKind(Enum):
    """Where lines go; the values are log4j's classes."""

    CONSOLE = "ConsoleAppender"
    FILE = "FileAppender"
    DAILY = "DailyRollingFileAppender"
    SIZE = "RollingFileAppender"


@dataclass(frozen=True, slots=True)
class Appender:
    """One place that lines go to.

    Attributes:
        target: System.out or System.err, for the console.
        path: for files; else empty.
        format: the layout of a line for Python's logging, without its line end.
        date_format: for DAILY: strftime's format of what a closed file's name gets at its end.
        max_file_size: for SIZE: bytes after which the file is closed.
        max_backup_index: for SIZE: how many closed files stay, as path.1 (the youngest), path.2, ...
    """

    kind: AppenderKind
    format: str
    target: str = "System.out"
    path: str = ""
    date_format: str = ""
    max_file_size: int = DEFAULT_MAX_FILE_SIZE
    max_backup_index: int = DEFAULT_MAX_BACKUP_INDEX

    def dated_path(self, moment: datetime) -> str:
        """For DAILY: the name that the file gets when the period of `moment` is over."""
        return self.path + moment.strftime(self.date_format)


@dataclass(frozen=True, slots=True)
class LoggerPlan:
    """One logger: its level (None: its parent's), the names of its appenders, and whether its lines go to its parents' appenders too."""

    level: int | None
    appenders: tuple[str, ...]
    additive: bool = True


@dataclass(frozen=True, slots=True)
class LoggingPlan:
    """All of a file. `loggers[""]` is the root."""

    appenders: Mapping[str, Appender]
    loggers: Mapping[str, LoggerPlan]


def parse_log4j(text: str, variables: Mapping[str, str]) -> LoggingPlan:
    """Read a log4j.properties; `variables` are Java's system properties. Raises Log4jError."""
    properties = {key: _substitute(value.strip(), variables) for key, value in parse_properties(text).items()}
    loggers = {"": _logger(properties.get("log4j.rootLogger", "DEBUG"), additive=True)}
    for key, value in properties.items():
        name = key.removeprefix("log4j.logger.")
        if name != key:
            loggers[name] = _logger(value, additive=properties.get(f"log4j.additivity.{name}", "true").lower() != "false")
    names = sorted({name for logger in loggers.values() for name in logger.appenders})
    return LoggingPlan({name: _appender(name, properties) for name in names}, loggers)


def java_options(text: str) -> dict[str, str]:
    """The system properties that `-Dname=value` options set, as $KAFKA_LOG4J_OPTS has them."""
    pairs = (option[2:].partition("=") for option in text.split() if option.startswith("-D"))
    return {name: value for name, _, value in pairs}


def _substitute(value: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: variables.get(match[1], ""), value)


def _logger(value: str, *, additive: bool) -> LoggerPlan:
    level, *appenders = (part.strip() for part in value.split(","))
    if level and level.upper() not in {*LEVELS, "INHERITED", "NULL"}:
        raise Log4jError(f"{level!r} is no level: one of {', '.join(LEVELS)}")
    return LoggerPlan(LEVELS.get(level.upper()), tuple(appender for appender in appenders if appender), additive)


def _appender(name: str, properties: Mapping[str, str]) -> Appender:
    prefix = f"log4j.appender.{name}"
    if prefix not in properties:
        raise Log4jError(f"the appender {name} is used, and there is no {prefix}")
    match = _CLASSES.fullmatch(properties[prefix])
    kinds = {kind.value: kind for kind in AppenderKind}
    if match is None or match[1] not in kinds:
        raise Log4jError(f"{prefix}={properties[prefix]}: only {', '.join(kinds)} of org.apache.log4j are known here")
    kind = kinds[match[1]]
    path = properties.get(f"{prefix}.File", "")
    if kind is not AppenderKind.CONSOLE and not path:
        raise Log4jError(f"{prefix}.File is missing")
    return Appender(
        kind,
        python_format(properties.get(f"{prefix}.layout.ConversionPattern", DEFAULT_PATTERN)),
        target=properties.get(f"{prefix}.Target", "System.out"),
        path=path,
        date_format=strftime_format(properties.get(f"{prefix}.DatePattern", DEFAULT_DATE_PATTERN)) if kind is AppenderKind.DAILY else "",
        max_file_size=size_in_bytes(properties.get(f"{prefix}.MaxFileSize", str(DEFAULT_MAX_FILE_SIZE))),
        max_backup_index=_count(f"{prefix}.MaxBackupIndex", properties.get(f"{prefix}.MaxBackupIndex", str(DEFAULT_MAX_BACKUP_INDEX))),
    )


def python_format(pattern: str) -> str:
    """A ConversionPattern as a format of Python's logging (style %). Raises Log4jError for a conversion that is not known here."""

    def conversion(match: re.Match[str]) -> str:
        width, letter = match[1], match[2]
        if letter == "n":
            return "\n"
        if letter == "%":
            return "%%"
        if letter not in _FIELDS:
            raise Log4jError(f"%{letter} in the pattern {pattern!r}: only {' '.join(f'%{known}' for known in _FIELDS)} %n %% are known here")
        return f"%({_FIELDS[letter]}){width}s"

    return _CONVERSION.sub(conversion, pattern).removesuffix("\n")


def strftime_format(date_pattern: str) -> str:
    """A DatePattern (Java's SimpleDateFormat: letters count, quoted text stands for itself) as strftime's. Raises Log4jError for other letters."""
    parts = []
    for match in _DATE_TOKEN.finditer(date_pattern):
        if match[2] is None:
            parts.append((match[1] or match[3] or "'").replace("%", "%%"))
        elif match[0] in _DATE_LETTERS:
            parts.append(_DATE_LETTERS[match[0]])
        else:
            raise Log4jError(f"{match[0]} in the DatePattern {date_pattern!r}: only {', '.join(_DATE_LETTERS)} are known here")
    return "".join(parts)


def size_in_bytes(text: str) -> int:
    """`10MB`, `512KB`, `1000` as bytes. Raises Log4jError."""
    match = _SIZE.fullmatch(text)
    if match is None or int(match[1]) == 0:
        raise Log4jError(f"MaxFileSize={text}: a number of bytes, or of KB, MB or GB")
    return int(match[1]) * _UNITS[(match[2] or "").upper()]


def _count(key: str, text: str) -> int:
    if not text.isdecimal():
        raise Log4jError(f"{key}={text}: a number, 0 or more")
    return int(text)
