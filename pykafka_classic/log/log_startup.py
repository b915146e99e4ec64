"""Loading all logs of one log dir, some of them at a time in the background.

Differs from Kafka: directories marked for deletion are not loaded before they are removed.

Source: facts/storage.md 7; LogManager.scala (loadLogs).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_directory import DirectoryContents, LogDirectory
from pykafka_classic.log.log_loader import LoadedLog, LoadRequest, load_log
from pykafka_classic.log.log_services import LogServices
from pykafka_classic.log.names import DirectoryKind

CHUNK: Final = 32  # logs loaded in one go of a background thread

log = logging.getLogger("kafka.log.LogManager")

Entry = tuple[str, TopicPartition, DirectoryKind]


@dataclass(slots=True)
class DirectoryLoad:
    """What loading one log dir takes."""

    directory: LogDirectory
    services: LogServices
    config_of: Callable[[str], LogConfig]  # by topic
    add: Callable[[Log, DirectoryKind, int], None]  # a loaded log, what it is, its high watermark by the checkpoint
    remove_later: Callable[[str, str], None]  # a directory marked for deletion, its log dir
    threads: int


async def load_directory(load: DirectoryLoad) -> None:
    """Load one log dir; a failing disk takes it offline. Anything else that is wrong (locked, strange directories) is raised."""
    try:
        contents = await load.services.background.run(load.directory.open)
        for name, _, kind in contents.logs:
            if kind is DirectoryKind.DELETE:
                load.remove_later(load.directory.file(name), load.directory.path)
        entries = iter([entry for entry in contents.logs if entry[2] is not DirectoryKind.DELETE])
        await gather([spawn(_load_some(load, contents, entries)) for _ in range(load.threads)])
    except OSError as error:
        log.error("Error while loading log dir %s: %s", load.directory.path, error)
        load.services.on_storage_error(load.directory.path, error)


async def _load_some(load: DirectoryLoad, contents: DirectoryContents, entries: Iterator[Entry]) -> None:
    while chunk := [entry for _, entry in zip(range(CHUNK), entries, strict=False)]:
        requests = [_request(load, contents, entry) for entry in chunk]
        for (_, partition, kind), request, loaded in zip(chunk, requests, await load.services.background.run(_Work(load.services, requests)), strict=True):
            one = Log(load.services, request.directory, partition, request.config, loaded)
            load.add(one, kind, contents.high_watermarks.get(partition, 0))
            log.info("Completed load of %s with %d segments, logEndOffset=%d", one, len(one.segments), one.log_end_offset)


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


class _Work:
    """One background job: a few logs, one after the other."""

    def __init__(self, services: LogServices, requests: list[LoadRequest]) -> None:
        self._services = services
        self._requests = requests

    def __call__(self) -> list[LoadedLog]:
        return [load_log(self._services, request) for request in self._requests]
