"""kill -9, again and again, while records come in: whatever was acknowledged must be there, for ever; once and in order where the producer is idempotent.

    python -m tests.chaos.kill_loop --rounds 50 [--seed 7] [--directory DIR]         (make chaos)

A round kills one broker, several or all (see `STORIES`), lets them come back, waits until all replicas are in sync, and reads on from where the last round
ended. Segments are small, so that there are many to recover, and one topic is compacted without pause. At the end everything is read again from the start:
what consumers saw once must still be what they see, and all replicas must hold the same bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import DEADLINE_S, Load, Setting, collect, create_topic, eventually, in_sync, read_all
from tests.integration.witness import Witness

T = TypeVar("T")

BROKERS: Final = 3
PARTITIONS: Final = 3
ROUND_S: Final = 120.0  # within this all replicas are in sync again
OVERRIDES: Final = {
    "zookeeper.session.timeout.ms": "3000",
    "min.insync.replicas": "2",
    "log.segment.bytes": "100000",
    "log.index.interval.bytes": "1000",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "log.flush.offset.checkpoint.interval.ms": "1000",
    "log.cleaner.backoff.ms": "50",
    "log.segment.delete.delay.ms": "1000",
}


@dataclass(frozen=True)
class Kind:
    """A topic under load."""

    name: str
    config: Mapping[str, str]
    producer: Mapping[str, Setting]
    keys: int | None = None

    @property
    def compacted(self) -> bool:
        """Older records of a key may be gone."""
        return self.keys is not None

    @property
    def once(self) -> bool:
        """Its producer is idempotent."""
        return bool(self.producer.get("enable_idempotence"))


KINDS: Final = (
    Kind("plain", {}, {"max_in_flight_requests_per_connection": 1}),
    Kind("once-gzip", {}, {"enable_idempotence": True, "compression_codec": "gzip"}),
    Kind(
        "compacted",
        {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.bytes": "20000", "delete.retention.ms": "0"},
        {"enable_idempotence": True, "batch_size": 10_000},
        keys=50,
    ),
)


class Lost(AssertionError):
    """Something acknowledged is not there."""


class Follower:
    """Reads a topic on from round to round, and checks what it reads against what was acknowledged."""

    def __init__(self, bootstrap: str, kind: Kind, load: Load) -> None:
        self._kind = kind
        self._load = load
        self._next = dict.fromkeys(range(PARTITIONS), OFFSET_BEGINNING)
        self._checked = dict.fromkeys(range(PARTITIONS), 0)
        self.seen: dict[int, list[tuple[int, int]]] = {number: [] for number in range(PARTITIONS)}  # (offset, record's number)
        self._numbers: dict[int, set[int]] = {number: set() for number in range(PARTITIONS)}
        self.duplicates = 0
        self._settings: dict[str, Setting] = {"bootstrap.servers": bootstrap, "group.id": f"follows-{kind.name}", "enable.auto.commit": False}
        # Records come every 10 ms: who waited longer for the next would never be told that this is the end.
        self._settings |= {"enable.partition.eof": True, "fetch.wait.max.ms": 1, "log_level": 2}
        self._committed: int | None = None

    def catch_up(self) -> None:
        """Read until every record acknowledged so far has come. Then commit, and find the commit of the round before.

        Again, where the end came too soon: a leader that has just been restarted knows the high watermark of its checkpoint, until followers fetch.
        """
        acknowledged = {partition: list(numbers) for partition, numbers in self._load.acknowledged.items()}
        deadline = time.monotonic() + DEADLINE_S
        self._read_to_the_end()
        while any(self._missing(acknowledged)) and time.monotonic() < deadline:
            self._read_to_the_end()
        for lost in self._missing(acknowledged):
            raise Lost(lost)
        self._checked = {partition: len(numbers) for partition, numbers in acknowledged.items()}
        self._commit()

    def _read_to_the_end(self) -> None:
        # A consumer for each time: librdkafka 2.16 forgets brokers that were missing from one metadata answer, and does not always take them up again.
        consumer = Consumer(self._settings)
        consumer.assign([TopicPartition(self._kind.name, number, offset) for number, offset in self._next.items()])
        for partition, records in collect(consumer, waiting_for=set(range(PARTITIONS))).items():
            self._note(partition, [(stored.offset, int(stored.record.value or b"-1")) for stored in records])
        consumer.close()

    def _note(self, partition: int, records: list[tuple[int, int]]) -> None:
        seen, numbers = self.seen[partition], self._numbers[partition]
        largest = max(numbers, default=-1)
        for offset, number in records:
            if seen and offset <= seen[-1][0]:
                raise Lost(f"{self._kind.name}-{partition}: offset {offset} comes after {seen[-1][0]}")
            if number in numbers:
                self.duplicates += 1
            elif number < largest and self._kind.once:  # librdkafka sends what comes next while a refused batch waits to be sent again
                raise Lost(f"{self._kind.name}-{partition}: record {number} comes after {largest}")
            largest = max(largest, number)
            numbers.add(number)
            seen.append((offset, number))
        if records:
            self._next[partition] = records[-1][0] + 1

    def _missing(self, acknowledged: Mapping[int, list[int]]) -> Iterator[str]:
        """A sentence for each partition that lacks something."""
        for partition, numbers in acknowledged.items():
            missing = set(numbers[self._checked[partition] :]) - self._numbers[partition]
            if self._kind.keys is not None:  # a newer record of the same key may have taken its place
                newest = _newest(self._numbers[partition], self._kind.keys)
                missing = {number for number in missing if newest.get(number % self._kind.keys, -1) < number}
            if missing:
                yield f"{self._kind.name}-{partition}: {len(missing)} acknowledged records are not there: {sorted(missing)[:20]}"

    def _commit(self) -> None:
        partition = TopicPartition(self._kind.name, 0)
        consumer = Consumer(self._settings)
        before = patiently(lambda: consumer.committed([partition], timeout=5)[0].offset)
        if self._committed is not None and before != self._committed:
            raise Lost(f"{self._kind.name}: offset {self._committed} was committed, now it is {before}")
        offset = max(self._next[0], 0)
        patiently(lambda: consumer.commit(offsets=[TopicPartition(self._kind.name, 0, offset)], asynchronous=False))
        self._committed = offset
        consumer.close()

    def finish(self, bootstrap: str) -> None:
        """Read everything again: what was seen once must be what is there."""
        self.catch_up()
        # Patiently: a preferred leader may just be taking over.
        for partition, records in patiently(lambda: read_all(bootstrap, self._kind.name)).items():
            now = [(stored.offset, int(stored.record.value or b"-1")) for stored in records]
            seen = self.seen[partition]
            if self._kind.compacted:
                new = sorted(set(now) - set(seen))
                newest_now, newest_seen = (_newest((number for _, number in some), self._kind.keys or 1) for some in (now, seen))
                if new or newest_now != newest_seen:
                    differs = {key: (newest_now.get(key), newest_seen.get(key)) for key in newest_seen if newest_now.get(key) != newest_seen.get(key)}
                    raise Lost(f"{self._kind.name}-{partition}: never seen before: {new[:10]}; newest record by key, now and before: {differs}")
            elif now != seen:
                raise Lost(f"{self._kind.name}-{partition}: {len(seen)} records were read on the way, {len(now)} are there now, or in another order")
        if self._kind.once and self.duplicates:
            raise Lost(f"{self._kind.name}: {self.duplicates} duplicates from an idempotent producer")


def _newest(numbers: Iterable[int], keys: int) -> dict[int, int]:
    newest: dict[int, int] = {}
    for number in numbers:
        newest[number % keys] = max(newest.get(number % keys, -1), number)
    return newest


def patiently(call: Callable[[], T]) -> T:
    """The call's answer, asked again while the group's coordinator is on its way."""
    deadline = time.monotonic() + ROUND_S
    while True:
        try:
            return call()
        except KafkaException:
            if time.monotonic() > deadline:
                raise


class KillLoop:
    """A cluster, its load, and the rounds."""

    def __init__(self, cluster: LocalCluster, seed: int, tell: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._chance = random.Random(seed)
        self._seed = seed
        self._tell = tell
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 2})
        self.killed = 0
        self.acknowledged = 0
        self.duplicates = 0

    def run(self, rounds: int) -> None:
        """All rounds; raises Lost, or AssertionError where the cluster does not come back."""
        for kind in KINDS:
            create_topic(self._cluster.bootstrap, kind.name, partitions=PARTITIONS, replicas=BROKERS, config=kind.config)
        with contextlib.ExitStack() as stack:
            self._witness = stack.enter_context(Witness(self._cluster.zookeeper.address))
            loads = [stack.enter_context(self._load(kind)) for kind in KINDS]
            followers = [Follower(self._cluster.bootstrap, kind, load) for kind, load in zip(KINDS, loads, strict=True)]
            for number in range(rounds):
                self._round(number, loads, followers)
        for follower in followers:
            follower.finish(self._cluster.bootstrap)
        failed = [error for load in loads for error in load.failed]
        assert not failed, f"{len(failed)} records refused: {failed[:3]}"
        eventually(self._same_bytes, "the same bytes in all replicas", seconds=ROUND_S)
        self.acknowledged = sum(load.count for load in loads)
        self.duplicates = sum(follower.duplicates for follower in followers)

    def _load(self, kind: Kind) -> Load:
        settings = {"message_timeout_ms": 300_000, **kind.producer}
        return Load(self._cluster.bootstrap, kind.name, partitions=PARTITIONS, per_second=300, keys=kind.keys, size=0, **settings)

    def _round(self, number: int, loads: list[Load], followers: list[Follower]) -> None:
        story = STORIES[number % len(STORIES)] if number < len(STORIES) else self._chance.choice(STORIES)
        started, before = time.monotonic(), sum(load.count for load in loads)
        time.sleep(self._chance.uniform(0, 1))  # die at some point of the work, not always the same
        what = story(self)
        self._wait_in_sync(loads)
        for follower in followers:
            follower.catch_up()
        more = sum(load.count for load in loads) - before
        self._tell(f"round {number + 1} ({what}): {more} more acknowledged, lost 0, {time.monotonic() - started:.1f} s")

    def _wait_in_sync(self, loads: list[Load]) -> None:
        for broker in range(BROKERS):
            self._cluster.brokers[broker].wait_started(seconds=ROUND_S)
        everybody = dict.fromkeys(range(PARTITIONS), BROKERS)
        for kind in KINDS:
            what = f"all replicas of {kind.name} in sync (seed {self._seed})"
            eventually(lambda kind=kind: in_sync(self._admin, kind.name) == everybody, what, seconds=ROUND_S)  # type: ignore[misc]
        for load in loads:
            load.wait_for_more(20, seconds=ROUND_S)

    def _same_bytes(self) -> bool:
        """Of topics that are not compacted: there each replica cleans by itself."""
        return all(
            len({self._bytes_of(broker, kind.name, partition) for broker in range(BROKERS)}) == 1
            for kind in KINDS
            if not kind.compacted
            for partition in range(PARTITIONS)
        )

    def _bytes_of(self, broker: int, topic: str, partition: int) -> bytes:
        folder = self._cluster.brokers[broker].directory / "data" / f"{topic}-{partition}"
        return b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))

    # Stories: what happens in a round. Each says what it did; all brokers have been started again when it ends.

    def _kill(self, *brokers: int) -> None:
        for broker in brokers:
            self._cluster.brokers[broker].kill()
        self.killed += len(brokers)

    def _start(self, *brokers: int) -> None:
        for broker in brokers:
            self._cluster.brokers[broker].start()

    def _leader(self) -> int:
        leaders = [leader for kind in KINDS for leader in self._witness.leaders(kind.name, PARTITIONS) if leader >= 0]
        return self._chance.choice(leaders)

    def one_and_back_at_once(self) -> str:
        """Its old session is still alive when it comes back."""
        victim = self._leader()
        self._kill(victim)
        self._start(victim)
        return f"leader {victim} killed, back at once"

    def one_for_a_while(self) -> str:
        """Others lead meanwhile."""
        victim = self._leader()
        self._kill(victim)
        wait_until(lambda: self._witness.session_of(victim) == 0, seconds=DEADLINE_S)
        time.sleep(self._chance.uniform(0, 1))
        self._start(victim)
        return f"leader {victim} killed, back after its session"

    def the_controller(self) -> str:
        """Another broker takes over in the middle of things."""
        victim = self._witness.controller()
        self._kill(victim)
        time.sleep(self._chance.uniform(0, 5))
        self._start(victim)
        return f"controller {victim} killed"

    def two_at_once(self) -> str:
        """One replica is left, which is too few to acknowledge anything."""
        victims = self._chance.sample(range(BROKERS), 2)
        self._kill(*victims)
        time.sleep(self._chance.uniform(0, 4))
        self._start(*victims)
        return f"{victims} killed together"

    def one_after_the_other(self) -> str:
        """The first comes back first, and must not lead: it lacks what the second has."""
        first, second = self._chance.sample(range(BROKERS), 2)
        self._kill(first)
        wait_until(lambda: self._witness.session_of(first) == 0, seconds=DEADLINE_S)
        time.sleep(self._chance.uniform(0, 1))
        self._kill(second)
        self._start(first)
        time.sleep(self._chance.uniform(0, 3))
        self._start(second)
        return f"{first} killed, then {second}; {first} back first"

    def all_of_them(self) -> str:
        """Nobody is left: the logs alone remember."""
        self._kill(*self._chance.sample(range(BROKERS), BROKERS))
        time.sleep(self._chance.uniform(0, 4))
        self._start(*self._chance.sample(range(BROKERS), BROKERS))
        return "all killed"

    def again_while_it_starts(self) -> str:
        """A crash during recovery."""
        victim = self._leader()
        self._kill(victim)
        for _ in range(self._chance.randrange(1, 4)):
            self._start(victim)
            time.sleep(self._chance.uniform(0, 2))
            self._kill(victim)
        self._start(victim)
        return f"{victim} killed, and again while it started"


STORIES: Final[tuple[Callable[[KillLoop], str], ...]] = (
    KillLoop.one_and_back_at_once,
    KillLoop.all_of_them,
    KillLoop.one_for_a_while,
    KillLoop.the_controller,
    KillLoop.two_at_once,
    KillLoop.one_after_the_other,
    KillLoop.again_while_it_starts,
)


def kill_loop(directory: Path, *, rounds: int, seed: int, tell: Callable[[str], None]) -> KillLoop:
    """Run it all on a cluster of its own below `directory`."""
    with LocalCluster(directory, brokers=BROKERS, overrides=OVERRIDES) as cluster:
        loop = KillLoop(cluster, seed, tell)
        loop.run(rounds)
        assert_no_stack_traces(cluster)
    return loop


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="kill -9 brokers under load; count what was acknowledged and what is there")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--directory", type=Path, help="keep data and logs there")
    options = parser.parse_args()
    print(f"kill loop: {options.rounds} rounds, seed {options.seed}", flush=True)
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        directory = options.directory or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kill-loop-")))
        loop = kill_loop(directory, rounds=options.rounds, seed=options.seed, tell=lambda line: print(line, flush=True))
    seconds = time.monotonic() - started
    print(
        f"{options.rounds} rounds, {loop.killed} brokers killed in {seconds:.0f} s: acknowledged {loop.acknowledged}, lost 0; "
        f"{loop.duplicates} duplicates, all from the producer that is not idempotent"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
