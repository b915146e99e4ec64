"""Requests of the admin APIs, good and bad, in an order in which each finds the same cluster: three brokers, broker 0 the controller, two log dirs each.

Every request is sent in all versions that can carry it, so that most are sent several times: what the first has changed, the later ones find changed.
Used against Apache Kafka (to record its answers) and against ours: test_admin_answers.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pykafka_classic.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from pykafka_classic.protocol.messages.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from pykafka_classic.protocol.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic
from pykafka_classic.protocol.messages.alter_replica_log_dirs import AlterReplicaLogDir, AlterReplicaLogDirsRequest, AlterReplicaLogDirTopic
from pykafka_classic.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from pykafka_classic.protocol.messages.create_partitions import CreatePartitionsAssignment, CreatePartitionsRequest, CreatePartitionsTopic
from pykafka_classic.protocol.messages.create_topics import CreatableReplicaAssignment, CreatableTopic, CreateableTopicConfig, CreateTopicsRequest
from pykafka_classic.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from pykafka_classic.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from pykafka_classic.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from pykafka_classic.protocol.messages.describe_cluster import DescribeClusterRequest
from pykafka_classic.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from pykafka_classic.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from pykafka_classic.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from pykafka_classic.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from pykafka_classic.protocol.messages.incremental_alter_configs import AlterableConfig as Edit
from pykafka_classic.protocol.messages.incremental_alter_configs import AlterConfigsResource as EditedResource
from pykafka_classic.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from pykafka_classic.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsTopics
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from pykafka_classic.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest, OffsetForLeaderPartition, OffsetForLeaderTopic
from pykafka_classic.protocol.schema import Message

TOPIC, BROKER, LOGGER = 2, 4, 8
SET, DELETE, APPEND, SUBTRACT = range(4)
LONG_NAME = "x" * 250
SOME_ID = bytes(range(16))


class Asked(NamedTuple):
    """A request, and the broker that is asked."""

    request: Message
    broker: int = 0


def all_requests() -> Iterator[Asked]:
    """In order."""
    for chapter in (topics_created, partitions_added, configs_described, configs_altered, configs_edited, quotas, scram, leaders_elected):
        yield from chapter()
    for chapter in (replicas_moved, log_dirs, records_deleted, leader_epochs, cluster_described, topics_deleted):
        yield from chapter()


def _topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    *,
    assignment: Iterable[tuple[int, Sequence[int]]] = (),
    configs: Iterable[tuple[str, str | None]] = (),
) -> CreatableTopic:
    chosen = [CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers)) for index, brokers in assignment]
    settings = [CreateableTopicConfig(name=key, value=value) for key, value in configs]
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=factor, assignments=chosen, configs=settings)


def _assigned(name: str, *replicas: Sequence[int], configs: Iterable[tuple[str, str | None]] = ()) -> CreatableTopic:
    return _topic(name, -1, -1, assignment=enumerate(replicas), configs=configs)


def topics_created() -> Iterator[Asked]:
    def ask(*topics: CreatableTopic, broker: int = 0, timeout_ms: int = 20_000, validate_only: bool = False) -> Asked:
        return Asked(CreateTopicsRequest(topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only), broker)

    yield ask(_assigned("a", [0, 1], [1, 2], [2, 0]))
    yield ask(_assigned("b", [1, 2, 0], configs=[("retention.ms", "100000"), ("cleanup.policy", "compact,delete")]))
    yield ask(_assigned("c.d", [2]))
    yield ask(_assigned("second", [0]), broker=1)
    yield ask()
    yield ask(_topic("twice"), _topic("twice"), _topic("bad name"))
    for name in ("", ".", "..", "bad name", "käse", LONG_NAME, "c_d", "__consumer_offsets"):
        yield ask(_topic(name), validate_only=True)
        if name != "__consumer_offsets":
            yield ask(_topic(name))
    for partitions, factor in ((0, 1), (-2, 1), (1, 0), (1, -2), (1, 4), (-1, -1), (-1, 2), (2, -1), (0, 0), (2**31 - 1, 4)):
        yield ask(_topic("counted", partitions, factor), validate_only=True)
    bad_assignments: list[list[tuple[int, list[int]]]] = [
        [(1, [0])],
        [(0, [0]), (2, [1])],
        [(0, [0]), (1, [0, 1])],
        [(0, [0, 0])],
        [(0, [0]), (0, [1])],
        [(0, [])],
        [(-1, [0])],
        [(0, [-1])],
        [(0, [7])],
    ]
    for assignment in bad_assignments:
        yield ask(_topic("assigned", -1, -1, assignment=assignment), validate_only=True)
    yield ask(_topic("assigned", 1, 1, assignment=[(0, [0])]), validate_only=True)
    yield ask(_topic("assigned", -1, 1, assignment=[(0, [0])]), validate_only=True)
    for key, value in (
        ("no.such.key", "1"),
        ("retention.ms", "soon"),
        ("retention.ms", "-2"),
        ("retention.ms", ""),
        ("retention.ms", None),
        ("cleanup.policy", "burn"),
        ("cleanup.policy", ""),
        ("min.insync.replicas", "0"),
        ("compression.type", "rar"),
        ("segment.bytes", "1"),
        ("segment.bytes", "99999999999"),
        ("min.cleanable.dirty.ratio", "2"),
        ("unclean.leader.election.enable", "maybe"),
        ("message.format.version", "9.9"),
        ("message.timestamp.type", "Never"),
        ("leader.replication.throttled.replicas", "0:0,1"),
        ("follower.replication.throttled.replicas", "*"),
        ("max.compaction.lag.ms", "0"),
        ("min.compaction.lag.ms", "9"),
    ):
        yield ask(_topic("set", configs=[(key, value)]), validate_only=True)
    yield ask(_topic("set", configs=[("max.compaction.lag.ms", "5"), ("min.compaction.lag.ms", "9")]), validate_only=True)
    yield ask(_topic("set", configs=[("retention.ms", "5"), ("retention.ms", "6")]), validate_only=True)
    yield ask(_topic("fine", configs=[("retention.ms", "5"), ("leader.replication.throttled.replicas", "0:0,1:1")]), validate_only=True)
    yield ask(_topic("a"), _topic("bad name"), _topic("fine", 2, 2), validate_only=True)


def partitions_added() -> Iterator[Asked]:
    def ask(*topics: CreatePartitionsTopic, broker: int = 0, timeout_ms: int = 20_000, validate_only: bool = False) -> Asked:
        return Asked(CreatePartitionsRequest(topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only), broker)

    def more(name: str, count: int, *assignments: Sequence[int]) -> CreatePartitionsTopic:
        chosen = [CreatePartitionsAssignment(broker_ids=list(brokers)) for brokers in assignments]
        return CreatePartitionsTopic(name=name, count=count, assignments=chosen or None)

    for name, count in (("never-was", 2), ("", 2), ("bad name", 2), ("a", 3), ("a", 2), ("a", 0), ("a", -1)):
        yield ask(more(name, count))
    several: list[list[list[int]]] = [[[0, 1], [1, 2]], [[0]], [[0, 0]], [[0, 7]], [[0, -1]], [[]]]
    for assignments in several:
        yield ask(more("a", 4, *assignments))
    yield ask(CreatePartitionsTopic(name="a", count=4, assignments=[]))
    yield ask(more("a", 5, [0, 1]))
    yield ask(more("a", 5, [0, 1], [1]))
    yield ask(more("a", 4, [0, 1]), validate_only=True)
    yield ask(more("a", 4), more("a", 5), more("b", 1))
    yield ask(more("a", 4, [0, 1]), broker=1)
    yield ask()
    yield ask(more("a", 4, [0, 1]))


def configs_described() -> Iterator[Asked]:
    def ask(kind: int, name: str, *keys: str, broker: int = 0, told: bool = False) -> Asked:
        resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=list(keys) or None)
        return Asked(DescribeConfigsRequest(resources=[resource], include_synonyms=told), broker)

    yield ask(TOPIC, "b")
    yield ask(TOPIC, "b", told=True)
    yield ask(TOPIC, "b", "retention.ms", "no.such.key", broker=1)
    for name in ("never-was", "", "bad name", LONG_NAME):
        yield ask(TOPIC, name)
    yield ask(BROKER, "0", "log.retention.ms", "num.io.threads", "log.cleaner.threads", "zookeeper.connect", "advertised.listeners", told=True)
    yield ask(BROKER, "")
    for name in ("1", "abc", "-1", "7"):
        yield ask(BROKER, name, "num.io.threads")
    for name in ("1", "abc", ""):
        yield ask(LOGGER, name)
    for kind in (0, 1, 3, 5, 99, -1):
        yield ask(kind, "0")
    empty = DescribeConfigsResource(resource_type=TOPIC, resource_name="b", configuration_keys=[])
    yield Asked(DescribeConfigsRequest(resources=[empty]))
    yield Asked(DescribeConfigsRequest(resources=[]))
    twice = DescribeConfigsResource(resource_type=TOPIC, resource_name="b", configuration_keys=["retention.ms"])
    yield Asked(DescribeConfigsRequest(resources=[twice, twice]))


def configs_altered() -> Iterator[Asked]:
    def ask(kind: int, name: str, *entries: tuple[str, str | None], broker: int = 0, validate_only: bool = False) -> Asked:
        settings = [AlterableConfig(name=key, value=value) for key, value in entries]
        resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=settings)
        return Asked(AlterConfigsRequest(resources=[resource], validate_only=validate_only), broker)

    yield ask(TOPIC, "b", ("retention.ms", "200000"))
    yield ask(TOPIC, "b", ("retention.ms", "300000"), broker=1)
    yield ask(TOPIC, "b")
    for key, value in (("retention.ms", "soon"), ("retention.ms", None), ("no.such.key", "1"), ("retention.ms", "-5"), ("cleanup.policy", "burn"), ("", "1")):
        yield ask(TOPIC, "b", (key, value))
    yield ask(TOPIC, "b", ("retention.ms", "soon"), ("no.such.key", "1"), validate_only=True)
    yield ask(TOPIC, "b", ("retention.ms", "1"), ("retention.ms", "2"), validate_only=True)
    for name in ("never-was", "", "bad name"):
        yield ask(TOPIC, name, ("retention.ms", "1"))
    yield ask(BROKER, "0", ("log.cleaner.threads", "2"), validate_only=True)
    for name in ("1", "abc", "-1"):
        yield ask(BROKER, name, ("log.cleaner.threads", "2"))
    for key, value in BROKER_SETTINGS:
        yield ask(BROKER, "0", (key, value), validate_only=True)
        yield ask(BROKER, "", (key, value), validate_only=True)
    yield ask(LOGGER, "0", ("kafka", "INFO"))
    for kind in (0, 1, 3, 5, 99, -1):
        yield ask(kind, "0", ("x", "y"))
    yield Asked(AlterConfigsRequest(resources=[]))  # the same resource twice: Kafka never answers


BROKER_SETTINGS: tuple[tuple[str, str | None], ...] = (
    ("zookeeper.connect", "x:1"),
    ("broker.id", "5"),
    ("no.such.key", "1"),
    ("log.retention.ms", "soon"),
    ("log.retention.ms", "5000"),
    ("log.retention.hours", "5"),
    ("num.io.threads", "1000"),
    ("num.io.threads", "1"),
    ("num.io.threads", "9"),
    ("num.network.threads", "0"),
    ("num.network.threads", "6"),
    ("num.network.threads", "7"),
    ("num.replica.fetchers", "3"),
    ("background.threads", "21"),
    ("num.recovery.threads.per.data.dir", "2"),
    ("log.cleaner.threads", "0"),
    ("log.cleaner.threads", "2"),
    ("log.cleaner.threads", "3"),
    ("log.cleaner.dedupe.buffer.size", "1"),
    ("log.cleaner.dedupe.buffer.size", "67108864"),
    ("log.cleaner.io.buffer.size", "-1"),
    ("log.cleaner.io.buffer.load.factor", "0.5"),
    ("log.cleaner.io.max.bytes.per.second", "1000"),
    ("log.cleaner.backoff.ms", "-1"),
    ("log.cleaner.enable", "false"),
    ("max.connections.per.ip", "-1"),
    ("max.connections.per.ip", "0"),
    ("max.connections.per.ip", "5"),
    ("max.connections.per.ip.overrides", "127.0.0.1:5"),
    ("max.connections.per.ip.overrides", "127.0.0.1"),
    ("max.connections.per.ip.overrides", "127.0.0.1:many"),
    ("max.connections", "-1"),
    ("max.connections", "100"),
    ("max.connection.creation.rate", "0"),
    ("max.connection.creation.rate", "10"),
    ("listener.name.plaintext.max.connections", "10"),
    ("listener.name.plaintext.max.connections", "-10"),
    ("listener.name.plaintext.max.connection.creation.rate", "10"),
    ("metric.reporters", "no.such.Class"),
    ("ssl.keystore.location", "/x"),
    ("listener.name.external.ssl.keystore.location", "/x"),
    ("leader.replication.throttled.rate", "-1"),
    ("leader.replication.throttled.rate", "1000"),
    ("unclean.leader.election.enable", "true"),
    ("unclean.leader.election.enable", "maybe"),
    ("min.insync.replicas", "0"),
    ("log.segment.bytes", "1"),
    ("log.flush.interval.ms", "1000"),
    ("log.message.format.version", "2.0"),
    ("listeners", "PLAINTEXT://nowhere:1"),
    ("advertised.listeners", ""),
    ("advertised.listeners", "OTHER://x:1"),
    ("listener.security.protocol.map", "PLAINTEXT:NONE"),
    ("auto.leader.rebalance.enable", "true"),
    ("message.max.bytes", "-1"),
    ("log.cleanup.policy", "burn"),
    ("compression.type", "rar"),
)


def configs_edited() -> Iterator[Asked]:
    def ask(kind: int, name: str, *edits: tuple[str, int, str | None], broker: int = 0, validate_only: bool = False) -> Asked:
        made = [Edit(name=key, config_operation=operation, value=value) for key, operation, value in edits]
        resource = EditedResource(resource_type=kind, resource_name=name, configs=made)
        return Asked(IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only), broker)

    yield ask(TOPIC, "b", ("retention.ms", SET, "400000"), ("flush.ms", SET, "1000"))
    yield ask(TOPIC, "b", ("cleanup.policy", APPEND, "compact"))
    yield ask(TOPIC, "b", ("cleanup.policy", SUBTRACT, "delete"), broker=1)
    yield ask(TOPIC, "b", ("cleanup.policy", SUBTRACT, "compact"))
    for edit in (
        ("retention.ms", SET, "soon"),
        ("retention.ms", SET, None),
        ("retention.ms", DELETE, None),
        ("retention.ms", DELETE, None),
        ("retention.ms", APPEND, "1"),
        ("retention.ms", SUBTRACT, "1"),
        ("cleanup.policy", APPEND, "burn"),
        ("cleanup.policy", APPEND, None),
        ("cleanup.policy", SUBTRACT, None),
        ("no.such.key", SET, "1"),
        ("no.such.key", DELETE, None),
        ("no.such.key", APPEND, "1"),
        ("no.such.key", SUBTRACT, "1"),
        ("retention.ms", 4, "1"),
        ("retention.ms", -1, "1"),
    ):
        yield ask(TOPIC, "b", edit)
    yield ask(TOPIC, "b", ("flush.ms", SET, "1"), ("flush.ms", DELETE, None))
    yield ask(TOPIC, "b")
    for name in ("never-was", "", "bad name"):
        yield ask(TOPIC, name, ("retention.ms", SET, "1"))
    for key, value in BROKER_SETTINGS:
        yield ask(BROKER, "0", (key, SET, value), validate_only=True)
        yield ask(BROKER, "", (key, SET, value), validate_only=True)
    for name in ("1", "abc", "-1"):
        yield ask(BROKER, name, ("log.cleaner.threads", SET, "2"))
    yield ask(BROKER, "0", ("num.io.threads", APPEND, "2"))
    yield ask(BROKER, "0", ("metric.reporters", APPEND, "x"), validate_only=True)
    yield ask(BROKER, "0", ("log.cleanup.policy", APPEND, "compact"), validate_only=True)
    yield ask(BROKER, "0", ("num.io.threads", DELETE, None))
    yield ask(BROKER, "0", ("no.such.key", DELETE, None), validate_only=True)
    yield ask(BROKER, "0", ("zookeeper.connect", DELETE, None), validate_only=True)
    for logger in (
        ("kafka.controller.KafkaController", SET, "DEBUG"),
        ("kafka.controller.KafkaController", SET, "LOUD"),
        ("kafka.controller.KafkaController", SET, ""),
        ("kafka.controller.KafkaController", DELETE, None),
        ("kafka.controller.KafkaController", APPEND, "INFO"),
        ("no.such.logger", SET, "INFO"),
        ("no.such.logger", DELETE, None),
        ("root", DELETE, None),
        ("root", SET, "INFO"),
    ):
        yield ask(LOGGER, "0", logger, validate_only=True)
    for name in ("1", "abc", ""):
        yield ask(LOGGER, name, ("root", SET, "INFO"))
    for kind in (0, 1, 3, 5, 99, -1):
        yield ask(kind, "0", ("x", SET, "y"))
    yield Asked(IncrementalAlterConfigsRequest(resources=[]))
    twice = EditedResource(resource_type=TOPIC, resource_name="b", configs=[Edit(name="flush.ms", config_operation=SET, value="5")])
    yield Asked(IncrementalAlterConfigsRequest(resources=[twice, twice]))


Parts = Sequence[tuple[str, str | None]]


def quotas() -> Iterator[Asked]:
    def alter(entity: Parts, *ops: tuple[str, float | None], broker: int = 0, validate_only: bool = False) -> Asked:
        parts = [AlterClientQuotasRequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity]
        changes = [OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops]
        return Asked(AlterClientQuotasRequest(entries=[AlterClientQuotasRequestEntryData(entity=parts, ops=changes)], validate_only=validate_only), broker)

    def find(*components: tuple[str, int, str | None], strict: bool = False) -> Asked:
        parts = [ComponentData(entity_type=kind, match_type=match, match=name) for kind, match, name in components]
        return Asked(DescribeClientQuotasRequest(components=parts, strict=strict))

    alice: Parts = [("user", "alice")]
    yield alter(alice, ("producer_byte_rate", 1000.0), ("request_percentage", 12.5))
    yield alter([("user", "alice"), ("client-id", "a b/c")], ("consumer_byte_rate", 2000.0), broker=1)
    yield alter([("client-id", None)], ("controller_mutation_rate", 0.25))
    yield alter([("user", None), ("client-id", None)], ("producer_byte_rate", 1.0))
    yield alter([("ip", "10.9.9.9")], ("connection_creation_rate", 5.0))
    yield alter([("ip", None)], ("connection_creation_rate", 700.0))
    for key, value in (
        ("producer_byte_rate", 1.5),
        ("producer_byte_rate", -1.0),
        ("producer_byte_rate", 0.0),
        ("producer_byte_rate", 1e30),
        ("producer_byte_rate", float("nan")),
        ("request_percentage", float("inf")),
        ("request_percentage", 1e7),
        ("no_such_rate", 1.0),
        ("connection_creation_rate", 1.0),
        ("SCRAM-SHA-256", 1.0),
        ("no_such_rate", None),
        ("consumer_byte_rate", None),
        ("", 1.0),
    ):
        yield alter([("user", "other")], (key, value), validate_only=True)
    entities: list[Parts] = [[], [("user", "")], [("group", "g")], [("", "g")], [("user", "u"), ("ip", "1.2.3.4")], [("client-id", "")], [("ip", "")]]
    for entity in entities:
        yield alter(entity, ("producer_byte_rate", 1.0))
    for address in ("not a host", "300.1.1.1", "::1", "1.2.3.4/24"):
        yield alter([("ip", address)], ("connection_creation_rate", 1.0), validate_only=True)
    yield alter([("ip", "1.2.3.4")], ("producer_byte_rate", 1.0), validate_only=True)
    yield alter([("ip", "1.2.3.4")], ("connection_creation_rate", 1.5), validate_only=True)
    yield alter([("user", "a"), ("user", "b")], ("producer_byte_rate", 1.0), validate_only=True)
    yield alter(alice, ("producer_byte_rate", 1.0), ("producer_byte_rate", 2.0), validate_only=True)
    yield alter(alice)
    yield Asked(AlterClientQuotasRequest(entries=[]))
    for components in (
        (),
        (("user", 0, "alice"),),
        (("user", 1, None),),
        (("user", 2, None),),
        (("client-id", 0, "a b/c"),),
        (("client-id", 2, None),),
        (("ip", 2, None),),
        (("ip", 0, "10.9.9.9"),),
        (("user", 0, "nobody"),),
        (("user", 0, "alice"), ("client-id", 2, None)),
        (("user", 2, None), ("client-id", 1, None)),
        (("user", 0, "alice"), ("user", 2, None)),
        (("user", 0, "alice"), ("ip", 2, None)),
        (("group", 2, None),),
        (("", 2, None),),
        (("user", 3, None),),
        (("user", -1, None),),
        (("user", 0, None),),
        (("user", 0, ""),),
        (("user", 2, "alice"),),
    ):
        yield find(*components)
        yield find(*components, strict=True)


def scram() -> Iterator[Asked]:
    Deletion, Upsertion = ScramCredentialDeletion, ScramCredentialUpsertion  # noqa: N806  # short names for long classes

    def alter(*changes: ScramCredentialDeletion | ScramCredentialUpsertion, broker: int = 0) -> Asked:
        gone = [each for each in changes if isinstance(each, Deletion)]
        made = [each for each in changes if isinstance(each, Upsertion)]
        return Asked(AlterUserScramCredentialsRequest(deletions=gone, upsertions=made), broker)

    def make(name: str, mechanism: int = 1, iterations: int = 4096, password: bytes = b"p" * 32) -> ScramCredentialUpsertion:
        return Upsertion(name=name, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=password)

    def remove(name: str, mechanism: int = 1) -> ScramCredentialDeletion:
        return Deletion(name=name, mechanism=mechanism)

    def describe(*names: str, broker: int = 0) -> Asked:
        return Asked(DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names]), broker)

    yield alter()
    yield alter(make("u"), make("a b/c*", 2), make("<default>"))
    for wish in (make("u", 3), make("u", 0), make(""), make("u", 1, 4095), make("u", 1, 16385), make("u", 1, 16384), make("e", password=b"")):
        yield alter(wish)
    for wishes in (
        [remove("u"), make("u")],
        [remove("nobody")],
        [remove("")],
        [remove("", 9)],
        [remove("u", 3)],
        [remove("u"), remove("u")],
        [make("v"), make("v")],
        [make("v"), make("v", 2), make("w", 1, 1)],
        [make("v", 1, 1), make("v", 2)],
        [remove("v"), make("v", 2, 1)],
        [remove("nobody", 9), make("", 9, 1)],
        [remove("x"), remove("x", 2)],
        [remove("z"), make("z", 2)],
        [remove("v"), remove("v", 2)],
        [remove("nobody"), make("t"), make("t"), make("", 1), make("s")],
    ):
        yield alter(*wishes)
    yield alter(remove("u"), make("f"), broker=1)
    yield describe()
    yield describe(broker=1)
    yield describe("u", "u", "", "nobody", "v", "a b/c*")
    yield Asked(DescribeUserScramCredentialsRequest(users=None))


def leaders_elected() -> Iterator[Asked]:
    def ask(kind: int, *partitions: tuple[str, Sequence[int]], broker: int = 0, all_of_them: bool = False, timeout_ms: int = 20_000) -> Asked:
        wanted = [TopicPartitions(topic=topic, partition_id=list(indexes)) for topic, indexes in partitions]
        return Asked(ElectLeadersRequest(election_type=kind, topic_partitions=None if all_of_them else wanted, timeout_ms=timeout_ms), broker)

    for kind in (0, 1):
        yield ask(kind, ("a", [0, 1, 2]))
        yield ask(kind, ("a", [7]), ("never-was", [0]), ("", [0]), ("b", [0]))
        yield ask(kind, ("a", [0, 0]), ("a", [0]))
        yield ask(kind, ("a", [-1]))
        yield ask(kind)
        yield ask(kind, ("a", []))
        yield ask(kind, all_of_them=True)
        yield ask(kind, ("a", [0]), broker=1)
        yield ask(kind, all_of_them=True, broker=1)
        yield ask(kind, ("a", [0]), timeout_ms=0)
    for kind in (2, -1):
        yield ask(kind, ("a", [0]))


def replicas_moved() -> Iterator[Asked]:
    def move(*wanted: tuple[str, int, Sequence[int] | None], broker: int = 0) -> Asked:
        topics = [
            ReassignableTopic(name=topic, partitions=[ReassignablePartition(partition_index=index, replicas=None if to is None else list(to))])
            for topic, index, to in wanted
        ]
        return Asked(AlterPartitionReassignmentsRequest(topics=topics, timeout_ms=20_000), broker)

    def look(*partitions: tuple[str, Sequence[int]], broker: int = 0, all_of_them: bool = False) -> Asked:
        wanted = [ListPartitionReassignmentsTopics(name=topic, partition_indexes=list(indexes)) for topic, indexes in partitions]
        return Asked(ListPartitionReassignmentsRequest(topics=None if all_of_them else wanted, timeout_ms=20_000), broker)

    for replicas in ([], [0, 0], [-1], [0, -1], [7], [0, 7], None):
        yield move(("a", 0, replicas))
    for topic, index in (("never-was", 0), ("", 0), ("a", 99), ("a", -1)):
        yield move((topic, index, [0]))
        yield move((topic, index, None))
    yield move(("a", 0, [0, 1]))
    yield move(("a", 0, [0, 1]), ("a", 1, [7]), ("never-was", 0, None), ("b", 0, []))
    yield move(("a", 0, [0, 1]), ("a", 0, [1, 0]))
    yield move(("a", 0, [0, 1]), broker=1)
    yield move()
    yield look(all_of_them=True)
    yield look(("a", [0, 1]), ("never-was", [0]), ("a", [99]))
    yield look(all_of_them=True, broker=1)
    yield look()


def log_dirs() -> Iterator[Asked]:
    """`@DATA@` stands for the folder of broker 0's log dirs `one` and `two`."""

    def describe(*partitions: tuple[str, Sequence[int]], all_of_them: bool = False) -> Asked:
        wanted = [DescribableLogDirTopic(topic=topic, partition_index=list(indexes)) for topic, indexes in partitions]
        return Asked(DescribeLogDirsRequest(topics=None if all_of_them else wanted))

    def move(path: str, *partitions: tuple[str, Sequence[int]]) -> Asked:
        topics = [AlterReplicaLogDirTopic(name=topic, partitions=list(indexes)) for topic, indexes in partitions]
        return Asked(AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=topics)]))

    yield describe(("a", [0]))
    yield describe(("never-was", [0]), ("a", [99]))
    yield describe()
    for path in ("/no/such/dir", "relative", "", "@DATA@"):
        yield move(path, ("a", [0]))
    yield move("@DATA@/one", ("never-was", [0]), ("a", [99, 1]))
    yield move("@DATA@/one")
    yield Asked(AlterReplicaLogDirsRequest(dirs=[]))


