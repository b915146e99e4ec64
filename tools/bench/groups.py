"""How fast the group coordinator is: `python tools/bench/groups.py`. On one thread, with `__consumer_offsets` in memory; no sockets.

What is measured is what costs the broker's reactor: reading requests, the state machine, building batches, writing answers; and reading a partition back.
"""

from __future__ import annotations

import gc
import heapq
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group import group_records
from pykafka_classic.coordinator.group.group_coordinator import Joining, Syncing
from pykafka_classic.coordinator.group.group_offsets import Committer
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from pykafka_classic.coordinator.group.service import GroupService
from pykafka_classic.coordinator.internal_topic import Appended
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import build_batch, stamp_base_offset

MEMBERS, PARTITIONS = 50, 200
COMMITS = 10_000
LOADED_RECORDS = 1_000_000
RECORDS_PER_COMMIT = 10


@dataclass(slots=True)
class _Timer:
    call: Callable[[], None] | None

    def cancel(self) -> None:
        """Forget the call."""
        self.call = None


class TurnClock:
    """Real time; timers run only in `turns`, which stands for the reactor and notes the longest turn."""

    def __init__(self) -> None:
        self.longest_turn_ms = 0.0
        self._timers: list[tuple[float, int, _Timer]] = []
        self._count = 0

    def now_ms(self) -> int:
        """Wall-clock time."""
        return int(time.time() * 1000)

    def monotonic_ms(self) -> float:
        """Time that never goes back."""
        return time.perf_counter() * 1000

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> _Timer:
        """Call once, in a turn of its own."""
        self._count += 1
        timer = _Timer(call)
        heapq.heappush(self._timers, (self.monotonic_ms() + delay_ms, self._count, timer))
        return timer

    def turns(self, until: Callable[[], bool]) -> None:
        """Run timers, each when it is due, until the condition holds."""
        while not until():
            due_ms, _, timer = heapq.heappop(self._timers)
            time.sleep(max(0.0, due_ms - self.monotonic_ms()) / 1000)
            started_ms = self.monotonic_ms()
            call, timer.call = timer.call, None
            if call is not None:
                call()
            self.longest_turn_ms = max(self.longest_turn_ms, self.monotonic_ms() - started_ms)


@dataclass
class _Read:
    data: bytes

    def __len__(self) -> int:
        return len(self.data)

    def read(self) -> bytes:
        """The bytes."""
        return self.data


@dataclass
class _Fetched:
    records: _Read


class MemoryLog:
    """Of a log only what the loader asks."""

    log_start_offset = 0

    def __init__(self, batches: Iterable[tuple[int, bytes]]) -> None:
        self.log_end_offset = 0
        self._batches: list[tuple[int, bytes]] = []
        for count, data in batches:
            stamped = bytearray(data)
            stamp_base_offset(stamped, self.log_end_offset)
            self._batches.append((self.log_end_offset, bytes(stamped)))
            self.log_end_offset += count
        self._next = 0

    def read(self, offset: int, *, max_length: int, **_: Any) -> _Fetched:
        """Whole batches from `offset` on, until `max_length` is reached. Only for reading in order."""
        assert self._batches[self._next][0] == offset
        chunk = bytearray()
        while self._next < len(self._batches) and len(chunk) < max_length:
            chunk += self._batches[self._next][1]
            self._next += 1
        return _Fetched(_Read(bytes(chunk)))


class MemoryTopic:
    """`__consumer_offsets` with one partition."""

    def __init__(self, log: MemoryLog | None = None) -> None:
        self._log = log
        self.appended = 0

    def partition_count(self) -> int:
        """One."""
        return 1

    def log(self, partition: int) -> Any:
        """The log to load from."""
        del partition
        return self._log

    def append(self, partition: int, records: bytes, *, required_acks: int, timeout_ms: int) -> Promise[Appended]:
        """Acknowledged at once."""
        del partition, records, required_acks, timeout_ms
        self.appended += 1
        return Promise.resolved(Appended(ErrorCode.NONE, self.appended))


