"""The blocking `Consumer`.

    from pykafka_classic.clients import Consumer

    with Consumer("localhost:9092", group_id="radar", auto_offset_reset="earliest") as consumer:
        consumer.subscribe(["flights"])
        for record in consumer:
            print(record.partition, record.offset, record.value)

    with Consumer("localhost:9092", start="-10") as consumer:       # the last ten records of each partition, without a group
        consumer.assign([("flights", 0), ("flights", 1)])
        records = consumer.poll(timeout_ms=1000)

A record counts as consumed when it was handed out: by `poll` all at once, by iteration one by one. Rebalance callbacks run in the thread that calls `poll`
(or iterates, or closes), and may commit. Use one consumer from one thread; `wakeup` alone may be called from others.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from pykafka_classic.client.client_settings import keywords_of, settings_of
from pykafka_classic.client.cluster_metadata import TopicInfo
from pykafka_classic.client.consuming.assigned_partitions import Position
from pykafka_classic.client.consuming.consumer_core import ConsumerCore
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.consuming.offset_lookup import FoundOffset
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.client.group_metadata import GroupMetadata
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.starts import Start, Word, parse_start
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.client_thread import ClientThread
from pykafka_classic.edges.clients.seams import make_seams
from pykafka_classic.edges.clients.told_listener import Told
from pykafka_classic.edges.clients.user_calls import UserCalls

T = TypeVar("T")

ITERATION_POLL_MS: Final = 1_000
CLOSE_TIMEOUT_MS: Final = 30_000

PartitionName = tuple[str, int]


class Consumer:
    """Reads records: as a member of a group (`subscribe`) or partitions by hand (`assign`). Also a context manager, and an iterator that never ends by itself.

    Args:
        bootstrap_servers: host:port,host:port,...: some brokers of the cluster.
        settings: see `ConsumerSettings`; names as there (`group_id`), values as there, or as text. `start`: see `client.starts`.

    Raises:
        NoBrokers: nobody at those addresses is a broker; the text says what is there instead.
        InvalidSetting: for a setting that there is not, or a value that means nothing.
    """

    def __init__(self, bootstrap_servers: str, **settings: Any) -> None:
        self.settings = settings_of(ConsumerSettings, {"bootstrap_servers": bootstrap_servers, **settings})
        self._thread = ClientThread.shared()
        seams, self._background = make_seams(self._thread.reactor)
        self._core = ConsumerCore(self.settings, seams)
        self._calls = UserCalls(self._thread)
        self._pending: deque[ConsumerRecord] = deque()  # polled for an iteration, not handed out yet
        self._closed = False
        try:
            self._calls.call(lambda: spawn(self._core.start()))
        except BaseException:
            self._thread.call_soon(self._core.cluster.close)
            self._background.close()
            raise

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Self:
        """A consumer from Kafka's own keys: `{"bootstrap.servers": "localhost:9092", "group.id": "radar"}`."""
        return cls(**keywords_of(properties))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # What to read

    def subscribe(
        self,
        topics: Collection[str] | str,
        *,
        on_assigned: Told | None = None,
        on_revoked: Told | None = None,
        on_lost: Told | None = None,
    ) -> None:
        """Read topics as a member of the group. The partitions come during the next polls.

        Args:
            topics: their names; or one text beginning with ^, a regular expression that must match the whole name.
            on_assigned: called with the partitions that are new; may be none.
            on_revoked: called with the partitions that are about to be given up; their offsets may be committed here.
            on_lost: called with partitions that others own already, for the group has gone on without us; `on_revoked` where it is not given.

        Raises:
            IllegalState: there is no group, or partitions were assigned by hand.
        """
        pattern = None
        if isinstance(topics, str):
            pattern = re.compile(topics.removeprefix("^").removesuffix("$")) if topics.startswith("^") else None
            topics = () if pattern is not None else (topics,)
        listener = self._calls.listener({"assigned": on_assigned, "revoked": on_revoked, "lost": on_lost})
        self._calls.call(lambda: spawn(self._core.subscribe(topics, pattern, listener)))

    def assign(self, partitions: Iterable[PartitionName], *, patience_ms: float | None = None) -> None:
        """Read these partitions, whatever others do. Those assigned before go on where they are.

        KafkaError where there is no such partition; with `patience_ms`, where none comes in that time either.
        """
        wanted = _named(partitions)
        self._calls.call(lambda: spawn(self._core.assign(wanted, patience_ms=patience_ms)))

    def unsubscribe(self) -> None:
        """Read nothing; leave the group."""
        self._give_back()
        self._calls.call(lambda: spawn(self._core.unsubscribe()))

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that it reads at this moment."""
        return self._thread.get(lambda: frozenset(self._core.assigned))

    # Records

    def poll(self, *, timeout_ms: float = 0, max_records: int | None = None) -> list[ConsumerRecord]:
        """The next records, as soon as there are any, partition by partition; none where none comes in time, or `wakeup` was called.

        Raises:
            NoOffset: there is nothing to begin at, and `auto_offset_reset` is none.
            LogTruncated: what was read is not in the log any more, and `auto_offset_reset` is none.
            CorruptRecord: the checksum of the next batch is wrong; `seek` beyond it to go on.
            KafkaError, IllegalState: the text says why.
        """
        if self._pending:
            records = list(self._pending)
            self._pending.clear()
            return records
        return self._poll(timeout_ms, max_records)

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """All records, waiting for those to come."""
        while not self._closed:
            if not self._pending:
                self._pending.extend(self._poll(ITERATION_POLL_MS, None))
            while self._pending:
                yield self._pending.popleft()

    def until_idle(self, idle_ms: float) -> Iterator[ConsumerRecord]:
        """All records; ends when none has come for so long."""
        while True:
            if not self._pending:
                self._pending.extend(self._poll(idle_ms, None))
            if not self._pending:
                return
            while self._pending:
                yield self._pending.popleft()

    def wakeup(self) -> None:
        """From any thread: end the poll that waits, or the next one, without records."""
        self._thread.call_soon(self._core.wake)

    # Positions

    def seek(self, partition: PartitionName, offset: int) -> None:
        """Read on from there. IllegalState where the partition is not assigned."""
        name = TopicPartition(*partition)
        self._pending = deque(each for each in self._pending if (each.topic, each.partition) != name)
        self._thread.get(lambda: self._core.seek(name, offset))

    def seek_to(self, start: str | Start, partitions: Iterable[PartitionName] = ()) -> None:
        """Read on from one of the four starts (see `client.starts`), in these partitions or in all. IllegalState, InvalidSetting."""
        wanted, names = parse_start(start) if isinstance(start, str) else start, _named(partitions)
        self._pending = deque(each for each in self._pending if names and (each.topic, each.partition) not in names)
        self._thread.get(lambda: self._core.seek_to(None if wanted is Word.COMMITTED else wanted, names))

    def seek_to_beginning(self, *partitions: PartitionName) -> None:
        """`seek_to("earliest")`."""
        self.seek_to(Word.EARLIEST, partitions)

    def seek_to_end(self, *partitions: PartitionName) -> None:
        """`seek_to("latest")`."""
        self.seek_to(Word.LATEST, partitions)

    def position(self, partition: PartitionName) -> int:
        """The offset of the next record that is handed out. IllegalState, NoOffset, ClientTimeout."""
        name = TopicPartition(*partition)
        pending = self._first_pending().get(name)
        return pending.offset if pending is not None else self._calls.call(lambda: spawn(self._core.position(name)))

    def pause(self, *partitions: PartitionName) -> None:
        """Hand out no records of these until `resume`."""
        names = _named(partitions)
        self._give_back()
        self._thread.get(lambda: self._core.pause(names, paused=True))

    def resume(self, *partitions: PartitionName) -> None:
        """Hand them out again."""
        names = _named(partitions)
        self._thread.get(lambda: self._core.pause(names, paused=False))

    # Commits

    def commit(self, offsets: Mapping[PartitionName, OffsetAndMetadata | int] | None = None) -> None:
        """Store that everything before these offsets (None: everything handed out) is done, and wait until that is sure.

        Raises:
            CommitFailed: the group has gone on without this member.
            RebalanceInProgress: may be tried again after the next `poll`.
            IllegalState, KafkaError, ClientTimeout: the text says why.
        """
        wanted = self._to_commit(offsets)
        self._calls.call(lambda: spawn(self._core.commit(wanted)))

    def commit_async(
        self, offsets: Mapping[PartitionName, OffsetAndMetadata | int] | None = None, *, on_done: Callable[[Exception | None], object] | None = None
    ) -> None:
        """As `commit`, without waiting; `on_done` is called on the clients' thread with the error, or None."""
        wanted = self._to_commit(offsets)

        def done(commit: Promise[None]) -> None:
            error = commit.error()
            if on_done is not None:
                on_done(error if isinstance(error, Exception) else None)

        self._thread.call_soon(lambda: spawn(self._core.commit(wanted)).when_settled(done))

    def group_metadata(self) -> GroupMetadata:
        """For `Producer.send_offsets_to_transaction`: on whose behalf, and in which generation of the group. IllegalState without a group."""
        return self._thread.get(self._core.group_metadata)

    def committed(self, partitions: Iterable[PartitionName]) -> dict[TopicPartition, OffsetAndMetadata]:
        """What the group has committed, of those partitions where it has. IllegalState, KafkaError, ClientTimeout."""
        names = _named(partitions)
        return self._calls.call(lambda: spawn(self._core.committed(names)))

    # Questions

    def offsets_for_times(self, times: Mapping[PartitionName, int]) -> dict[TopicPartition, FoundOffset | None]:
        """For each partition the first record with that time (ms since the epoch) or a later one; None where there is none."""
        wanted = {TopicPartition(*partition): time for partition, time in times.items()}
        return self._calls.call(lambda: spawn(self._core.offsets_for_times(wanted)))

    def beginning_offsets(self, partitions: Iterable[PartitionName]) -> dict[TopicPartition, int]:
        """The offset of the first record of each, or of the next one where there is none."""
        names = _named(partitions)
        return self._calls.call(lambda: spawn(self._core.beginning_offsets(names)))

    def end_offsets(self, partitions: Iterable[PartitionName]) -> dict[TopicPartition, int]:
        """The offset after the last record of each that this consumer may see."""
        names = _named(partitions)
        return self._calls.call(lambda: spawn(self._core.end_offsets(names)))

    def offsets_of(self, start: str | Start, partitions: Iterable[PartitionName]) -> dict[TopicPartition, int]:
        """Where one of the four starts would begin. Partitions that nothing says anything about are left out."""
        wanted, names = parse_start(start) if isinstance(start, str) else start, _named(partitions)
        return self._calls.call(lambda: spawn(self._core.offsets_of(wanted, names)))

    def topic(self, name: str) -> TopicInfo:
        """A topic and its partitions. KafkaError."""
        return self._calls.call(lambda: spawn(self._core.topic(name)))

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        """All partitions of a topic. KafkaError."""
        return [TopicPartition(topic, number) for number in sorted(self.topic(topic).partitions)]

    def close(self, *, timeout_ms: float = CLOSE_TIMEOUT_MS) -> None:
        """Commit (with auto-commit) what was handed out, leave the group. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._give_back()
        try:
            self._calls.call(lambda: spawn(self._core.close(timeout_ms=timeout_ms)))
        finally:
            self._background.close()

    # inside

    def _poll(self, timeout_ms: float, max_records: int | None) -> list[ConsumerRecord]:
        taken: list[list[ConsumerRecord]] = []

        async def poll() -> list[ConsumerRecord]:
            records = await self._core.poll(timeout_ms, max_records)
            taken.append(records)
            return records

        try:
            return self._calls.call(lambda: spawn(poll()), interrupt=self._core.wake)
        except BaseException:
            # Interrupted (Ctrl-C) while it waited: what comes nevertheless is for the next call.
            self._pending.extend(record for records in taken for record in records)
            raise

    def _first_pending(self) -> dict[TopicPartition, ConsumerRecord]:
        """The next record to hand out, of the partitions of which some are at hand."""
        return {TopicPartition(each.topic, each.partition): each for each in reversed(self._pending)}

    def _to_commit(self, offsets: Mapping[PartitionName, OffsetAndMetadata | int] | None) -> dict[TopicPartition, OffsetAndMetadata]:
        if offsets is not None:
            return {TopicPartition(*partition): each if isinstance(each, OffsetAndMetadata) else OffsetAndMetadata(each) for partition, each in offsets.items()}
        positions = self._thread.get(self._core.assigned.positions)
        for partition, record in self._first_pending().items():
            if partition in positions:
                positions[partition] = OffsetAndMetadata(record.offset)
        return positions

    def _give_back(self) -> None:
        """What was not handed out was not consumed."""
        positions = {partition: Position(record.offset) for partition, record in self._first_pending().items()}
        self._pending.clear()
        if positions:
            self._thread.get(lambda: self._core.rewind(positions))


def _named(partitions: Iterable[PartitionName]) -> list[TopicPartition]:
    return [TopicPartition(*each) for each in partitions]
