"""Our consumers in a group with our coordinator, under seeds of faults: members come, leave, die and sleep, connections break, the coordinator moves.

No two members that are awake own a partition; each reads what it owns without holes; no record is skipped; committed offsets never go back; and when the faults
stop, all partitions are shared out and read to their ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Final, TypeVar

import pytest

from pykafka_classic.client.consuming.consumer_errors import CommitFailed, RebalanceInProgress
from pykafka_classic.common.clock import after
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.schema import Message
from pykafka_classic.records.batch_builder import build_batch
from pykafka_classic.records.record import Record
from pykafka_classic.server.handlers import heartbeat, join_group, leave_group, offset_commit, offset_fetch, sync_group
from tests.unit.client.client_world import ClientWorld
from tests.unit.coordinator.helpers import GROUP, Harness

T = TypeVar("T")

PARTITIONS: Final = 5
SEEDS: Final = 12
STEPS: Final = 60
MEMBERS_MAX: Final = 4
HANDLERS: Final[dict[ApiKey, ModuleType]] = {
    ApiKey.JOIN_GROUP: join_group,
    ApiKey.SYNC_GROUP: sync_group,
    ApiKey.HEARTBEAT: heartbeat,
    ApiKey.LEAVE_GROUP: leave_group,
    ApiKey.OFFSET_COMMIT: offset_commit,
    ApiKey.OFFSET_FETCH: offset_fetch,
}


@dataclass
class HandledRequest:
    """As much of a broker's request as the handlers look at."""

    body: Message
    version: int
    client_id: str = "ours"
    client_host: str = "fake"

    def expect(self, kind: type[T]) -> T:
        """The body."""
        assert isinstance(self.body, kind)
        return self.body


class World(ClientWorld):
    """Two brokers; one of them has the group's coordinator, made of this project's parts."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed=seed)
        self.cluster.latency_ms = lambda: self.random.random() * 4
        self.cluster.long_polls = True
        self.cluster.make_topic("t", [number % 2 for number in range(PARTITIONS)])
        self.harness = Harness(clock=self.clock, group_initial_rebalance_delay_ms=100, group_min_session_timeout_ms=100)
        self.cluster.delegate = self.coordinate
        self.written = 0

    def coordinate(self, broker: int, request: Message, version: int) -> Message | Promise[Message] | None:
        """The answer to a group's request; None for others."""
        handler = HANDLERS.get(ApiKey(request.API_KEY))
        if handler is None:
            return None
        groups = self.harness.groups if broker == self.cluster.coordinator else self.stranger.groups
        services = SimpleNamespace(groups=groups, clock=self.clock, metadata_cache=SimpleNamespace(contains=lambda _: True))
        answer: Message | Promise[Message] = handler.handle(services, HandledRequest(request, version))
        return answer

    @property
    def stranger(self) -> Harness:
        """A broker that coordinates nothing."""
        other = Harness(clock=self.clock)
        other.groups.store.owned.clear()
        return other

    def fail_over(self) -> None:
        """The other broker becomes the coordinator, from what the log has."""
        old = self.harness
        old.groups.loader.on_resignation(0, 1)
        self.cluster.coordinator = 1 - self.cluster.coordinator
        self.harness = old.successor(group_initial_rebalance_delay_ms=100, group_min_session_timeout_ms=100)
        self.harness.groups.coordinator._random = self.random  # or it would give the same member ids again

    def write(self) -> None:
        """Some records to a partition."""
        partition = self.cluster.partition(TopicPartition("t", self.random.randrange(PARTITIONS)))
        count = self.random.randrange(1, 5)
        partition.append(build_batch([Record(number, 0, None, b"v") for number in range(count)]))
        self.written += count

    def committed(self) -> dict[int, int]:
        """What the coordinator has."""
        _, found = self.harness.groups.offsets.fetch(GROUP, [TopicPartition("t", number) for number in range(PARTITIONS)], require_stable=False)
        return {partition.partition: each.offset for partition, each in found.items() if each.offset >= 0}