def records_deleted() -> Iterator[Asked]:
    def ask(*wanted: tuple[str, int, int], broker: int = 0, timeout_ms: int = 20_000) -> Asked:
        topics = [DeleteRecordsTopic(name=topic, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]) for topic, index, offset in wanted]
        return Asked(DeleteRecordsRequest(topics=topics, timeout_ms=timeout_ms), broker)

    for offset in (-1, 0, -2, 1, 2**62):
        yield ask(("a", 0, offset))
    yield ask(("a", 1, 0))
    yield ask(("a", 99, 0), ("never-was", 0, 0), ("", 0, 0))
    yield ask(("a", 0, 0), ("a", 1, 0), timeout_ms=0)
    yield ask(("b", 0, 0), broker=1)
    yield ask()


def leader_epochs() -> Iterator[Asked]:
    def ask(topic: str, partition: int, epoch: int, *, current: int = -1, broker: int = 0, replica: int = -1) -> Asked:
        wanted = OffsetForLeaderPartition(partition=partition, current_leader_epoch=current, leader_epoch=epoch)
        return Asked(OffsetForLeaderEpochRequest(replica_id=replica, topics=[OffsetForLeaderTopic(topic=topic, partitions=[wanted])]), broker)

    for epoch in (0, 1, -1, -2, 2**31 - 1):
        yield ask("a", 0, epoch)
    for current in (0, 1, -2):
        yield ask("a", 0, 0, current=current)
    for replica in (1, 7, -2, -3):
        yield ask("a", 0, 0, replica=replica)
    yield ask("a", 1, 0)
    yield ask("a", 99, 0)
    yield ask("never-was", 0, 0)
    yield Asked(OffsetForLeaderEpochRequest(topics=[]))


