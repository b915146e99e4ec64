"""Brokers of Apache Kafka and ours in one cluster: replicas, leaderships and the controller move both ways.

A peer of an older release is the stricter judge: it closes the connection on a request version that inter.broker.protocol.version does not allow.
Skipped where the jars of Apache Kafka cannot be had. More releases: tests/chaos/mixed_clusters.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.cimpl import NewPartitions

from tests.integration.apache import OURS, MixedCluster
from tests.integration.foreign import DEADLINE_S, Load, Sent, assert_nothing_lost, eventually, send
from tests.integration.mixed_story import PARTITIONS, join_and_change_places, make_controller, make_topic, running, same_logs, wait_both_in_sync
from tests.integration.witness import Witness


@pytest.mark.parametrize(("kinds", "protocol"), [([OURS, "2.8.2"], "2.8"), (["2.8.2", OURS], "2.8"), (["2.4.1", OURS], "2.4")], ids=str)
def test_a_broker_of_the_other_kind_joins_and_takes_over_under_load(tmp_path: Path, kinds: list[str], protocol: str) -> None:
    join_and_change_places(tmp_path, kinds, protocol)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[MixedCluster, Witness]]:
    with running(tmp_path_factory.mktemp("pair"), [OURS, "2.8.2"], "2.8") as started:
        yield started


@pytest.fixture(params=[0, 1], ids=["our controller", "apache's controller"])
def controlled(pair: tuple[MixedCluster, Witness], request: pytest.FixtureRequest) -> tuple[MixedCluster, Witness, int]:
    """The pair with a controller of the one kind, then of the other."""
    cluster, witness = pair
    make_controller(cluster, witness, request.param)
    return cluster, witness, request.param


Controlled = tuple[MixedCluster, Witness, int]


def test_topics_are_made_grown_and_deleted_on_both_kinds(controlled: Controlled) -> None:
    cluster, witness, controller = controlled
    topic = make_topic(cluster, f"grown-by-{controller}", [[0, 1], [1, 0]])
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    [grown] = admin.create_partitions([NewPartitions(topic, 4, [[0, 1], [1, 0]])], operation_timeout=DEADLINE_S).values()
    grown.result(DEADLINE_S)
    wait_both_in_sync(witness, topic, 4)
    for partition in range(4):
        [stored] = send(cluster.bootstrap, topic, [Sent(None, b"v")], partition=partition, acks="all")
        assert (stored.partition, stored.offset) == (partition, 0)
    same_logs(cluster, topic, 4)
    [deleted] = admin.delete_topics([topic], operation_timeout=DEADLINE_S).values()
    deleted.result(DEADLINE_S)
    eventually(lambda: not any((broker.directory / "data" / f"{topic}-0").exists() for broker in cluster.brokers), "no replica is left")
    eventually(lambda: all(not known_to(cluster, number, topic) for number in (0, 1)), "no broker knows it")


def known_to(cluster: MixedCluster, number: int, topic: str) -> bool:
    told = cluster.metadata(number, [topic])
    return told is not None and told.topics[0].error_code == 0


def test_a_topic_config_reaches_leaders_of_both_kinds(controlled: Controlled) -> None:
    cluster, witness, controller = controlled
    topic = make_topic(cluster, f"small-by-{controller}", [[0, 1], [1, 0]])
    wait_both_in_sync(witness, topic)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for number in (0, 1):
        assert refusal(cluster, topic, number, 5000) is None
    change = ConfigEntry("max.message.bytes", "2000", incremental_operation=AlterConfigOpType.SET)
    wanted = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[change])
    [altered] = admin.incremental_alter_configs([wanted]).values()
    altered.result(DEADLINE_S)
    for number in (0, 1):
        wait_refused(cluster, topic, number, 5000)
        assert refusal(cluster, topic, number, 500) is None


def wait_refused(cluster: MixedCluster, topic: str, partition: int, size: int) -> None:
    """A config change is taken over by each broker when it is told."""
    eventually(lambda: refusal(cluster, topic, partition, size) == KafkaError.MSG_SIZE_TOO_LARGE, f"the leader of partition {partition} refuses {size} bytes")


def refusal(cluster: MixedCluster, topic: str, partition: int, size: int) -> int | None:
    """Why a record of this size is not taken."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "message.timeout.ms": 10_000, "log_level": 2})
    answers: list[KafkaError | None] = []
    producer.produce(topic, b"v" * size, partition=partition, on_delivery=lambda error, _: answers.append(error))
    producer.flush(DEADLINE_S)
    [error] = answers
    return None if error is None else error.code()


