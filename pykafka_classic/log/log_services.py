"""What every log of a broker shares: the seams, and whom to tell when something happens.

One value instead of eight parameters; the log manager makes it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from pykafka_classic.common.clock import Background, Clock, Random
from pykafka_classic.log.deferred_writer import DeferredWriter
from pykafka_classic.log.file_system import FileSystem
from pykafka_classic.log.open_files import OpenFiles

PRODUCER_EXPIRATION_MS: Final = 7 * 24 * 3_600_000


def _ignore(*_: object) -> None:
    """For logs without a manager."""


@dataclass(frozen=True, slots=True)
class LogSeams:
    """The world as logs see it."""

    file_system: FileSystem
    clock: Clock
    background: Background
    random: Random


@dataclass(slots=True)
class LogServices:
    """Seams and listeners, shared by all logs of a broker."""

    file_system: FileSystem
    clock: Clock
    background: Background
    random: Random
    producer_expiration_ms: int = PRODUCER_EXPIRATION_MS  # transactional.id.expiration.ms
    topic_ids: bool = True  # inter.broker.protocol.version >= 2.8: partition.metadata is kept
    zstd_allowed: bool = True  # inter.broker.protocol.version >= 2.1
    on_storage_error: Callable[[str, OSError], None] = _ignore  # (log dir or a directory in it, error): the log dir is to be taken offline
    on_truncated: Callable[[str], None] = _ignore  # (log dir): its recovery points on disk may lie too high now
    open_files: OpenFiles = field(default_factory=OpenFiles)
    writer: DeferredWriter = field(init=False)

    def __post_init__(self) -> None:
        self.writer = DeferredWriter(self.file_system, self.background, self._write_failed)

    def _write_failed(self, path: str, error: OSError) -> None:
        self.on_storage_error(posixpath.dirname(path), error)
