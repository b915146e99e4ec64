"""Loading all logs of one log dir, some of them at a time in the background; one line a log, and one at the end, say how far it is and how long it took.

`num.recovery.threads.per.data.dir` jobs run at the same time. After a clean stop each takes several logs at once, for there is little to do; after an unclean
one each takes one, so that the work is spread evenly.

Differs from Kafka: directories marked for deletion are not loaded before they are removed.

Source: facts/storage.md 7; LogManager.scala (loadLogs).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_directory import DirectoryContents, LogDirectory
from pykafka_classic.log.log_loader import LoadedLog, LoadRequest, load_log
from pykafka_classic.log.log_services import LogServices
from pykafka_classic.log.names import DirectoryKind

CHUNK: Final = 32  # logs loaded in one go of a background thread after a clean stop

log = logging.getLogger("kafka.log.LogManager")

Entry = tuple[str, TopicPartition, DirectoryKind]


@dataclass(slots=True)
class Totals:
    """How far the loading of a log dir has come."""

    logs: int = 0  # to be loaded
    loaded: int = 0
    segments_recovered: int = 0
    bytes_recovered: int = 0
    bytes_cut: int = 0

    def add(self, loaded: LoadedLog) -> None:
        """One log more."""
        self.loaded += 1
        self.segments_recovered += loaded.recovery.segments
        self.bytes_recovered += loaded.recovery.bytes
        self.bytes_cut += loaded.recovery.bytes_cut

    def __str__(self) -> str:
        if not self.segments_recovered:
            return f"{self.loaded} logs"
        recovered = f"recovered {self.segments_recovered} segments with {self.bytes_recovered / 1_000_000:.1f} MB, cut off {self.bytes_cut} bytes"
        return f"{self.loaded} logs ({recovered})"


@dataclass(slots=True)
class DirectoryLoad:
    """What loading one log dir takes."""

    directory: LogDirectory
    services: LogServices
    config_of: Callable[[str], LogConfig]  # by topic
    add: Callable[[Log, DirectoryKind, int], None]  # a loaded log, what it is, its high watermark by the checkpoint
    remove_later: Callable[[str, str], None]  # a directory marked for deletion, its log dir
    threads: int
    totals: Totals = field(default_factory=Totals)


async def load_directory(load: DirectoryLoad) -> None:
    """Load one log dir; a failing disk takes it offline. Anything else that is wrong (locked, strange directories) is raised."""
    path, clock = load.directory.path, load.services.clock
    started_ms = clock.monotonic_ms()
    try:
        contents = await load.services.background.run(load.directory.open)
        for name, _, kind in contents.logs:
            if kind is DirectoryKind.DELETE:
                load.remove_later(load.directory.file(name), path)
        entries = [entry for entry in contents.logs if entry[2] is not DirectoryKind.DELETE]
        load.totals.logs = len(entries)
        remaining = iter(entries)
        await gather([spawn(_load_some(load, contents, remaining)) for _ in range(load.threads)])
    except OSError as error:
        log.error("Error while loading log dir %s: %s", path, error)
        load.services.on_storage_error(path, error)
        return
    log.info("Loaded %s in %s in %dms with %d threads", load.totals, path, clock.monotonic_ms() - started_ms, load.threads)


async def _load_some(load: DirectoryLoad, contents: DirectoryContents, entries: Iterator[Entry]) -> None:
    while chunk := list(islice(entries, CHUNK if contents.clean else 1)):
        requests = [_request(load, contents, entry) for entry in chunk]
        for (_, partition, kind), request, done in zip(chunk, requests, await load.services.background.run(_Work(load.services, requests)), strict=True):
            one = Log(load.services, request.directory, partition, request.config, done.loaded)
            load.add(one, kind, contents.high_watermarks.get(partition, 0))
            load.totals.add(done.loaded)
            log.info(
                "Completed load of %s with %d segments, logEndOffset=%d in %dms (%d/%d loaded in %s)",
                one, len(one.segments), one.log_end_offset, done.duration_ms, load.totals.loaded, load.totals.logs, load.directory.path,
            )  # fmt: skip


def _request(load: DirectoryLoad, contents: DirectoryContents, entry: Entry) -> LoadRequest:
    name, partition, _ = entry
    return LoadRequest(
        load.directory.file(name),
        partition,
        load.config_of(partition.topic),
        clean=contents.clean,
        recovery_point=contents.recovery_points.get(partition, 0),
        log_start_offset=contents.log_start_offsets.get(partition, 0),
    )


class _Done(NamedTuple):
    """One log, and how long it took."""

    loaded: LoadedLog
    duration_ms: float


class _Work:
    """One background job: a few logs, one after the other."""

    def __init__(self, services: LogServices, requests: list[LoadRequest]) -> None:
        self._services = services
        self._requests = requests

    def __call__(self) -> list[_Done]:
        return [self._load(request) for request in self._requests]

    def _load(self, request: LoadRequest) -> _Done:
        started_ms = self._services.clock.monotonic_ms()
        loaded = load_log(self._services, request)
        return _Done(loaded, self._services.clock.monotonic_ms() - started_ms)