def service(topic: MemoryTopic, clock: TurnClock) -> GroupService:
    """A coordinator that owns nothing yet."""
    config = replace(KafkaConfig(zookeeper_connect="unused:2181"), group_initial_rebalance_delay_ms=0)
    groups = GroupService(config, clock, random.Random(1), topic)
    groups.store.active = True
    return groups


def bench_rebalance() -> float:
    """Milliseconds from the first join of 50 members that all rejoin to the last assignment."""
    clock = TurnClock()
    groups = service(MemoryTopic(), clock)
    groups.store.owned.add(0)
    joining = Joining("g", "", None, "client", "/127.0.0.1", 60_000, 10_000, "consumer", (("range", bytes(40)), ("roundrobin", bytes(40))), False)
    ids: list[str] = []
    for _ in range(2):  # once to be there, once to rebalance with everybody
        started_ms = clock.monotonic_ms()
        joins = [groups.coordinator.join(replace(joining, member_id=member_id)) for member_id in ids or [""] * MEMBERS]
        clock.turns(until=lambda joins=joins: all(join.settled for join in joins))  # type: ignore[misc]
        results = [join.result() for join in joins]
        share = {result.member_id: bytes(10 + 4 * PARTITIONS // MEMBERS) for result in results}
        syncs = [
            groups.coordinator.sync(Syncing("g", result.generation_id, result.member_id, None, None, None, share if result.members else {}))
            for result in results
        ]
        assert all(sync.result().error is ErrorCode.NONE for sync in syncs)
        ids = [result.member_id for result in sorted(results, key=lambda result: not result.members)]  # the leader first
    return clock.monotonic_ms() - started_ms


def bench_commits() -> float:
    """Commits (of one partition each) per second."""
    groups = service(MemoryTopic(), TurnClock())
    groups.store.owned.add(0)
    started = time.perf_counter()
    for index in range(COMMITS):
        commits = {TopicPartition("flights", index % PARTITIONS): OffsetAndMetadata(index, "", 1_600_000_000_000, 3)}
        assert not any(groups.offsets.commit(Committer(f"group-{index % 100}"), commits).result().values())
    return COMMITS / (time.perf_counter() - started)


def offsets_batches(records: int, per_batch: int, groups: int) -> Iterable[tuple[int, bytes]]:
    """Commits of so many groups for 200 partitions, again and again, in batches as OffsetCommit writes them."""
    ibp = KafkaConfig(zookeeper_connect="unused:2181").inter_broker_api_version
    for base in range(0, records, per_batch):
        group = f"group-{base // PARTITIONS % groups}"
        yield (
            per_batch,
            build_batch(
                [
                    Record(
                        index,
                        1_600_000_000_000,
                        group_records.offset_key(group, TopicPartition("flights", (base + index) % PARTITIONS)),
                        group_records.offset_value(OffsetAndMetadata(base, "", 1_600_000_000_000, 3), ibp),
                    )
                    for index in range(per_batch)
                ],
                base_sequence=0,
            ),
        )


def bench_load(per_batch: int, groups_count: int) -> tuple[float, float]:
    """Seconds to load, and the longest turn of the reactor meanwhile in ms."""
    clock = TurnClock()
    groups = service(MemoryTopic(MemoryLog(offsets_batches(LOADED_RECORDS, per_batch, groups_count))), clock)
    gc.collect()
    gc.freeze()  # a broker's log is no million objects that each collection has to look at
    started = time.perf_counter()
    groups.loader.on_election(0, 1)
    clock.turns(until=lambda: 0 in groups.store.owned)
    return time.perf_counter() - started, clock.longest_turn_ms


def main() -> None:
    """All figures."""
    print(f"rebalance of {MEMBERS} members over {PARTITIONS} partitions: {bench_rebalance():.1f} ms after the initial delay")
    print(f"offset commits: {bench_commits():,.0f}/s")
    for per_batch in (1, RECORDS_PER_COMMIT):
        for groups in (100, LOADED_RECORDS // PARTITIONS):
            seconds, turn_ms = bench_load(per_batch, groups)
            records = f"{LOADED_RECORDS:,} offset records of {groups * PARTITIONS:,} keys, {per_batch} per batch"
            print(f"loading {records}: {seconds:.1f} s, longest turn {turn_ms:.0f} ms")


if __name__ == "__main__":
    main()