def cluster_described() -> Iterator[Asked]:
    def ask(*names: str | None, broker: int = 0, operations: bool = False) -> Asked:
        topics = [MetadataRequestTopic(name=name) for name in names]
        return Asked(MetadataRequest(topics=topics, allow_auto_topic_creation=False, include_topic_authorized_operations=operations), broker)

    for names in (["a"], ["a", "b", "a"], ["never-was"], [""], ["bad name"], [LONG_NAME], ["a", "never-was", "bad name"], ["__consumer_offsets"]):
        yield ask(*names)
    yield ask("a", "never-was", operations=True)
    yield ask("a", broker=2)
    yield Asked(MetadataRequest(topics=None, allow_auto_topic_creation=False))
    yield Asked(MetadataRequest(topics=None, allow_auto_topic_creation=False, include_cluster_authorized_operations=True))
    yield Asked(MetadataRequest(topics=[MetadataRequestTopic(topic_id=SOME_ID, name=None)], allow_auto_topic_creation=False))
    yield Asked(MetadataRequest(topics=[MetadataRequestTopic(topic_id=SOME_ID, name="a")], allow_auto_topic_creation=False))
    yield Asked(MetadataRequest(topics=[MetadataRequestTopic(topic_id=bytes(16), name=None)], allow_auto_topic_creation=False))
    yield Asked(DescribeClusterRequest())
    yield Asked(DescribeClusterRequest(include_cluster_authorized_operations=True), 1)


def topics_deleted() -> Iterator[Asked]:
    def ask(*names: str, broker: int = 0, timeout_ms: int = 20_000) -> Asked:
        states = [DeleteTopicState(name=name) for name in names]
        return Asked(DeleteTopicsRequest(topics=states, topic_names=list(names), timeout_ms=timeout_ms), broker)

    def by_id(topic_id: bytes, name: str | None = None) -> Asked:
        return Asked(DeleteTopicsRequest(topics=[DeleteTopicState(name=name, topic_id=topic_id)], timeout_ms=20_000))

    for names in ([], [""], ["never-was"], ["bad name"], ["never-was", "never-was"]):
        yield ask(*names)
    yield by_id(SOME_ID)
    yield by_id(SOME_ID, "c.d")
    yield by_id(bytes(16))
    yield ask("c.d", broker=1)
    yield ask("c.d", "never-was")
    yield ask("c.d")
