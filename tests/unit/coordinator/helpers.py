"""A group coordinator whose `__consumer_offsets` is a list of batches in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.coordinator.group.group_coordinator import Joining, Syncing
from pykafka_classic.coordinator.group.group_metadata import JoinResult, SyncResult
from pykafka_classic.coordinator.group.group_store import Appended
from pykafka_classic.coordinator.group.service import GroupService
from pykafka_classic.log.log import Log
from tests.fakes.clock import FakeClock, SeededRandom

GROUP = "flights-readers"


class FakeOffsetsTopic:
    """Keeps what is appended; `hold` leaves appends unanswered until `release`, `error` refuses them."""

    def __init__(self) -> None:
        self.batches: list[tuple[int, bytes]] = []
        self.error = ErrorCode.NONE
        self.hold = False
        self._held: list[Promise[Appended]] = []

    def partition_count(self) -> int:
        return 1

    def log(self, partition: int) -> Log | None:
        del partition
        return None

    def append(self, partition: int, records: bytes, *, required_acks: int, timeout_ms: int) -> Promise[Appended]:
        del required_acks, timeout_ms
        promise: Promise[Appended] = Promise()
        if not self.error:
            self.batches.append((partition, records))
        if self.hold:
            self._held.append(promise)
        else:
            promise.resolve(Appended(self.error, -1 if self.error else len(self.batches)))
        return promise

    def release(self) -> None:
        held, self._held = self._held, []
        for promise in held:
            promise.resolve(Appended(self.error, len(self.batches)))


class Harness:
    """A coordinator that owns the only partition."""

    def __init__(self, **config: Any) -> None:
        self.clock = FakeClock()
        self.topic = FakeOffsetsTopic()
        changes: dict[str, Any] = {"group_initial_rebalance_delay_ms": 0, **config}
        self.config = replace(KafkaConfig(zookeeper_connect="zk:2181"), **changes)
        self.groups = GroupService(self.config, self.clock, SeededRandom(1), self.topic)
        self.groups.start()
        self.groups.store.owned.add(0)

    def join(self, member_id: str = "", **changes: Any) -> Promise[JoinResult]:
        joining = Joining(
            group_id=GROUP,
            member_id=member_id,
            group_instance_id=None,
            client_id="client",
            client_host="/127.0.0.1",
            rebalance_timeout_ms=60_000,
            session_timeout_ms=10_000,
            protocol_type="consumer",
            protocols=(("range", b"metadata"),),
            require_known_member_id=False,
        )
        return self.groups.coordinator.join(replace(joining, **changes))

    def sync(self, result: JoinResult, assignments: dict[str, bytes] | None = None, **changes: Any) -> Promise[SyncResult]:
        syncing = Syncing(GROUP, result.generation_id, result.member_id, None, None, None, assignments or {})
        return self.groups.coordinator.sync(replace(syncing, **changes))

    def stable_group(self, members: int = 1) -> list[JoinResult]:
        """A group with that many members, each with an assignment."""
        joins = [self.join()]
        self.clock.advance(0)
        for _ in range(members - 1):
            leader = joins[0].result()
            late = self.join()
            again = [self.join(join.result().member_id) for join in joins]
            joins = [*again, late]
            assert leader.member_id
        results = [join.result() for join in joins]
        leader = next(result for result in results if result.leader_id == result.member_id)
        syncs = [self.sync(result) for result in results if result is not leader]
        syncs.append(self.sync(leader, {result.member_id: result.member_id.encode() for result in results}))
        assert all(sync.result().error is ErrorCode.NONE for sync in syncs)
        return results

    def heartbeat(self, result: JoinResult) -> ErrorCode:
        return self.groups.coordinator.heartbeat(GROUP, result.member_id, None, result.generation_id)
