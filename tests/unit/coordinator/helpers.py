"""A group coordinator whose `__consumer_offsets` is a list of batches in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.coordinator.group.group_coordinator import Joining, Syncing
from pykafka_classic.coordinator.group.group_metadata import JoinResult, SyncResult
from pykafka_classic.coordinator.group.service import GroupService
from pykafka_classic.coordinator.internal_topic import Appended
from pykafka_classic.log.log import Log
from pykafka_classic.records.record_batch import iterate_batches, stamp_base_offset
from tests.fakes.clock import FakeClock, SeededRandom

GROUP = "flights-readers"


@dataclass
class _Bytes:
    data: bytes

    def read(self) -> bytes:
        return self.data


@dataclass
class _Fetched:
    records: _Bytes | None


class MemoryLog:
    """Batches with their offsets; of a log only what the loader asks."""

    def __init__(self) -> None:
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.batches: list[tuple[int, bytes]] = []  # the offset after each, its bytes
        self.reads = 0

    def append(self, records: bytes) -> int:
        """The offset of the first record."""
        base_offset = self.log_end_offset
        stamped = bytearray(records)
        stamp_base_offset(stamped, base_offset)
        [batch] = iterate_batches(bytes(stamped))
        self.log_end_offset = batch.next_offset
        self.batches.append((self.log_end_offset, bytes(stamped)))
        return base_offset

    def read(self, offset: int, *, max_length: int, **_: Any) -> _Fetched:
        """Whole batches until `max_length` is reached, at least one."""
        self.reads += 1
        chunk = b""
        for next_offset, raw in self.batches:
            if next_offset > offset and (not chunk or len(chunk) + len(raw) <= max_length):
                chunk += raw
        return _Fetched(_Bytes(chunk) if chunk else None)


class FakeInternalTopic:
    """Keeps what is appended; `hold` leaves appends unanswered until `release`, `error` refuses them."""

    def __init__(self, partitions: int = 1) -> None:
        self.logs = [MemoryLog() for _ in range(partitions)]
        self.batches: list[tuple[int, bytes]] = []
        self.error = ErrorCode.NONE
        self.hold = False
        self._held: list[tuple[Promise[Appended], Appended]] = []

    def partition_count(self) -> int:
        return len(self.logs)

    def log(self, partition: int) -> Log | None:
        return self.logs[partition]  # type: ignore[return-value]  # as much of a log as is asked

    def append(self, partition: int, records: bytes, *, required_acks: int, timeout_ms: int) -> Promise[Appended]:
        del required_acks, timeout_ms
        promise: Promise[Appended] = Promise()
        outcome = Appended(self.error)
        if not self.error:
            self.batches.append((partition, records))
            outcome = Appended(ErrorCode.NONE, self.logs[partition].append(records))
        if self.hold:
            self._held.append((promise, outcome))
        else:
            promise.resolve(outcome)
        return promise

    def release(self) -> None:
        """Answer all that was held; with `error`, where one is set by now."""
        held, self._held = self._held, []
        for promise, outcome in held:
            promise.resolve(Appended(self.error) if self.error else outcome)


class Harness:
    """A coordinator that owns the only partition, of a new topic or of one at hand."""

    def __init__(self, *, topic: FakeInternalTopic | None = None, clock: FakeClock | None = None, **config: Any) -> None:
        self.clock = clock or FakeClock()
        self.topic = topic or FakeInternalTopic()
        changes: dict[str, Any] = {"group_initial_rebalance_delay_ms": 0, **config}
        self.config = replace(KafkaConfig(zookeeper_connect="zk:2181"), **changes)
        self.groups = GroupService(self.config, self.clock, SeededRandom(1), self.topic)
        self.groups.start()
        if topic is None:
            self.groups.store.owned.add(0)

    def load(self, leader_epoch: int = 1, partition: int = 0) -> None:
        """Become the coordinator by reading what the topic holds."""
        self.groups.loader.on_election(partition, leader_epoch)
        self.clock.advance(0)
        assert self.groups.store.owned == {partition}

    def successor(self, **config: Any) -> Harness:
        """Another broker's coordinator that takes over."""
        after = Harness(topic=self.topic, clock=self.clock, **config)
        after.load()
        return after

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
