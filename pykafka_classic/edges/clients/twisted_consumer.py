"""The consumer for programs that live on a Twisted reactor.

    from twisted.internet import reactor
    from pykafka_classic.clients import TwistedConsumer

    async def main() -> None:
        consumer = TwistedConsumer(reactor, "localhost:9092", group_id="radar", auto_offset_reset="earliest")
        await consumer.start()
        await consumer.subscribe(["flights"])
        for record in await consumer.poll(timeout_ms=1000):
            print(record.partition, record.offset, record.value)
        await consumer.close()

As with the blocking one, a rebalance goes on only while a `poll` is under way or returns, and one `poll` runs at a time. Rebalance callbacks may return
Deferreds or coroutines; the group waits for them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, ensureDeferred, maybeDeferred
from twisted.python.failure import Failure

from pykafka_classic.client.client_errors import IllegalState
from pykafka_classic.client.client_settings import settings_of
from pykafka_classic.client.cluster_metadata import TopicInfo
from pykafka_classic.client.consuming.consumer_core import ConsumerCore
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.consuming.offset_lookup import FoundOffset
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.starts import Start, Word, parse_start
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.seams import make_seams
from pykafka_classic.edges.clients.told_listener import Told, ToldListener
from pykafka_classic.edges.deferreds import as_deferred
from pykafka_classic.edges.reactor import Reactor

T = TypeVar("T")

PartitionName = tuple[str, int]


class _Listener(ToldListener):
    def call(self, told: Told, partitions: tuple[TopicPartition, ...]) -> Promise[None]:
        """On the reactor's thread, which this is; waits for Deferreds and coroutines."""
        done = Promise[None]()

        def failed(failure: Failure) -> None:
            assert failure.value is not None
            done.fail(failure.value)

        maybeDeferred(_run, told, partitions).addCallbacks(lambda _: done.resolve(None), failed)
        return done


def _run(told: Told, partitions: tuple[TopicPartition, ...]) -> Any:
    outcome = told(partitions)
    return ensureDeferred(outcome) if hasattr(outcome, "send") else outcome