def test_replicas_are_moved_from_one_kind_to_the_other_and_back(controlled: Controlled) -> None:
    cluster, witness, controller = controlled
    topic = make_topic(cluster, f"moved-by-{controller}", [[0], [1]])
    with Load(cluster.bootstrap, topic, partitions=PARTITIONS, per_second=300, enable_idempotence=True) as load:
        for target in ([[1], [0]], [[0, 1], [1, 0]]):
            witness.reassign(topic, target)
            eventually(lambda target=target: isrs(witness, topic) == [sorted(each) for each in target], f"{topic} is on {target}")  # type: ignore[misc]
            load.wait_for_more_in(range(PARTITIONS))
    assert (assert_nothing_lost(load, cluster.bootstrap, topic), load.failed) == (0, [])
    same_logs(cluster, topic, PARTITIONS)


def isrs(witness: Witness, topic: str) -> list[list[int]]:
    return [sorted(witness.state(topic, partition).isr) for partition in range(PARTITIONS)]


def test_preferred_leaders_are_elected_back(controlled: Controlled) -> None:
    cluster, witness, controller = controlled
    topic = make_topic(cluster, f"preferred-by-{controller}", [[0, 1], [1, 0]])
    wait_both_in_sync(witness, topic)
    other = 1 - controller
    cluster.brokers[other].stop()
    eventually(lambda: witness.leaders(topic, PARTITIONS) == [controller] * PARTITIONS, "the other one leads all")
    cluster.restart(other)
    wait_both_in_sync(witness, topic)
    assert witness.leaders(topic, PARTITIONS) == [controller] * PARTITIONS
    witness.elect_preferred([(topic, partition) for partition in range(PARTITIONS)])
    eventually(lambda: witness.leaders(topic, PARTITIONS) == [0, 1], "each is led by its first replica")


def test_a_group_goes_on_with_the_other_kind_of_coordinator(pair: tuple[MixedCluster, Witness]) -> None:
    cluster, witness = pair
    topic = make_topic(cluster, "grouped", [[0, 1], [1, 0]])
    wait_both_in_sync(witness, topic)
    send(cluster.bootstrap, topic, [Sent(None, str(number).encode()) for number in range(400)], acks="all")
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": "wandering", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer(settings)
    consumer.subscribe([topic])
    seen = [poll_and_commit(consumer) for _ in range(100)]
    for number in (0, 1):  # whichever of them is the coordinator: each has been away once
        wait_both_in_sync(witness, "__consumer_offsets", 5)
        cluster.brokers[number].stop()
        seen += [poll_and_commit(consumer) for _ in range(100)]
        cluster.restart(number)
    consumer.close()
    wait_both_in_sync(witness, topic)
    successor = Consumer(settings)
    successor.subscribe([topic])
    seen += [poll_and_commit(successor) for _ in range(100)]
    successor.close()
    assert sorted(seen) == list(range(400)), "nothing twice, nothing left out"


def poll_and_commit(consumer: Consumer) -> int:
    """The next record, committed at once."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        message = consumer.poll(1.0)
        if message is not None and message.error() is None:
            commit(consumer, message)
            return int(message.value() or b"")
    raise AssertionError("no record comes")


def commit(consumer: Consumer, message: Message) -> None:
    """Commit, again where the coordinator is moving."""

    def taken() -> bool:
        try:
            consumer.commit(message=message, asynchronous=False)
        except KafkaException as error:
            if error.args[0].retriable() or error.args[0].code() in {KafkaError.NOT_COORDINATOR, KafkaError._TRANSPORT}:
                return False
            raise
        return True

    eventually(taken, "the commit is taken")
