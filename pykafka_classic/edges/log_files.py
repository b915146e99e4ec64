"""Log files as log4j's appenders keep them: rolled by time or by size, and opened anew on request (SIGHUP), for those who move them away themselves.

A file that cannot be written to (a full disk) costs lines, never the broker: the lines lost are counted, and the count is the first line that goes through
again.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TextIO

from pykafka_classic.common.log4j import Appender, AppenderKind


def local_time(seconds: float) -> datetime:
    """A moment in the time zone of this machine, as names of log files have it."""
    return datetime.fromtimestamp(seconds).astimezone()


class LogFile(logging.Handler):
    """A file that lines are added to. The directory is made where it is missing. Raises OSError where the file cannot be opened.

    Invariant: `_period` is the dated name that the open file gets when its time is over (DAILY); that of its last line, also over a restart.
    """

    def __init__(self, appender: Appender) -> None:
        super().__init__()
        self._appender = appender
        self._path = Path(appender.path)
        self._lost = 0
        self._stream: TextIO | None = None
        self._period = ""
        self._open()

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self._path.open("a", encoding="utf-8")
        described = os.fstat(self._stream.fileno())
        self._period = self._appender.dated_path(local_time(described.st_mtime))

    def reopen(self) -> None:
        """Close the file and open the one that now has its name: what was moved away gets no more lines."""
        self.acquire()
        try:
            self._close_stream()
            with suppress(OSError):  # the next line tries again, and is counted if it fails too
                self._open()
        finally:
            self.release()

    def _close_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(OSError):  # what a full disk did not take: it is counted already
                stream.close()

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; roll the file before it where it is time."""
        line = self.format(record) + "\n"
        try:
            self._roll_if_due(record.created, len(line))
            if self._stream is None:
                self._open()
            assert self._stream is not None
            if self._lost:
                self._stream.write(f"({self._lost} lines could not be written here)\n")
            self._stream.write(line)
            self._stream.flush()
            self._lost = 0
        except OSError:
            self._lost += 1
            self._close_stream()  # else its buffer would try again, and the count be wrong

    def _roll_if_due(self, now: float, size: int) -> None:
        match self._appender.kind:
            case AppenderKind.DAILY:
                period = self._appender.dated_path(local_time(now))
                if period != self._period:
                    self._roll(lambda: self._path.replace(self._period))
                    self._period = period
            case AppenderKind.SIZE:
                if self._stream is not None and self._stream.tell() > 0 and self._stream.tell() + size > self._appender.max_file_size:
                    self._roll(self._shift)

    def _roll(self, move: Callable[[], object]) -> None:
        self._close_stream()
        if self._path.exists():
            move()
        self._open()

    def _shift(self) -> None:
        """path.1 becomes path.2, and so on; the oldest goes."""
        kept = self._appender.max_backup_index
        names = [self._path, *(Path(f"{self._path}.{number}") for number in range(1, kept + 1))]
        if not kept:
            self._path.unlink()
        for older, younger in zip(reversed(names[1:]), reversed(names[:-1]), strict=True):
            if younger.exists():
                younger.replace(older)

    def close(self) -> None:
        """At the process's end, or when other files take over."""
        self.acquire()
        try:
            self._close_stream()
        finally:
            self.release()
        super().close()


def reopen_all() -> None:
    """Open every log file of this process anew, and $CONSOLE_OUTPUT_FILE, where the output of a process in the background goes."""
    for handler in {id(handler): handler for logger in _loggers() for handler in logger.handlers}.values():
        if isinstance(handler, LogFile):
            handler.reopen()
    console = os.environ.get("CONSOLE_OUTPUT_FILE")
    if console:
        redirect_output(Path(console))


def has_terminal() -> bool:
    """Whether this process belongs to a terminal, so that SIGHUP means its end."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _loggers() -> list[logging.Logger]:
    named = [logger for logger in logging.root.manager.loggerDict.values() if isinstance(logger, logging.Logger)]
    return [logging.root, *named]


def redirect_output(path: Path) -> None:
    """Send standard output and error to the file that now has this name. Where it cannot be opened, they stay where they are."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        with path.open("ab") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
    except OSError as error:
        logging.getLogger("kafka.Kafka").warning("Cannot open %s anew, its output stays where it is: %s", path, error.strerror)
