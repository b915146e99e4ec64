"""A member of a group that coordinates over ZooKeeper: one loop that brings what it reads into line with what it should read.

    something changed -> look at the group -> compute -> stop, commit and release what is others' now -> claim -> read committed offsets -> read

Watches, session events, timers and commits only say *that* there is something to do; the loop does one thing at a time, so a burst of changes ends in one
pass. A pass may be repeated at any time: what is owned already stays owned. A partition is read only while its owner node stands in the present session.

A pass that could not claim everything is a failed attempt: it is repeated when the owner in the way lets go (its node is watched) or after
`rebalance.backoff.ms`. After `rebalance.max.retries` such times `start` fails; a member that had started tells `on_failure`, and goes on trying.

Mirrors: 0.8.2:core/src/main/scala/kafka/consumer/ZookeeperConsumerConnector.scala (ZKRebalancerListener); facts/coordination.md 5.1.

Differs from Kafka: a rebalance gives up only the partitions that go to others, and reads on in those that stay. Committed offsets are read after the
claim, when their former owner can no longer change them. A failed attempt keeps what it could claim. After the last retry Kafka's member sits idle until a
watch fires.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from pykafka_classic.assignors.zookeeper_assignors import AssignmentImpossible, thread_assignor
from pykafka_classic.client.consumer_settings import ConsumerSettings
from pykafka_classic.client.group_format import GroupFormat, KafkaFormat, PykafkaFormat
from pykafka_classic.client.group_session import GroupSession
from pykafka_classic.client.group_view import look_at_group
from pykafka_classic.client.offset_storage import OffsetStorage, OffsetStorageFailed
from pykafka_classic.client.subscription import Subscription
from pykafka_classic.client.zookeeper_group import ConsumerIdTaken, ZooKeeperGroup
from pykafka_classic.common.clock import Clock, Timer
from pykafka_classic.common.promise import Promise, failure_told, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import SessionEvent, SessionExpired, WatchEvent, ZooKeeper

log = logging.getLogger("kafka.consumer.ZookeeperConsumerConnector")


class ConsumerRebalanceFailed(Exception):
    """The member could not get its share in the time that its settings give; the text says what was in the way."""


class ConsumerClosed(Exception):
    """The consumer is closed, or was closed meanwhile."""


class PartitionReaders(Protocol):
    """The seam to what fetches records and hands them out."""

    def set_brokers(self, brokers: Mapping[int, tuple[str, int]]) -> None:
        """Where to ask for leaders: host and port by broker id."""
        ...

    def start(self, positions: Mapping[TopicPartition, int | None]) -> None:
        """Read these too, from the offset given; None: nothing is committed, so as auto.offset.reset says."""
        ...

    def stop(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Hand out no further record of these; the offsets after the last records that were handed out, where any is known."""
        ...

    def positions(self) -> dict[TopicPartition, int]:
        """The offsets after the last records that were handed out."""
        ...


