"""Which fetcher fetches which partition: `num.replica.fetchers` of them for each broker that we follow (facts/coordination.md 4.2).

Mirrors kafka.server.ReplicaFetcherManager.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.clock import Clock
from pykafka_classic.common.java import abs_java, string_hash, to_int32
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.network import Network
from pykafka_classic.server.fetcher_loop import FetcherLoop
from pykafka_classic.server.fetcher_settings import FetcherSettings
from pykafka_classic.server.partition_fetch_state import InitialFetchState
from pykafka_classic.server.replica_fetcher import ReplicaFetcher

log = logging.getLogger("kafka.server.ReplicaFetcherManager")


class FetcherManager:
    """All fetchers of a broker. Invariant: a partition is with one fetcher at most; every fetcher has partitions, until `shutdown_idle`."""

    def __init__(self, settings: FetcherSettings, network: Network, clock: Clock) -> None:
        self._settings = settings
        self._network = network
        self._clock = clock
        self._loops: dict[tuple[Node, int], FetcherLoop] = {}
        self._count = settings.config.num_replica_fetchers

    def resize(self, count: int) -> None:
        """So many fetchers for each source broker from now on; partitions go to their new ones."""
        if count == self._count:
            return
        self._count = count
        moving = {
            topic_partition: InitialFetchState(leader, state.current_leader_epoch, state.fetch_offset)
            for (leader, fetcher_id), loop in self._loops.items()
            for topic_partition, state in loop.fetcher.states.items()
            if fetcher_id != self.fetcher_id(topic_partition)
        }
        self.remove_partitions(moving)
        self.add_partitions(moving)
        self.shutdown_idle()

    def fetcher_id(self, topic_partition: TopicPartition) -> int:
        """Java's arithmetic, so that a partition is with the same fetcher as in Kafka."""
        number = to_int32(31 * string_hash(topic_partition.topic) + topic_partition.partition)
        return abs_java(number) % self._count

    def add_partitions(self, initial: Mapping[TopicPartition, InitialFetchState]) -> None:
        """Begin to fetch; the partitions must be with no other fetcher."""
        by_loop: dict[tuple[Node, int], dict[TopicPartition, InitialFetchState]] = {}
        for topic_partition, begin in initial.items():
            by_loop.setdefault((begin.leader, self.fetcher_id(topic_partition)), {})[topic_partition] = begin
        for key, partitions in by_loop.items():
            self._settings.failed_partitions.difference_update(partitions)
            loop = self._loops.get(key)
            if loop is None:
                loop = self._loops[key] = self._make(*key)
                loop.fetcher.add_partitions(partitions)
                loop.start()
            else:
                loop.fetcher.add_partitions(partitions)
                loop.wake()
        if initial:
            log.info(
                "[ReplicaFetcherManager on broker %d] Added fetcher for %d partitions: %s", self._settings.config.broker_id, len(initial), _listed(initial)
            )

    def remove_partitions(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Stop fetching these."""
        gone = list(topic_partitions)
        for loop in self._loops.values():
            loop.fetcher.remove_partitions(gone)
        self._settings.failed_partitions.difference_update(gone)
        if gone:
            log.info("[ReplicaFetcherManager on broker %d] Removed fetcher for partitions %s", self._settings.config.broker_id, _listed(gone))

    def shutdown_idle(self) -> None:
        """Drop fetchers that have nothing left to fetch."""
        for key in [key for key, loop in self._loops.items() if not loop.fetcher.states]:
            self._loops.pop(key).stop()

    def shutdown(self) -> None:
        """Drop all."""
        loops, self._loops = self._loops, {}
        for loop in loops.values():
            loop.stop()

    def _make(self, leader: Node, fetcher_id: int) -> FetcherLoop:
        client_id = f"broker-{self._settings.config.broker_id}-fetcher-{fetcher_id}"
        channel = self._network.channel(leader.host, leader.port, client_id=client_id)
        return FetcherLoop(ReplicaFetcher(self._settings, leader.id, fetcher_id), channel, self._clock, self._settings)


def _listed(topic_partitions: Iterable[TopicPartition]) -> str:
    names = [str(topic_partition) for topic_partition in topic_partitions]
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
