"""Creates topics (KIP-4). Sent to the controller."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class CreatableReplicaAssignment(Struct):
    """Brokers for one partition; the first is the preferred leader."""

    partition_index: int = wire.int32()
    broker_ids: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class CreateableTopicConfig(Struct):
    """A config that the topic shall have."""

    name: str = wire.string()
    value: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class CreatableTopic(Struct):
    """A topic to create: with numbers of partitions and replicas, or with an assignment."""

    name: str = wire.string()
    num_partitions: int = wire.int32()  # -1: the broker's default, or an assignment is given
    replication_factor: int = wire.int16()  # -1: the broker's default, or an assignment is given
    assignments: list[CreatableReplicaAssignment] = wire.array(CreatableReplicaAssignment)
    configs: list[CreateableTopicConfig] = wire.array(CreateableTopicConfig)


@dataclass(slots=True)
class CreateTopicsRequest(Message):
    """Topics to create."""

    API_KEY = 19
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(5, LATEST)

    topics: list[CreatableTopic] = wire.array(CreatableTopic)
    timeout_ms: int = wire.int32(default=60000)
    validate_only: bool = wire.boolean("1+")  # check, but change nothing


@dataclass(slots=True)
class CreatableTopicConfigs(Struct):
    """A config of the new topic (KIP-525)."""

    name: str = wire.string("5+")
    value: str | None = wire.string("5+", nullable="5+")
    read_only: bool = wire.boolean("5+")
    config_source: int = wire.int8("5+", default=-1, ignorable=True)  # 1 topic, 2 dynamic broker, 3 dynamic default, 4 static broker, 5 default, 6 logger
    is_sensitive: bool = wire.boolean("5+")


@dataclass(slots=True)
class CreatableTopicResult(Struct):
    """What became of one topic."""

    name: str = wire.string()
    topic_id: bytes = wire.uuid("7+", ignorable=True)
    error_code: int = wire.int16()
    error_message: str | None = wire.string("1+", nullable="0+", ignorable=True)
    topic_config_error_code: int = wire.tagged(0, wire.int16("5+", ignorable=True))  # 29: not allowed to see the configs
    num_partitions: int = wire.int32("5+", default=-1, ignorable=True)
    replication_factor: int = wire.int16("5+", default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = wire.array(CreatableTopicConfigs, "5+", nullable="5+", ignorable=True)


@dataclass(slots=True)
class CreateTopicsResponse(Message):
    """One entry for each topic."""

    API_KEY = 19
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(5, LATEST)

    throttle_time_ms: int = wire.int32("2+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    topics: list[CreatableTopicResult] = wire.array(CreatableTopicResult)