class ZooKeeperConsumerConnector:
    """One member, from `start` to `close`.

    Invariant: `_reading` is within `_held`, and `_held` holds every owner node that the present session has, or may have.
    """

    def __init__(self, consumer_id: str, subscription: Subscription, settings: ConsumerSettings, seams: ConnectorSeams) -> None:
        self.consumer_id = consumer_id
        self._subscription = subscription
        self._settings = settings
        self._zk, self._clock, self._readers, self._storage = seams.zk, seams.clock, seams.readers, seams.storage
        self._on_failure = seams.on_failure
        self._written = group_format(subscription, settings)
        self._started: Promise[None] = Promise()
        self._closed: Promise[None] | None = None
        self._wake: Promise[None] = Promise()
        self._timers: list[Timer] = []
        self._retry: Timer | None = None
        self._rebalance_wanted = True
        self._commits_wanted: list[Promise[None]] = []
        self._failing_since_ms: float | None = None
        self._enter_session()

    def _enter_session(self) -> None:
        self._session = GroupSession(self._zk)
        self._group = ZooKeeperGroup(self._session, self._settings.group_id, self.consumer_id, self._written)
        self._registered = False
        self._held: dict[TopicPartition, str] = {}  # owner nodes: the thread in each
        self._reading: set[TopicPartition] = set()
        self._committed: dict[TopicPartition, int] = {}  # what is known to be stored

    # What its user asks for

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The partitions that it reads now."""
        return frozenset(self._reading)

    def start(self) -> Promise[None]:
        """Join the group; kept when the first rebalance has succeeded. Fails with ConsumerRebalanceFailed; call `close` then."""
        self._zk.add_watch_listener(self._watch_fired)
        self._zk.add_session_listener(self._session_changed)
        if self._settings.auto_commit_enable:
            self._commit_later()
        spawn(self._loop()).when_settled(self._loop_ended)
        return self._started

    def commit(self) -> Promise[None]:
        """Store the offsets of all that was handed out. Fails with OffsetStorageFailed, SessionExpired (then the partitions are others')."""
        done: Promise[None] = Promise()
        if self._closed is not None:
            done.fail(ConsumerClosed(self.consumer_id))
            return done
        self._commits_wanted.append(done)
        self._signal()
        return done

    def close(self) -> Promise[None]:
        """Stop, commit (with auto.commit.enable), release, leave. The ZooKeeper session stays open: it is its maker's."""
        if self._closed is None:
            self._closed = Promise()
            self._signal()
        return self._closed

    # What happens to it

    def _watch_fired(self, _: WatchEvent) -> None:
        self._want_rebalance()

    def _session_changed(self, event: SessionEvent) -> None:
        if event is SessionEvent.EXPIRED:
            log.info("[%s] The ZooKeeper session has expired; its partitions are lost", self.consumer_id)
            self._readers.stop(self._reading)
            self._enter_session()
        elif event is SessionEvent.RENEWED:
            self._enter_session()
            self._want_rebalance()

    def _want_rebalance(self) -> None:
        self._rebalance_wanted = True
        self._signal()

    def _signal(self) -> None:
        if not self._wake.settled:
            self._wake.resolve(None)

    def _commit_later(self) -> None:
        def commit() -> None:
            if self._closed is None:
                self.commit().when_settled(failure_told(log.warning, "Auto-commit failed: %s"))
                self._commit_later()

        self._timers = [self._clock.call_later(self._settings.auto_commit_interval_ms, commit)]

    # The loop

    async def _loop(self) -> None:
        while self._closed is None or self._commits_wanted:
            if self._commits_wanted:
                waiting, self._commits_wanted = self._commits_wanted, []
                _settle_all(waiting, await self._outcome_of_commit())
            elif self._rebalance_wanted and not self._session.is_over:
                self._rebalance_wanted = False
                await self._rebalance()
            else:
                self._wake = Promise()
                await self._wake
        await self._leave()

    async def _rebalance(self) -> None:
        """One attempt, and what follows from its outcome."""
        try:
            problem = await self._converge()
        except SessionExpired:
            return  # RENEWED begins again
        except (AssignmentImpossible, ConsumerIdTaken, OffsetStorageFailed) as error:
            problem = str(error)
        if self._closed is not None:
            return
        if problem is None:
            self._failing_since_ms = None
            self._settle_start(None)
        else:
            self._failed(problem)

    def _failed(self, problem: str) -> None:
        now_ms = self._clock.monotonic_ms()
        if self._failing_since_ms is None:
            self._failing_since_ms = now_ms
        log.info("[%s] Rebalancing attempt failed: %s", self.consumer_id, problem)
        if now_ms - self._failing_since_ms >= self._settings.rebalance_max_retries * self._settings.rebalance_backoff_ms:
            self._failing_since_ms = None
            error = ConsumerRebalanceFailed(f"{self.consumer_id} can't rebalance after {self._settings.rebalance_max_retries} retries: {problem}")
            if not self._settle_start(error):
                log.error("%s", error)
                self._on_failure(error)
        if self._retry is not None:
            self._retry.cancel()
        self._retry = self._clock.call_later(self._settings.rebalance_backoff_ms, self._want_rebalance)

    def _settle_start(self, error: ConsumerRebalanceFailed | None) -> bool:
        """Tell whoever waits in `start`; False where nobody does any more."""
        if self._started.settled:
            return False
        if error is None:
            self._started.resolve(None)
        else:
            self._started.fail(error)
        return True

    async def _converge(self) -> str | None:
        """Bring ownership into line; None where it is, else what is in the way. SessionExpired where the session ended, and others as `_rebalance` lists."""
        session = self._session
        if not self._registered:
            await self._group.register(self._written.encode_id(self._subscription, self._clock.now_ms()))
            self._registered = True
        view = await look_at_group(session, self._settings.group_id, self._written, exclude_internal=self._settings.exclude_internal_topics)
        if self.consumer_id not in view.streams:
            self._registered = False  # somebody took the registration away
            return "the registration is gone"
        self._readers.set_brokers(view.brokers)
        try:
            assignment = view.assignment(self._written.assignor) if view.brokers else {}
        except AssignmentImpossible:
            await self._give_up(session, self._held)
            raise
        prefix = f"{self.consumer_id}-"
        # A thread is ours if its id is our id and a number: another member's id may begin as ours does.
        target = {each: thread for each, thread in assignment.items() if thread.startswith(prefix) and thread.removeprefix(prefix).isdigit()}
        await self._give_up(session, [each for each, thread in self._held.items() if target.get(each) != thread])
        return await self._take(session, {each: thread for each, thread in target.items() if each not in self._reading})

    async def _give_up(self, session: GroupSession, partitions: Iterable[TopicPartition]) -> None:
        """Stop, commit, release: in this order, so that the next owner starts where we stopped."""
        given = list(partitions)
        positions = self._readers.stop(given)
        self._reading -= set(given)
        if self._settings.auto_commit_enable:
            await self._commit_or_log(session, positions)
        await self._group.release(given)
        for each in given:
            self._held.pop(each, None)
            self._committed.pop(each, None)

    async def _take(self, session: GroupSession, wanted: Mapping[TopicPartition, str]) -> str | None:
        """Claim, then start to read; what could not be had."""
        if not wanted or self._closed is not None:
            return None
        self._held.update(wanted)
        conflicts = await self._group.claim(wanted)
        if any(conflict.is_gone for conflict in conflicts):
            self._rebalance_wanted = True  # there is nothing left to watch
        for conflict in conflicts:
            self._held.pop(conflict.partition)
        claimed = [each for each in wanted if each in self._held]
        offsets = await self._storage.fetch(session, claimed)
        session.check()
        if self._closed is None:
            self._committed.update(offsets)
            self._readers.start({each: offsets.get(each) for each in claimed})
            self._reading.update(claimed)
        return "; ".join(f"{each.partition} is owned by {each.owner or 'nobody yet'}" for each in conflicts) or None

    # Commits

    async def _outcome_of_commit(self) -> BaseException | None:
        try:
            await self._commit(self._session, self._readers.positions())
        except (OffsetStorageFailed, SessionExpired) as error:
            return error
        return None

    async def _commit(self, session: GroupSession, positions: Mapping[TopicPartition, int]) -> None:
        changed = {each: offset for each, offset in positions.items() if self._committed.get(each) != offset}
        if changed:
            await self._storage.commit(session, changed)
            session.check()
            self._committed.update(changed)

    async def _commit_or_log(self, session: GroupSession, positions: Mapping[TopicPartition, int]) -> None:
        """Partitions change hands even where the commit fails: their records are then read twice rather than not at all."""
        try:
            await self._commit(session, positions)
        except OffsetStorageFailed as error:
            log.warning("[%s] Offsets could not be committed before a rebalance: %s", self.consumer_id, error)

    # The end

    async def _leave(self) -> None:
        session = self._session
        for timer in [*self._timers, *([self._retry] if self._retry is not None else [])]:
            timer.cancel()
        try:
            await self._give_up(session, self._held)
            await self._group.leave()
        except SessionExpired:
            log.info("[%s] The session ended before the member could leave; so its nodes are gone", self.consumer_id)

    def _loop_ended(self, outcome: Promise[None]) -> None:
        error = outcome.error()
        if error is not None:
            log.error("[%s] The consumer has failed", self.consumer_id, exc_info=error)
            self._readers.stop(self._reading)
            self._closed = self._closed or Promise()
        waiting, self._commits_wanted = self._commits_wanted, []
        _settle_all(waiting, ConsumerClosed(self.consumer_id))
        if not self._started.settled:
            self._started.fail(error or ConsumerClosed(self.consumer_id))
        assert self._closed is not None
        if error is None:
            self._closed.resolve(None)
        else:
            self._closed.fail(error)


def group_format(subscription: Subscription, settings: ConsumerSettings) -> GroupFormat:
    """How the group that these settings name writes. InvalidSubscription where it cannot hold such a subscription."""
    if settings.pykafka_group:
        return PykafkaFormat(subscription)
    return KafkaFormat(thread_assignor(settings.partition_assignment_strategy, settings.round_robin_dialect))


class ConnectorSeams:
    """What a connector stands on."""

    def __init__(
        self,
        zk: ZooKeeper,
        clock: Clock,
        readers: PartitionReaders,
        storage: OffsetStorage,
        on_failure: Callable[[ConsumerRebalanceFailed], None] = lambda _: None,
    ) -> None:
        self.zk = zk
        self.clock = clock
        self.readers = readers
        self.storage = storage
        self.on_failure = on_failure  # a rebalance after the first has failed for as long as the settings allow; it goes on trying


def _settle_all(promises: Iterable[Promise[None]], error: BaseException | None) -> None:
    for promise in promises:
        if error is None:
            promise.resolve(None)
        else:
            promise.fail(error)