class TwistedConsumer:
    """Reads records, all on the reactor's thread. The settings and errors are those of `Consumer`."""

    def __init__(self, reactor: Any, bootstrap_servers: str, **settings: Any) -> None:
        self.settings = settings_of(ConsumerSettings, {"bootstrap_servers": bootstrap_servers, **settings})
        owned: Reactor = reactor
        seams, self._background = make_seams(owned)
        self._core = ConsumerCore(self.settings, seams)
        self._polling = False

    def start(self) -> Deferred[None]:
        """Find the cluster. NoBrokers."""
        return as_deferred(spawn(self._core.start()))

    def subscribe(
        self, topics: Collection[str] | str, *, on_assigned: Told | None = None, on_revoked: Told | None = None, on_lost: Told | None = None
    ) -> Deferred[None]:
        """Read topics as a member of the group; a text that begins with ^ is a regular expression. IllegalState."""
        pattern = None
        if isinstance(topics, str):
            pattern = re.compile(topics.removeprefix("^").removesuffix("$")) if topics.startswith("^") else None
            topics = () if pattern is not None else (topics,)
        return as_deferred(spawn(self._core.subscribe(topics, pattern, _Listener({"assigned": on_assigned, "revoked": on_revoked, "lost": on_lost}))))

    def assign(self, partitions: Iterable[PartitionName]) -> Deferred[None]:
        """Read these partitions, whatever others do. KafkaError where there is no such partition."""
        return as_deferred(spawn(self._core.assign(_named(partitions))))

    def unsubscribe(self) -> Deferred[None]:
        """Read nothing; leave the group."""
        return as_deferred(spawn(self._core.unsubscribe()))

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that it reads at this moment."""
        return frozenset(self._core.assigned)

    def poll(self, *, timeout_ms: float = 0, max_records: int | None = None) -> Deferred[list[ConsumerRecord]]:
        """Fires with the next records as soon as there are any; with none after `timeout_ms`. Fails as `Consumer.poll` does."""
        if self._polling:
            return as_deferred(Promise[list[ConsumerRecord]].failed(IllegalState("the last poll has not ended")))
        self._polling = True
        polled = spawn(self._core.poll(timeout_ms, max_records))
        polled.when_settled(self._polled)
        return as_deferred(polled)

    def wakeup(self) -> None:
        """End the poll that waits, or the next one, without records."""
        self._core.wake()

    def seek(self, partition: PartitionName, offset: int) -> None:
        """Read on from there. IllegalState where the partition is not assigned."""
        self._core.seek(TopicPartition(*partition), offset)

    def seek_to(self, start: str | Start, partitions: Iterable[PartitionName] = ()) -> None:
        """Read on from one of the four starts (see `client.starts`), in these partitions or in all. IllegalState, InvalidSetting."""
        wanted = parse_start(start) if isinstance(start, str) else start
        self._core.seek_to(None if wanted is Word.COMMITTED else wanted, _named(partitions))

    def position(self, partition: PartitionName) -> Deferred[int]:
        """The offset of the next record. IllegalState, NoOffset, ClientTimeout."""
        return as_deferred(spawn(self._core.position(TopicPartition(*partition))))

    def pause(self, *partitions: PartitionName) -> None:
        """Hand out no records of these until `resume`."""
        self._core.pause(_named(partitions), paused=True)

    def resume(self, *partitions: PartitionName) -> None:
        """Hand them out again."""
        self._core.pause(_named(partitions), paused=False)

    def commit(self, offsets: Mapping[PartitionName, OffsetAndMetadata | int] | None = None) -> Deferred[None]:
        """Store that everything before these offsets (None: everything handed out) is done. CommitFailed, RebalanceInProgress, IllegalState, KafkaError."""
        if offsets is None:
            return as_deferred(spawn(self._core.commit()))
        wanted = {TopicPartition(*partition): each if isinstance(each, OffsetAndMetadata) else OffsetAndMetadata(each) for partition, each in offsets.items()}
        return as_deferred(spawn(self._core.commit(wanted)))

    def committed(self, partitions: Iterable[PartitionName]) -> Deferred[dict[TopicPartition, OffsetAndMetadata]]:
        """What the group has committed, of those partitions where it has."""
        return as_deferred(spawn(self._core.committed(_named(partitions))))

    def offsets_for_times(self, times: Mapping[PartitionName, int]) -> Deferred[dict[TopicPartition, FoundOffset | None]]:
        """For each partition the first record with that time (ms since the epoch) or a later one; None where there is none."""
        return as_deferred(spawn(self._core.offsets_for_times({TopicPartition(*partition): time for partition, time in times.items()})))

    def beginning_offsets(self, partitions: Iterable[PartitionName]) -> Deferred[dict[TopicPartition, int]]:
        """The offset of the first record of each, or of the next one where there is none."""
        return as_deferred(spawn(self._core.beginning_offsets(_named(partitions))))

    def end_offsets(self, partitions: Iterable[PartitionName]) -> Deferred[dict[TopicPartition, int]]:
        """The offset after the last record of each that this consumer may see."""
        return as_deferred(spawn(self._core.end_offsets(_named(partitions))))

    def offsets_of(self, start: str | Start, partitions: Iterable[PartitionName]) -> Deferred[dict[TopicPartition, int]]:
        """Where one of the four starts would begin. Partitions that nothing says anything about are left out."""
        return as_deferred(spawn(self._core.offsets_of(parse_start(start) if isinstance(start, str) else start, _named(partitions))))

    def topic(self, name: str) -> Deferred[TopicInfo]:
        """A topic and its partitions. KafkaError."""
        return as_deferred(spawn(self._core.topic(name)))

    def close(self, *, timeout_ms: float = 30_000) -> Deferred[None]:
        """Commit (with auto-commit), leave the group."""
        closing = spawn(self._core.close(timeout_ms=timeout_ms))
        closing.when_settled(lambda _: self._background.close())
        return as_deferred(closing)

    def _polled(self, _: Promise[list[ConsumerRecord]]) -> None:
        self._polling = False


def _named(partitions: Iterable[PartitionName]) -> list[TopicPartition]:
    return [TopicPartition(*each) for each in partitions]
