"""Our admin client against our brokers and, word for word the same test, against Apache Kafka 2.8.2's: what it promises is what Kafka does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer
from twisted.internet.defer import Deferred

from pykafka_classic.client.admin.cluster import CLIENT_ID, USER, QuotaFilter, quota_entity
from pykafka_classic.client.admin.configs import ConfigChange, ConfigResource
from pykafka_classic.client.admin.groups import MemberToRemove
from pykafka_classic.client.admin.offsets import EARLIEST, HIGH_WATERMARK, LATEST
from pykafka_classic.client.admin.outcomes import K, Outcomes, V
from pykafka_classic.client.admin.replicas import ElectionType, Replica
from pykafka_classic.client.admin.topics import NewPartitions, NewTopic
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.edges.twisted_admin import TwistedAdmin
from pykafka_classic.protocol.api_keys import zk_broker_apis
from pykafka_classic.protocol.config_numbers import AlterOp, ConfigSource
from tests.edges.reactor_thread import ReactorThread
from tests.integration.apache import OURS, MixedCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import Sent, send

APACHE = "2.8.2"


@pytest.fixture(scope="module", params=[OURS, APACHE])
def brokers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MixedCluster]:
    kind: str = request.param
    overrides = {"auto.leader.rebalance.enable": "false", "log.retention.ms": "-1", "auto.create.topics.enable": "false"}
    with MixedCluster(tmp_path_factory.mktemp("admin"), [kind] * 3, overrides=overrides) as running:
        yield running
    if kind == OURS:
        assert_no_stack_traces(running)


@pytest.fixture(scope="module")
def admin(brokers: MixedCluster) -> Iterator[Admin]:
    with Admin(brokers.bootstrap) as client:
        yield client


def codes(outcomes: Outcomes[K, V]) -> dict[K, ErrorCode]:
    return {key: error.code for key, error in outcomes.errors().items()}


def made(admin: Admin, name: str, assignment: dict[int, list[int]]) -> None:
    """Create a topic and wait until all partitions are led and in sync, as every broker sees it."""
    admin.create_topics([NewTopic(name, assignment=assignment)]).check()

    def ready() -> bool:
        described = admin.describe_topics([name])[name]
        return not isinstance(described, KafkaError) and all(each.leader is not None and set(each.isr) == set(each.replicas) for each in described.partitions)

    wait_until(ready, seconds=30)
    admin.list_offsets({TopicPartition(name, number): LATEST for number in assignment}).check()


def test_topics(admin: Admin) -> None:
    wanted = [
        NewTopic("counted", 2, 3, configs={"retention.ms": "86400000"}),
        NewTopic("placed", assignment={0: [2, 0], 1: [0, 1]}),
        NewTopic("by-default"),
        NewTopic("bad name", 1, 1),
        NewTopic("too-wide", 1, 4),
        NewTopic("bad-config", 1, 1, configs={"retention.ms": "soon"}),
        NewTopic("no-partitions", 0, 1),
    ]
    created = admin.create_topics(wanted)
    assert codes(created) == {
        "bad name": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "too-wide": ErrorCode.INVALID_REPLICATION_FACTOR,
        "bad-config": ErrorCode.INVALID_CONFIG,
        "no-partitions": ErrorCode.INVALID_PARTITIONS,
    }
    told = created.values_only()
    assert {name: (each.partitions, each.replication_factor) for name, each in told.items()} == {"counted": (2, 3), "placed": (2, 2), "by-default": (1, 1)}
    configs = {each.name: each for each in told["counted"].configs or ()}
    assert (configs["retention.ms"].value, configs["retention.ms"].source) == ("86400000", ConfigSource.DYNAMIC_TOPIC_CONFIG)
    assert (configs["cleanup.policy"].value, configs["cleanup.policy"].is_default) == ("delete", True)
    assert codes(admin.create_topics([NewTopic("counted", 1, 1)])) == {"counted": ErrorCode.TOPIC_ALREADY_EXISTS}
    assert codes(admin.create_topics([NewTopic("only-asked", 1, 1)], validate_only=True)) == {}
    wait_until(lambda: {"counted", "placed", "by-default"} <= admin.list_topics().keys(), seconds=20)
    assert "only-asked" not in admin.list_topics()
    described = admin.describe_topics(["placed", "never-was"])
    assert codes(described) == {"never-was": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    placed = described.values_only()["placed"]
    assert placed.topic_id == told["placed"].topic_id != bytes(16)
    assert [each.replicas for each in placed.partitions] == [(2, 0), (0, 1)]
    enlarged = admin.create_partitions({"placed": NewPartitions(3, [[1, 2]]), "counted": NewPartitions(1), "never-was": NewPartitions(2)})
    assert codes(enlarged) == {"counted": ErrorCode.INVALID_PARTITIONS, "never-was": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    wait_until(lambda: len(admin.describe_topics(["placed"]).check()["placed"].partitions) == 3, seconds=20)
    assert codes(admin.delete_topics(["placed", "counted", "by-default", "never-was"])) == {"never-was": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    wait_until(lambda: not {"counted", "placed", "by-default"} & admin.list_topics().keys(), seconds=20)


def test_configs(admin: Admin) -> None:
    made(admin, "configured", {0: [0]})
    topic, missing = ConfigResource.topic("configured"), ConfigResource.topic("never-was")

    def value(name: str) -> tuple[str | None, ConfigSource]:
        entry = admin.describe_configs([topic]).check()[topic][name]
        return entry.value, entry.source

    changes = {
        topic: [ConfigChange("retention.ms", "5000"), ConfigChange("cleanup.policy", "compact", AlterOp.APPEND)],
        missing: [ConfigChange("retention.ms", "1")],
    }
    assert codes(admin.incremental_alter_configs(changes)) == {missing: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    wait_until(lambda: value("cleanup.policy") == ("delete,compact", ConfigSource.DYNAMIC_TOPIC_CONFIG), seconds=20)
    assert value("retention.ms") == ("5000", ConfigSource.DYNAMIC_TOPIC_CONFIG)
    assert codes(admin.incremental_alter_configs({topic: [ConfigChange("retention.ms", "soon")]})) == {topic: ErrorCode.INVALID_REQUEST}
    assert codes(admin.alter_configs({topic: {"retention.ms": "soon"}})) == {topic: ErrorCode.INVALID_REQUEST}
    admin.alter_configs({topic: {"segment.ms": "7000"}}, validate_only=True).check()
    admin.incremental_alter_configs({topic: [ConfigChange("cleanup.policy", operation=AlterOp.DELETE)]}).check()
    wait_until(lambda: value("cleanup.policy") == ("delete", ConfigSource.DEFAULT_CONFIG), seconds=20)
    admin.alter_configs({topic: {"segment.ms": "7000"}}).check()  # retention.ms is not named, so it goes
    wait_until(lambda: value("segment.ms") == ("7000", ConfigSource.DYNAMIC_TOPIC_CONFIG), seconds=20)
    assert value("retention.ms")[1] is not ConfigSource.DYNAMIC_TOPIC_CONFIG
    one, all_of_them = ConfigResource.broker(1), ConfigResource.broker(None)
    admin.incremental_alter_configs({one: [ConfigChange("num.io.threads", "9")], all_of_them: [ConfigChange("num.io.threads", "10")]}).check()
    expected = [("9", ConfigSource.DYNAMIC_BROKER_CONFIG), ("10", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG), ("8", ConfigSource.DEFAULT_CONFIG)]

    def synonyms() -> list[tuple[str | None, ConfigSource]]:
        entry = admin.describe_configs([one], synonyms=True).check()[one]["num.io.threads"]
        return [(each.value, each.source) for each in entry.synonyms]

    wait_until(lambda: synonyms() == expected, seconds=20)
    deletes = [ConfigChange("num.io.threads", operation=AlterOp.DELETE)]
    admin.incremental_alter_configs({one: deletes, all_of_them: deletes}).check()


def test_offsets_and_deleting_records(brokers: MixedCluster, admin: Admin) -> None:
    made(admin, "written", {0: [0, 1], 1: [1, 2]})
    first, second, unknown = TopicPartition("written", 0), TopicPartition("written", 1), TopicPartition("written", 7)
    send(brokers.bootstrap, "written", [Sent(None, b"v", timestamp_ms=1_600_000_000_000 + 1000 * number) for number in range(10)], partition=0, acks="all")
    send(brokers.bootstrap, "written", [Sent(None, b"v")] * 4, partition=1, acks="all")
    latest = admin.list_offsets({first: LATEST, second: LATEST, unknown: LATEST})
    assert {each: found.offset for each, found in latest.values_only().items()} == {first: 10, second: 4}
    assert codes(latest) == {unknown: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    by_time = admin.list_offsets({first: 1_600_000_003_500}).check()[first]
    assert (by_time.offset, by_time.timestamp_ms) == (4, 1_600_000_004_000)
    assert admin.list_offsets({first: 1_700_000_000_000}).check()[first].offset == -1
    deleted = admin.delete_records({first: 3, second: HIGH_WATERMARK, unknown: 0})
    assert deleted.values_only() == {first: 3, second: 4}
    assert codes(deleted) == {unknown: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert codes(admin.delete_records({first: 11})) == {first: ErrorCode.OFFSET_OUT_OF_RANGE}
    earliest = admin.list_offsets({first: EARLIEST, second: EARLIEST}).check()
    assert {each: found.offset for each, found in earliest.items()} == {first: 3, second: 4}


def test_replicas(brokers: MixedCluster, admin: Admin) -> None:
    made(admin, "moved", {0: [0, 1], 1: [1, 2]})
    first, second, unknown = TopicPartition("moved", 0), TopicPartition("moved", 1), TopicPartition("moved", 7)
    elected = admin.elect_leaders(ElectionType.PREFERRED, [first, unknown])
    assert codes(elected) == {first: ErrorCode.ELECTION_NOT_NEEDED, unknown: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert codes(admin.alter_partition_reassignments({first: [1, 0], second: None, unknown: [1]})) == {
        second: ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
        unknown: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    wait_until(lambda: not admin.list_partition_reassignments(), seconds=30)
    wait_until(lambda: admin.describe_topics(["moved"]).check()["moved"].partitions[0].replicas == (1, 0), seconds=20)
    admin.elect_leaders(ElectionType.PREFERRED)
    wait_until(lambda: admin.describe_topics(["moved"]).check()["moved"].partitions[0].leader == 1, seconds=20)
    assert admin.list_partition_reassignments([first]) == {}
    dirs = admin.describe_log_dirs([0, 1]).check()
    (path,) = dirs[1]
    assert path == str(brokers.brokers[1].directory / "data")
    assert dirs[1][path].error is None
    assert {each for each in dirs[1][path].replicas if each.topic == "moved"} == {first, second}
    here, elsewhere = Replica("moved", 0, 1), Replica("moved", 1, 2)
    assert codes(admin.alter_replica_log_dirs({here: path, elsewhere: "/never/was"})) == {elsewhere: ErrorCode.LOG_DIR_NOT_FOUND}


def test_groups(brokers: MixedCluster, admin: Admin) -> None:
    made(admin, "read", {0: [0], 1: [1]})
    first, second = TopicPartition("read", 0), TopicPartition("read", 1)
    assert admin.describe_groups(["nobody"]).check()["nobody"].state == "Dead"
    assert admin.list_group_offsets("nobody") == {}
    admin.alter_group_offsets("empty", {first: OffsetAndMetadata(0, "note"), second: 0}).check()
    assert admin.list_group_offsets("empty") == {first: OffsetAndMetadata(0, "note"), second: OffsetAndMetadata(0)}
    assert admin.list_group_offsets("empty", [second]) == {second: OffsetAndMetadata(0)}
    listed = admin.list_groups(["Empty"])["empty"]
    assert (listed.protocol_type, listed.state) == ("", "Empty")
    assert codes(admin.delete_group_offsets("empty", [first])) == {}
    assert admin.list_group_offsets("empty") == {second: OffsetAndMetadata(0)}
    with pytest.raises(KafkaError) as raised:
        admin.delete_group_offsets("nobody", [first])
    assert raised.value.code is ErrorCode.GROUP_ID_NOT_FOUND
    assert codes(admin.delete_groups(["empty", "nobody"])) == {"nobody": ErrorCode.GROUP_ID_NOT_FOUND}
    assert "empty" not in admin.list_groups()


def test_a_group_with_members(brokers: MixedCluster, admin: Admin) -> None:
    made(admin, "followed", {0: [0], 1: [1]})
    first = TopicPartition("followed", 0)
    consumer = Consumer({"bootstrap.servers": brokers.bootstrap, "group.id": "busy", "client.id": "reader", "enable.auto.commit": False, "log_level": 2})
    consumer.subscribe(["followed"])
    try:
        wait_until(lambda: consumer.poll(0.2) is None and len(consumer.assignment()) == 2, seconds=30)
        group = admin.describe_groups(["busy"]).check()["busy"]
        assert (group.state, group.protocol_type, group.protocol) == ("Stable", "consumer", "range")
        assert group.coordinator.id in {0, 1, 2}
        (member,) = group.members
        assert (member.client_id, member.host, member.group_instance_id) == ("reader", "/127.0.0.1", None)
        assert set(member.assignment) == {first, TopicPartition("followed", 1)}
        assert codes(admin.alter_group_offsets("busy", {first: 0})) == {first: ErrorCode.UNKNOWN_MEMBER_ID}
        assert codes(admin.delete_groups(["busy"])) == {"busy": ErrorCode.NON_EMPTY_GROUP}
        assert codes(admin.delete_group_offsets("busy", [first])) == {first: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC}
        stranger = MemberToRemove("stranger")
        assert codes(admin.remove_members("busy", [stranger])) == {stranger: ErrorCode.UNKNOWN_MEMBER_ID}
        assert codes(admin.remove_members("busy")) == {}
        assert admin.describe_groups(["busy"]).check()["busy"].members == ()
    finally:
        consumer.close()


def test_the_cluster(brokers: MixedCluster, admin: Admin) -> None:
    cluster = admin.describe_cluster()
    assert {(node.id, node.port) for node in cluster.nodes} == set(enumerate(brokers.ports))
    assert cluster.controller in cluster.nodes
    assert len(cluster.cluster_id or "") == 22  # a uuid as Kafka writes it
    served = [set(told) for told in admin.api_versions().check().values()]
    assert served[0] == served[1] == served[2]
    assert {(18, 0, 3), (19, 0, 7)} <= served[0] <= {(int(key), *versions) for key, versions in zk_broker_apis().items()}


def test_quotas(admin: Admin) -> None:
    alice, both = quota_entity({USER: "alice"}), quota_entity({USER: "alice", CLIENT_ID: None})
    admin.alter_client_quotas({alice: {"producer_byte_rate": 1024.0, "request_percentage": 150.0}, both: {"consumer_byte_rate": 2048.0}}).check()
    wait_until(lambda: len(admin.describe_client_quotas()) == 2, seconds=20)
    assert admin.describe_client_quotas() == {alice: {"producer_byte_rate": 1024.0, "request_percentage": 150.0}, both: {"consumer_byte_rate": 2048.0}}
    assert list(admin.describe_client_quotas([QuotaFilter(USER)], strict=True)) == [alice]
    assert codes(admin.alter_client_quotas({alice: {"no_such_quota": 1.0}})) == {alice: ErrorCode.INVALID_REQUEST}
    admin.alter_client_quotas({alice: {"producer_byte_rate": None, "request_percentage": None}, both: {"consumer_byte_rate": None}}).check()
    wait_until(lambda: not admin.describe_client_quotas(), seconds=20)
    assert admin.describe_user_scram_credentials() == {}


def _as_promise(deferred: Deferred[V]) -> Promise[V]:
    promise: Promise[V] = Promise()
    deferred.addCallbacks(promise.resolve, lambda failure: promise.fail(failure.value))
    return promise


def test_the_twisted_face(brokers: MixedCluster) -> None:
    thread = ReactorThread()
    client = TwistedAdmin(thread.reactor, brokers.bootstrap)
    try:
        cluster = thread.wait(lambda: _as_promise(client.describe_cluster()))
        assert {node.port for node in cluster.nodes} == set(brokers.ports)
        outcomes = thread.wait(lambda: _as_promise(client.describe_topics(["never-was"])))
        assert codes(outcomes) == {"never-was": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
        with pytest.raises(KafkaError) as raised:
            thread.wait(lambda: _as_promise(client.delete_group_offsets("never-was", [TopicPartition("t", 0)])))
        assert raised.value.code is ErrorCode.GROUP_ID_NOT_FOUND
    finally:
        thread.call(client.close)
        thread.stop()


def test_an_admin_client_survives_its_brokers(brokers: MixedCluster, admin: Admin) -> None:
    made(admin, "survives", {0: [1, 2]})
    where = TopicPartition("survives", 0)
    controller = admin.describe_cluster().controller
    assert controller is not None
    brokers.brokers[controller.id].kill()
    try:
        created = admin.create_topics([NewTopic("after-the-fall", 1, 1)])
        assert set(codes(created).values()) <= {ErrorCode.TOPIC_ALREADY_EXISTS}  # the dead controller may have begun
        assert admin.list_offsets({where: LATEST}).check()[where].offset == 0
        after = admin.describe_cluster().controller
        assert after is not None
        assert after.id != controller.id
    finally:
        brokers.restart(controller.id)
        brokers.wait_ready()
