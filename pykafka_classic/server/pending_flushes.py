"""What a follower has appended and must have on disk before it says so: its next Fetch tells the leader that it has the records (flush.messages)."""

from __future__ import annotations

import logging

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import spawn
from pykafka_classic.log.log import Log

log = logging.getLogger("kafka.server.ReplicaFetcherThread")


class PendingFlushes:
    """Of one fetcher, from one Fetch to the next."""

    def __init__(self) -> None:
        self._logs: list[Log] = []

    def note(self, appended: Log) -> None:
        """Records were appended; whether they have to be synced is the topic's to say."""
        if appended.must_flush:
            self._logs.append(appended)

    async def done(self) -> None:
        """Wait until all is on disk. A disk that fails takes its partitions out of the fetcher by itself."""
        logs, self._logs = self._logs, []
        for flushing in [spawn(each.flusher.flush_until(each.log_end_offset)) for each in logs]:
            try:
                await flushing
            except KafkaError as error:
                log.error("%s", error)
