"""Reads on in the events.log of a broker of this machine: what is new, twice a second, over files that are rolled, and from where it stopped before a restart.

The place is stored in the same transaction as the events that were read up to it, so that none is read twice, and none is lost.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from pykafka_classic.common.clock import Clock
from pykafka_classic.monitor.collector.event_lines import rows_of
from pykafka_classic.monitor.store.rows import EventPosition, EventRow

log = logging.getLogger("kafka.monitor.Events")

LOOK_MS: Final = 500
TURN_BYTES: Final = 256 * 1024  # read in one turn of the reactor
OLD_BYTES: Final = 4 * 1024 * 1024  # of a file that is read for the first time: so much of its end
ROLLED_MAX: Final = 20  # events.log.1 ... that are looked for


class EventFile:
    """One broker's file.

    Args:
        broker: whose it is.
        path: of the file; it may come later.
        position: where an earlier life stopped; None: this is the first.
        on_rows: told of what was read, with the place up to which.
    """

    def __init__(
        self, broker: int, path: Path, position: EventPosition | None, clock: Clock, on_rows: Callable[[Sequence[EventRow], EventPosition], None]
    ) -> None:
        self._broker = broker
        self._path = path
        self._position = position
        self._clock = clock
        self._on_rows = on_rows
        self._file: BinaryIO | None = None
        self._rest = b""  # a line that is not complete yet
        self._running = False
        self._complained = False

    def start(self) -> None:
        """Begin to look."""
        self._running = True
        self._look()

    def stop(self) -> None:
        """Look no longer."""
        self._running = False
        if self._file is not None:
            self._file.close()
            self._file = None

    def _look(self) -> None:
        if not self._running:
            return
        more = False
        try:
            more = self._read_on()
            self._complained = False
        except OSError as error:
            if not self._complained:
                log.warning("Events of broker %d cannot be read: %s", self._broker, error)
            self._complained = True
        self._clock.call_later(0 if more else LOOK_MS, self._look)

    def _read_on(self) -> bool:
        """Read a turn's share; True where there is more."""
        if self._file is None and not self._open_first():
            return False
        assert self._file is not None
        data = self._file.read(TURN_BYTES)
        if data:
            self._take(data)
            return len(data) == TURN_BYTES
        return self._follow_the_name()

    def _take(self, data: bytes) -> None:
        assert self._file is not None
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        rows = [row for line in lines for row in rows_of(line)]
        self._position = EventPosition(self._broker, os.fstat(self._file.fileno()).st_ino, self._file.tell() - len(self._rest))
        if rows:
            self._on_rows(rows, self._position)

    def _follow_the_name(self) -> bool:
        """At the end of the file: True where the name belongs to another one by now, or the file was emptied."""
        assert self._file is not None
        mine = os.fstat(self._file.fileno())
        newer = self._newer_than(mine.st_ino)
        if newer is not None:
            self._open(newer, 0)
            return True
        if mine.st_size < self._file.tell():
            self._file.seek(0)
            self._rest = b""
            return True
        return False

    def _newer_than(self, inode: int) -> Path | None:
        """The file that follows this one: of events.log.2 it is events.log.1; None where it is the newest, or its name is gone for now."""
        names = self._files()
        inodes = [path.stat().st_ino for path in names]
        if not names or inodes[-1] == inode:
            return None
        return names[inodes.index(inode) + 1] if inode in inodes else names[-1]

    def _files(self) -> list[Path]:
        """The oldest first."""
        rolled = [self._path.with_name(f"{self._path.name}.{number}") for number in range(ROLLED_MAX, 0, -1)]
        return [path for path in (*rolled, self._path) if path.exists()]

    def _open_first(self) -> bool:
        """Where it stopped; else near the end of the present file."""
        for path in self._files():
            if self._position is not None and path.stat().st_ino == self._position.inode and path.stat().st_size >= self._position.offset:
                self._open(path, self._position.offset)
                return True
        if not self._path.exists():
            return False
        self._open(self._path, max(0, self._path.stat().st_size - OLD_BYTES) if self._position is None else 0)
        return True

    def _open(self, path: Path, offset: int) -> None:
        if self._file is not None:
            self._file.close()
        self._file = path.open("rb")
        self._file.seek(offset)
        self._rest = b""