class Member:
    """A consumer, and the user who polls it."""

    def __init__(self, trial: Trial, name: str, strategy: str) -> None:
        self.name = name
        self.owned: set[int] = set()
        self.running = True
        self.awake = True
        self.alert = True  # it has polled since it woke up: before, it cannot know what it has lost
        self._trial = trial
        self._next: dict[int, int] = {}  # by partition owned: what must come next
        world = trial.world
        self.core = world.consumer(
            group_id=GROUP,
            client_id=name,
            partition_assignment_strategy=strategy,
            session_timeout_ms=2_000,
            heartbeat_interval_ms=300,
            max_poll_interval_ms=3_000,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=200,
            request_timeout_ms=5_000,
        )
        world.wait(self.core.subscribe(["t"], None, self))
        self.ended = spawn(self._run())

    # The listener

    def assigned(self, partitions: Sequence[TopicPartition]) -> Promise[None]:
        """Nobody who is awake may have them."""
        for each in partitions:
            others = [other.name for other in self._trial.members if other is not self and other.alert and each.partition in other.owned]
            assert not others, f"{each} is assigned to {self.name}, while {others} own it"
            self.owned.add(each.partition)
        return Promise.resolved(None)

    def revoked(self, partitions: Sequence[TopicPartition]) -> Promise[None]:
        """After a moment, as a user takes one."""
        return spawn(self._give_up([each.partition for each in partitions]))

    def lost(self, partitions: Sequence[TopicPartition]) -> Promise[None]:
        """At once."""
        for each in partitions:
            self.owned.discard(each.partition)
            self._next.pop(each.partition, None)
        return Promise.resolved(None)

    async def _give_up(self, partitions: Sequence[int]) -> None:
        await after(self._trial.world.clock, self._trial.world.random.random() * 100)
        for each in partitions:
            self.owned.discard(each)
            self._next.pop(each, None)

    # The user

    async def _run(self) -> None:
        clock = self._trial.world.clock
        while self.running:
            if not self.awake:
                await after(clock, 50)
                continue
            records = await self.core.poll(200)
            self.alert = self.awake and self.running
            for record in records:
                assert record.partition in self.owned, f"{self.name} reads {record.partition}, which is not its own"
                expected = self._next.get(record.partition, record.offset)
                assert record.offset == expected, f"{self.name} reads {record.partition}:{record.offset} after {expected - 1}"
                self._next[record.partition] = record.offset + 1
                self._trial.read.add((record.partition, record.offset))
            if self.owned and self.running and self.awake:
                await self._commit()

    async def _commit(self) -> None:
        try:
            await self.core.commit()
        except (CommitFailed, RebalanceInProgress):
            return

    def leave(self) -> None:
        """Politely."""
        self.running = self.alert = False
        spawn(self.core.close(timeout_ms=5_000))

    def die(self) -> None:
        """Without a word."""
        self.running = self.alert = False
        self.core.cluster.close()


class Trial:
    """One seed."""

    def __init__(self, seed: int, strategy: str) -> None:
        self.world = World(seed)
        self.members: list[Member] = []
        self.read: set[tuple[int, int]] = set()
        self._strategy = strategy
        self._committed: dict[int, int] = {}

    @property
    def running(self) -> list[Member]:
        return [member for member in self.members if member.running]

    def run(self) -> None:
        self.join()
        for _ in range(STEPS):
            self.world.write()
            self.act()
            self.pass_time(self.world.random.randrange(800))
        for member in self.running:
            member.awake = True
        if not self.running:
            self.join()
        self.pass_time(30_000)
        shares = [member.owned for member in self.running]
        assert sorted(number for share in shares for number in share) == list(range(PARTITIONS)), shares
        ends = {number: self.world.cluster.topics["t"][number].end for number in range(PARTITIONS)}
        assert self.read == {(number, offset) for number, end in ends.items() for offset in range(end)}
        assert self.world.committed() == {number: end for number, end in ends.items() if end}

    def join(self) -> None:
        self.members.append(Member(self, f"m{len(self.members)}", self._strategy))

    def pass_time(self, ms: float) -> None:
        for _ in range(max(1, round(ms / 100))):
            self.world.clock.advance(100)
            now = self.world.committed()
            assert all(now.get(number, -1) >= offset for number, offset in self._committed.items()), "a committed offset went back"
            self._committed = now
        for member in self.members:
            if member.ended.settled and member.running:
                member.ended.result()

    def act(self) -> None:
        chance = self.world.random
        running = self.running
        acts: list[tuple[float, Callable[[], object]]] = [
            (0.15, lambda: self.join() if len(running) < MEMBERS_MAX else None),
            (0.06, lambda: chance.choice(running).leave() if running else None),
            (0.06, lambda: chance.choice(running).die() if running else None),
            (0.15, lambda: self.toggle(chance.choice(running)) if running else None),
            (0.10, lambda: self.world.cluster.cut(chance.randrange(2))),
            (0.05, self.world.fail_over),
            (0.05, lambda: self.world.cluster.move_leader(TopicPartition("t", chance.randrange(PARTITIONS)), chance.randrange(2))),
        ]
        throw = chance.random()
        for probability, act in acts:
            if throw < probability:
                act()
                return
            throw -= probability

    def toggle(self, member: Member) -> None:
        """Asleep, for longer than the group waits maybe; or awake again."""
        member.awake = not member.awake
        member.alert = False


@pytest.mark.parametrize("strategy", ["range", "sticky", "cooperative-sticky"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_group_of_our_consumers_keeps_its_promises(seed: int, strategy: str) -> None:
    Trial(seed, strategy).run()
