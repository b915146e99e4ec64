"""Log lines as Kafka's log4j.properties makes them: `[2026-01-01 12:00:00,000] INFO [Controller id=1] Starting (kafka.controller.KafkaController)`.

Loggers have Kafka's names. Lines go to standard output (`set_up_logging`), or where a log4j.properties sends them (`set_up_from_log4j`).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TextIO

from pykafka_classic.common.broker_events import LOGGER, EventLine
from pykafka_classic.common.log4j import Appender, AppenderKind, Log4jError, LoggingPlan, parse_log4j
from pykafka_classic.edges.log_files import LogFile

KAFKA_LINE: Final = "[%(asctime)s] %(levelname)s %(message)s (%(name)s)"
KAFKA_LEVELS: Final = {5: "TRACE", logging.WARNING: "WARN", logging.CRITICAL: "FATAL"}

UNKNOWN_BROKER: Final = -1  # it has not been told its number yet

# Libraries that tell of each connection attempt; our own lines say what an operator needs.
QUIET: Final = ("kazoo", "twisted")


class KafkaFormatter(logging.Formatter):
    """The layout `[%d] %p %m (%c)` of log4j, with its names of levels. Times are local, with milliseconds."""

    def __init__(self, line: str = KAFKA_LINE) -> None:
        super().__init__(line)
        self._line = line

    def formatMessage(self, record: logging.LogRecord) -> str:  # the name is logging's
        """One line; the record itself is left as it is."""
        return self._line % {**record.__dict__, "levelname": KAFKA_LEVELS.get(record.levelno, record.levelname)}


class EventLines(logging.Filter):
    """Gives each line of `kafka.events` its time and the id of this process's broker."""

    def __init__(self) -> None:
        super().__init__()
        self.broker = UNKNOWN_BROKER

    def filter(self, record: logging.LogRecord) -> bool:
        """Complete the line; it always goes on."""
        if isinstance(record.args, tuple) and len(record.args) == 1 and isinstance(record.args[0], EventLine):
            record.msg, record.args = record.args[0].written(round(record.created * 1000), self.broker), None
        return True


_event_lines: Final = EventLines()


def name_broker(broker_id: int) -> None:
    """Events of this process are this broker's."""
    _event_lines.broker = broker_id


def set_up_logging(stream: TextIO | None = None, *, level: int = logging.INFO) -> None:
    """Send all log lines to `stream` (standard output), replacing what was set up before."""
    lines = logging.StreamHandler(sys.stdout if stream is None else stream)
    lines.setFormatter(KafkaFormatter())
    logging.basicConfig(level=level, handlers=[lines], force=True)
    logging.getLogger(LOGGER).addFilter(_event_lines)
    _hush({})


def set_up_from_log4j(path: Path, variables: Mapping[str, str]) -> None:
    """Send log lines where a log4j.properties says, replacing what was set up before. Raises Log4jError (the text names the file), OSError."""
    try:
        plan = parse_log4j(path.read_text(encoding="utf-8"), variables)
    except ValueError as error:
        raise Log4jError(f"Cannot understand {path}: {error}") from None
    set_up_plan(plan)


def set_up_plan(plan: LoggingPlan) -> None:
    """Make the appenders of a plan and give them to its loggers. Raises OSError where a log file cannot be opened."""
    made = {name: _handler(appender) for name, appender in plan.appenders.items()}
    root = plan.loggers[""]
    logging.basicConfig(level=logging.DEBUG if root.level is None else root.level, handlers=[made[name] for name in root.appenders], force=True)
    for name, line in plan.loggers.items():
        if name:
            logger = logging.getLogger(name)
            logger.handlers = [made[appender] for appender in line.appenders]
            logger.setLevel(logging.NOTSET if line.level is None else line.level)
            logger.propagate = line.additive
    logging.getLogger(LOGGER).addFilter(_event_lines)
    _hush(plan.loggers)


def _hush(spoken_of: Mapping[str, object]) -> None:
    for name in QUIET:
        if name not in spoken_of:
            logging.getLogger(name).setLevel(logging.WARNING)


def _handler(appender: Appender) -> logging.Handler:
    handler: logging.Handler
    if appender.kind is AppenderKind.CONSOLE:
        handler = logging.StreamHandler(sys.stderr if appender.target == "System.err" else sys.stdout)
    else:
        handler = LogFile(appender)
    handler.setFormatter(KafkaFormatter(appender.format))
    return handler
