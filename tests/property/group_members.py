"""Members of a group as `group_world.py` needs them: what Kafka's clients do, each request with a time limit, on the world's clock."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_coordinator import Joining, Syncing
from pykafka_classic.coordinator.group.group_metadata import JoinResult, SyncResult
from pykafka_classic.coordinator.group.group_offsets import CommitErrors, Committer, FetchedOffset
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from tests.property.group_world import GROUP, PARTITIONS, Broker, World

SESSION_MS: Final = 6_000
REBALANCE_MS: Final = 4_000  # shorter than the session: a static member may miss a generation and stay a member
HEARTBEAT_MS: Final = 500
REQUEST_MS: Final = 3_000
BACKOFF_MS: Final = 100

FORGET_ID: Final = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}


class Member:
    """One process. `incarnation` counts the processes of a static member's instance id."""

    def __init__(self, world: World, name: str, *, instance_id: str | None = None, incarnation: int = 0) -> None:
        self.world = world
        self.name = name
        self.instance_id = instance_id
        self.incarnation = incarnation
        self.alive = True
        self.fenced = False
        self.paused_until_ms = 0.0
        self.member_id = ""
        self.generation = -1
        self.positions: dict[int, int] = {}
        self.coordinator: Broker = world.leader
        self._turn = 0  # answers to requests of an earlier turn are too late
        self._join()

    @property
    def running(self) -> bool:
        return self.alive and not self.fenced

    def crash(self) -> None:
        """SIGKILL."""
        self.alive = False

    def pause(self, ms: int) -> None:
        """SIGSTOP: what arrives meanwhile is looked at afterwards, as is what it wanted to do."""
        now_ms = self.world.clock.monotonic_ms()
        if self.paused_until_ms <= now_ms:
            self.paused_until_ms = now_ms + ms

    def leave(self) -> None:
        """Go politely."""
        member_id, instance_id = self.member_id, self.instance_id
        self.alive = False

        def ask(broker: Broker) -> Promise[Any]:
            return Promise.resolved(broker.groups.coordinator.leave(GROUP, [(member_id, instance_id)]))

        self.world.send(ask, self.coordinator, lambda _: None)

    # requests

    def _later(self, delay_ms: float, call: Callable[[], None]) -> None:
        """Call in this turn, and not while the process is stopped."""
        turn = self._turn

        def due() -> None:
            wait_ms = self.paused_until_ms - self.world.clock.monotonic_ms()
            if not self.running or turn != self._turn:
                return
            if wait_ms > 0:  # once it wakes, all that was due comes at once, in any order
                self.world.clock.call_later(wait_ms + self.world.random.randrange(20), due)
            else:
                call()

        self.world.clock.call_later(delay_ms, due)

    def _ask(self, ask: Callable[[Broker], Promise[Any]], answered: Callable[[Any], None], *, limit_ms: int = REQUEST_MS) -> None:
        """Without an answer in time the coordinator is looked for again."""
        turn, done = self._turn, False

        def arrived(answer: Any) -> None:
            nonlocal done

            def look() -> None:
                nonlocal done
                if not done:
                    done = True
                    answered(answer)

            if turn == self._turn:
                self._later(0, look)

        def give_up() -> None:
            nonlocal done
            if not done:
                done = True
                self._start_over(find=True)

        self.world.send(ask, self.coordinator, arrived)
        self._later(limit_ms, give_up)

    def _start_over(self, *, find: bool = False, delay_ms: int = BACKOFF_MS) -> None:
        """Give up everything and join again."""
        self._turn += 1
        self.positions = {}
        if find:
            self.coordinator = self.world.leader
        self._later(delay_ms, self._join)

    def _refused(self, error: ErrorCode) -> None:
        if error is ErrorCode.FENCED_INSTANCE_ID:
            self.fenced = True
            return
        if error in FORGET_ID:
            self.member_id, self.generation = "", -1
        self._start_over(find=error in {ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})

    # joining

    def _join(self) -> None:
        joining = Joining(
            group_id=GROUP,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            client_id=self.name,
            client_host="/127.0.0.1",
            rebalance_timeout_ms=REBALANCE_MS,
            session_timeout_ms=SESSION_MS,
            protocol_type="consumer",
            protocols=(("range", b""),),
            require_known_member_id=self.instance_id is None,
        )
        self._ask(lambda broker: broker.groups.coordinator.join(joining), self._joined, limit_ms=REBALANCE_MS + REQUEST_MS)

    def _joined(self, result: JoinResult) -> None:
        if result.error is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = result.member_id
            self._join()
        elif result.error:
            self._refused(result.error)
        else:
            self.member_id, self.generation = result.member_id, result.generation_id
            self._sync(result)

    def _sync(self, joined: JoinResult) -> None:
        members = sorted(member_id for member_id, _, _ in joined.members)
        shares = {
            member_id: json.dumps([number for number in range(PARTITIONS) if number % len(members) == place]).encode()
            for place, member_id in enumerate(members)
        }
        generation, owner = self.generation, self.instance_id or self.member_id
        syncing = Syncing(GROUP, generation, self.member_id, self.instance_id, "consumer", "range", shares)

        def ask(broker: Broker) -> Promise[Any]:
            def given(result: SyncResult) -> SyncResult:
                if not result.error:
                    self.world.hand_out(generation, owner, json.loads(result.assignment or b"[]"))
                return result

            return broker.groups.coordinator.sync(syncing).then(given)

        self._ask(ask, self._synced, limit_ms=REBALANCE_MS + REQUEST_MS)

    def _synced(self, result: SyncResult) -> None:
        if result.error:
            self._refused(result.error)
            return
        places = [TopicPartition("t", number) for number in json.loads(result.assignment or b"[]")]
        self._later(HEARTBEAT_MS, self._beat)
        self._ask(lambda broker: Promise.resolved(broker.groups.offsets.fetch(GROUP, places, require_stable=True)), self._fetched)

    def _fetched(self, answer: tuple[ErrorCode, dict[TopicPartition, FetchedOffset]]) -> None:
        error, found = answer
        if error:
            self._refused(error)
            return
        self.positions = {place.partition: max(each.offset, 0) for place, each in found.items()}
        for partition, position in self.positions.items():
            assert position <= self.world.frontier[partition], "records were skipped"
        self._later(HEARTBEAT_MS // 2, self._work)

    # in steady state

    def _beat(self) -> None:
        member_id, instance_id, generation = self.member_id, self.instance_id, self.generation

        def ask(broker: Broker) -> Promise[Any]:
            return Promise.resolved(broker.groups.coordinator.heartbeat(GROUP, member_id, instance_id, generation))

        def answered(error: ErrorCode) -> None:
            if error is ErrorCode.REBALANCE_IN_PROGRESS:
                self._commit(then=lambda: self._start_over(delay_ms=0))
            elif error:
                self._refused(error)
            else:
                self._later(HEARTBEAT_MS, self._beat)

        self._ask(ask, answered)

    def _work(self) -> None:
        """Process some records of each partition, and commit them."""
        for partition, position in self.positions.items():
            self.positions[partition] = position + self.world.random.randrange(4)
            self.world.frontier[partition] = max(self.world.frontier[partition], self.positions[partition])
        self._commit(then=lambda: self._later(HEARTBEAT_MS // 2, self._work))

    def _commit(self, *, then: Callable[[], None]) -> None:
        tag = f"{self.generation}.{self.incarnation}"
        commits = {TopicPartition("t", partition): OffsetAndMetadata(position, tag, 0) for partition, position in self.positions.items()}
        if not commits:
            then()
            return
        committer = Committer(GROUP, self.member_id, self.instance_id, self.generation)

        def answered(errors: CommitErrors) -> None:
            error = next(iter(errors.values()))
            if error is ErrorCode.NONE:
                self.world.acknowledged += [(place.partition, commit.offset, tag) for place, commit in commits.items()]
            if error in {ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS}:
                then()
            else:
                self._refused(error)

        self._ask(lambda broker: broker.groups.offsets.commit(committer, commits), answered)
