"""CreateTopics."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class CreatableReplicaAssignment(Struct):
    """CreatableReplicaAssignment."""

    partition_index: int = wire.int32()
    broker_ids: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class CreateableTopicConfig(Struct):
    """CreateableTopicConfig."""

    name: str = wire.string()
    value: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class CreatableTopic(Struct):
    """CreatableTopic."""

    name: str = wire.string()
    num_partitions: int = wire.int32()
    replication_factor: int = wire.int16()
    assignments: list[CreatableReplicaAssignment] = wire.array(CreatableReplicaAssignment)
    configs: list[CreateableTopicConfig] = wire.array(CreateableTopicConfig)


@dataclass(slots=True)
class CreateTopicsRequest(Message):
    """CreateTopicsRequest."""

    API_KEY = 19
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(5, LATEST)

    topics: list[CreatableTopic] = wire.array(CreatableTopic)
    timeout_ms: int = wire.int32(default=60000)
    validate_only: bool = wire.boolean("1+")


@dataclass(slots=True)
class CreatableTopicConfigs(Struct):
    """CreatableTopicConfigs."""

    name: str = wire.string("5+")
    value: str | None = wire.string("5+", nullable="5+")
    read_only: bool = wire.boolean("5+")
    config_source: int = wire.int8("5+", default=-1, ignorable=True)
    is_sensitive: bool = wire.boolean("5+")


@dataclass(slots=True)
class CreatableTopicResult(Struct):
    """CreatableTopicResult."""

    name: str = wire.string()
    topic_id: bytes = wire.uuid("7+", ignorable=True)
    error_code: int = wire.int16()
    error_message: str | None = wire.string("1+", nullable="0+", ignorable=True)
    topic_config_error_code: int = wire.tagged(0, wire.int16("5+", ignorable=True))
    num_partitions: int = wire.int32("5+", default=-1, ignorable=True)
    replication_factor: int = wire.int16("5+", default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = wire.array(CreatableTopicConfigs, "5+", nullable="5+", ignorable=True)


@dataclass(slots=True)
class CreateTopicsResponse(Message):
    """CreateTopicsResponse."""

    API_KEY = 19
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(5, LATEST)

    throttle_time_ms: int = wire.int32("2+", ignorable=True)
    topics: list[CreatableTopicResult] = wire.array(CreatableTopicResult)
