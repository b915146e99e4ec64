"""Our Consumer in groups of the second generation: with its like, and beside librdkafka, kafka-python and Java."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pykafka_classic.clients import CommitFailed, Consumer, ErrorCode, KafkaError, OffsetAndMetadata, Producer, TopicPartition
from pykafka_classic.edges.child_processes import ChildProcess
from pykafka_classic.edges.processes import require_java
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import create_topic, eventually
from tests.integration.java_tools import JVM_FLAGS, needs_maven, tools_class_path
from tests.integration.own_members import ConfluentMember, KafkaPythonMember, Member, OurMember, Place
from tests.reading import read_on

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

PARTITIONS = 6
EVERYTHING = frozenset(range(PARTITIONS))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    overrides = {**KEEP, "group.initial.rebalance.delay.ms": "200", "group.min.session.timeout.ms": "1000"}
    with LocalCluster(tmp_path_factory.mktemp("own-groups"), brokers=1, overrides=overrides) as running:
        yield running
    assert_no_stack_traces(running)


def make(cluster: LocalCluster, topic: str) -> str:
    create_topic(cluster.bootstrap, topic, partitions=PARTITIONS, replicas=1)
    return topic


def send_round(cluster: LocalCluster, topic: str, count: int = 20) -> set[Place]:
    """So many to each partition; where they lie."""
    with Producer(cluster.bootstrap, acks="all") as producer:
        futures = [producer.send(topic, str(number), partition=partition) for number in range(count) for partition in range(PARTITIONS)]
    return {(future.result().partition, future.result().offset) for future in futures}


def wait_divided(members: Sequence[Member], *, seconds: float = 30) -> None:
    """Until every partition is owned by one of them, everyone has a share, and that stays so for a moment."""

    def divided() -> bool:
        shares = [member.owned for member in members]
        return all(shares) and sum(map(len, shares)) == PARTITIONS and frozenset().union(*shares) == EVERYTHING

    since: list[float] = []

    def settled() -> bool:
        if not divided():
            since.clear()
            return False
        since.append(time.monotonic())
        return since[-1] - since[0] > 1.0

    try:
        eventually(settled, "the partitions are divided", seconds=seconds)
    except AssertionError:
        raise AssertionError(f"not divided: {[sorted(member.owned) for member in members]}, failures {[member.failure for member in members]}") from None


def wait_read(members: Sequence[Member], places: set[Place], before: Sequence[int]) -> None:
    """Until they have read these records; each just once since `before`."""
    eventually(lambda: places <= {place for member in members for place in member.seen}, "all records are read")
    read = [place for member, start in zip(members, before, strict=True) for place in member.seen[start:] if place in places]
    assert len(read) == len(set(read)), "a record was read twice in steady state"


def counts(members: Sequence[Member]) -> list[int]:
    return [len(member.seen) for member in members]


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_members_come_and_go_and_every_record_is_read_once_in_steady_state(cluster: LocalCluster, assignor: str) -> None:
    topic = group = make(cluster, f"comings-{assignor}")
    settings = {"group_id": group, "partition_assignment_strategy": assignor}
    with OurMember(cluster.bootstrap, topic, settings) as first:
        wait_divided([first])
        wait_read([first], send_round(cluster, topic), [0])
        with OurMember(cluster.bootstrap, topic, settings) as second:
            wait_divided([first, second])
            before = counts([first, second])
            wait_read([first, second], send_round(cluster, topic), before)
            with OurMember(cluster.bootstrap, topic, settings) as third:
                members = [first, second, third]
                wait_divided(members)
                assert sorted(len(member.owned) for member in members) == [2, 2, 2]
                before = counts(members)
                wait_read(members, send_round(cluster, topic), before)
        wait_divided([first])
        before = counts([first])
        wait_read([first], send_round(cluster, topic), before)
    if assignor == "cooperative-sticky":
        assert all(name != "revoked" or numbers != tuple(range(PARTITIONS)) for name, numbers in first.events[:-1]), "it gave up everything at once"
    assert not any(name == "lost" for name, _ in first.events)


def beside(cluster: LocalCluster, topic: str, assignor: str, other: Callable[[], Any]) -> None:
    """Ours first, then another; the other first, then ours."""
    group = topic
    settings = {"group_id": group, "partition_assignment_strategy": assignor}
    with OurMember(cluster.bootstrap, topic, settings) as ours:
        wait_divided([ours])
        with other() as theirs:
            wait_divided([ours, theirs])
            before = counts([ours, theirs])
            wait_read([ours, theirs], send_round(cluster, topic), before)
            ours.leave()
            wait_divided([theirs])
            with OurMember(cluster.bootstrap, topic, settings) as again:
                wait_divided([theirs, again])
                before = counts([theirs, again])
                wait_read([theirs, again], send_round(cluster, topic), before)


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "cooperative-sticky"])
def test_a_group_is_shared_with_librdkafka(cluster: LocalCluster, assignor: str) -> None:
    topic = make(cluster, f"librdkafka-{assignor}")
    beside(cluster, topic, assignor, lambda: ConfluentMember(cluster.bootstrap, topic, topic, assignor))


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky"])
def test_a_group_is_shared_with_kafka_python(cluster: LocalCluster, assignor: str) -> None:
    topic = make(cluster, f"kafka-python-{assignor}")
    beside(cluster, topic, assignor, lambda: KafkaPythonMember(cluster.bootstrap, topic, topic, assignor))


JAVA_ASSIGNORS = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}


@needs_maven
@pytest.mark.parametrize("assignor", list(JAVA_ASSIGNORS))
def test_a_group_is_shared_with_javas_consumer(cluster: LocalCluster, tmp_path: Path, assignor: str) -> None:
    topic = group = make(cluster, f"java-{assignor}")
    config = tmp_path / "consumer.properties"
    config.write_text(
        f"group.id={group}\nauto.offset.reset=earliest\nheartbeat.interval.ms=300\nsession.timeout.ms=6000\n"
        f"partition.assignment.strategy=org.apache.kafka.clients.consumer.{JAVA_ASSIGNORS[assignor]}\n"
    )
    options = ["--bootstrap-server", cluster.bootstrap, "--topic", topic, "--consumer.config", str(config), "--property", "print.partition=true"]
    command = [require_java(), *JVM_FLAGS, "-cp", tools_class_path("2.8.2"), "kafka.tools.ConsoleConsumer", *options]
    theirs = ChildProcess(command, log_path=tmp_path / "console.log")
    with OurMember(cluster.bootstrap, topic, {"group_id": group, "partition_assignment_strategy": assignor}) as ours:
        wait_divided([ours])
        theirs.start()
        try:
            eventually(lambda: len(ours.owned) == PARTITIONS // 2, "half of the partitions are ours", seconds=60)
            time.sleep(1)  # a cooperative group needs a second round, and Java's share cannot be seen from here
            mine, before = ours.owned, len(ours.seen)
            places = send_round(cluster, topic)
            eventually(lambda: len(ours.seen) - before >= len(places) // 2, "our half is read")
            assert set(ours.seen[before:]) == {place for place in places if place[0] in mine}
            eventually(lambda: theirs.output().count("Partition:") >= len(places) // 2, "Java reads its half")
        finally:
            theirs.stop()
        wait_divided([ours])


def test_offsets_are_committed_and_the_next_member_goes_on_from_there(cluster: LocalCluster) -> None:
    topic = group = make(cluster, "commits")
    send_round(cluster, topic, 10)
    zero = TopicPartition(topic, 0)
    with Consumer(cluster.bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False) as consumer:
        consumer.subscribe([topic])
        first = next(iter(consumer))
        consumer.commit()
        assert consumer.committed([(topic, first.partition)]) == {(topic, first.partition): OffsetAndMetadata(first.offset + 1)}
        consumer.commit({(topic, 0): OffsetAndMetadata(7, "a note")})
        assert consumer.committed([zero])[zero][:2] == (7, "a note")
    with Consumer(cluster.bootstrap, group_id=group, auto_offset_reset="earliest", auto_commit_interval_ms=100) as consumer:
        consumer.subscribe(topic)
        found = read_on(consumer, 10 * PARTITIONS - 7 - (first.partition != 0))
        assert [record.offset for record in found if record.partition == 0] == [7, 8, 9]
    with Consumer(cluster.bootstrap, group_id=group, start="committed") as consumer:
        partitions = consumer.partitions_of(topic)
        assert {each.offset for each in consumer.committed(partitions).values()} == {10}
        assert consumer.offsets_of("committed", partitions) == dict.fromkeys(partitions, 10)
        consumer.assign(partitions)  # by hand, with the group's offsets
        assert list(consumer.until_idle(1_000)) == []
        consumer.seek_to("-1")
        assert [record.offset for record in read_on(consumer, PARTITIONS)] == [9] * PARTITIONS


def test_who_does_not_poll_for_too_long_has_left_and_cannot_commit(cluster: LocalCluster) -> None:
    topic = group = make(cluster, "sleeper")
    send_round(cluster, topic, 1)
    lost: list[tuple[TopicPartition, ...]] = []
    settings: dict[str, Any] = {"group_id": group, "auto_offset_reset": "earliest", "heartbeat_interval_ms": 200, "session_timeout_ms": 2_000}
    with Consumer(cluster.bootstrap, max_poll_interval_ms=1_500, enable_auto_commit=False, **settings) as sleeper:
        sleeper.subscribe([topic], on_lost=lost.append)
        assert len(read_on(sleeper, PARTITIONS)) == PARTITIONS
        with OurMember(cluster.bootstrap, topic, settings) as other:
            eventually(lambda: other.owned == EVERYTHING, "the other has taken over")  # meanwhile nobody polls the sleeper
            with pytest.raises(CommitFailed, match=r"did not call poll for longer than max\.poll\.interval\.ms|has gone on without"):
                sleeper.commit({(topic, 0): 1})
            assert lost == []
            sleeper.poll(timeout_ms=100)
            assert [len(each) for each in lost] == [PARTITIONS]


def test_a_static_member_comes_back_without_a_rebalance_and_is_fenced_by_its_double(cluster: LocalCluster) -> None:
    topic = group = make(cluster, "static")
    settings: dict[str, Any] = {"group_id": group, "session_timeout_ms": 20_000}
    with OurMember(cluster.bootstrap, topic, {**settings, "group_instance_id": "one"}) as one, OurMember(cluster.bootstrap, topic, settings) as other:
        wait_divided([one, other])
        events, owned = len(other.events), one.owned
        one.leave()
        with OurMember(cluster.bootstrap, topic, {**settings, "group_instance_id": "one"}) as again:
            eventually(lambda: again.owned == owned, "it has the same partitions again")
            assert other.events[events:] == [], "the other member had to rebalance"
            with OurMember(cluster.bootstrap, topic, {**settings, "group_instance_id": "one"}) as double:
                eventually(lambda: double.owned == owned, "the double has them")
                eventually(lambda: again.failure is not None, "the first is told")
                failure, again.failure = again.failure, None
            assert isinstance(failure, KafkaError) and failure.code is ErrorCode.FENCED_INSTANCE_ID
            assert other.events[events:] == []


def test_a_pattern_takes_in_topics_that_are_created_later(cluster: LocalCluster) -> None:
    make(cluster, "pattern-one")
    with Consumer(cluster.bootstrap, group_id="pattern", auto_offset_reset="earliest", metadata_max_age_ms=500) as consumer:
        consumer.subscribe("^pattern-.*")
        send_round(cluster, "pattern-one", 1)
        assert [record.topic for record in read_on(consumer, PARTITIONS)] == ["pattern-one"] * PARTITIONS
        make(cluster, "pattern-two")
        send_round(cluster, "pattern-two", 1)
        assert [record.topic for record in read_on(consumer, PARTITIONS)] == ["pattern-two"] * PARTITIONS
        assert len(consumer.assignment) == 2 * PARTITIONS


def test_the_listener_may_commit_and_what_it_raises_comes_out_of_poll(cluster: LocalCluster) -> None:
    topic = group = make(cluster, "listener")
    send_round(cluster, topic, 3)
    settings: dict[str, Any] = {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": False, "heartbeat_interval_ms": 200}
    with Consumer(cluster.bootstrap, **settings) as consumer:
        consumer.subscribe([topic], on_revoked=lambda _: consumer.commit())
        assert len(read_on(consumer, 3 * PARTITIONS)) == 3 * PARTITIONS
        with OurMember(cluster.bootstrap, topic, settings) as other:
            deadline = time.monotonic() + 20
            while len(consumer.assignment) != PARTITIONS // 2 and time.monotonic() < deadline:
                assert consumer.poll(timeout_ms=200) == []
            assert len(consumer.assignment) == PARTITIONS // 2
            eventually(lambda: len(other.owned) == PARTITIONS // 2, "the other has its half")
        assert other.seen == [], "the other read what was committed"

    class OutOfOrder(Exception):
        """The user's own."""

    def refuse(_: object) -> None:
        raise OutOfOrder

    with Consumer(cluster.bootstrap, **settings) as consumer:
        consumer.subscribe([topic], on_assigned=refuse)
        with pytest.raises(OutOfOrder):
            consumer.poll(timeout_ms=10_000)

        def assigned() -> bool:
            consumer.poll(timeout_ms=100)
            return len(consumer.assignment) == PARTITIONS

        eventually(assigned, "it has them all the same")


def test_records_of_a_partition_come_in_order_over_polls_of_any_size(cluster: LocalCluster) -> None:
    topic = make(cluster, "sizes")
    send_round(cluster, topic, 100)
    with Consumer(cluster.bootstrap, start="earliest", max_poll_records=7) as consumer:
        consumer.assign(consumer.partitions_of(topic))
        found = read_on(consumer, 100 * PARTITIONS)
    assert len(found) == 100 * PARTITIONS
    for partition in range(PARTITIONS):
        offsets = [record.offset for record in found if record.partition == partition]
        assert all(after == before + 1 for before, after in pairwise(offsets))
