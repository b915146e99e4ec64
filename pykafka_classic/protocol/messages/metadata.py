"""Metadata."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class MetadataRequestTopic(Struct):
    """MetadataRequestTopic."""

    topic_id: bytes = wire.uuid("10+", ignorable=True)
    name: str | None = wire.string(nullable="10+")


@dataclass(slots=True)
class MetadataRequest(Message):
    """MetadataRequest."""

    API_KEY = 3
    VALID_VERSIONS = Versions(0, 11)
    FLEXIBLE_VERSIONS = Versions(9, LATEST)

    topics: list[MetadataRequestTopic] | None = wire.array(MetadataRequestTopic, nullable="1+")
    allow_auto_topic_creation: bool = wire.boolean("4+", default=True)
    include_cluster_authorized_operations: bool = wire.boolean("8-10")
    include_topic_authorized_operations: bool = wire.boolean("8+")


@dataclass(slots=True)
class MetadataResponseBroker(Struct):
    """MetadataResponseBroker."""

    node_id: int = wire.int32()
    host: str = wire.string()
    port: int = wire.int32()
    rack: str | None = wire.string("1+", nullable="1+", default=None, ignorable=True)


@dataclass(slots=True)
class MetadataResponsePartition(Struct):
    """MetadataResponsePartition."""

    error_code: int = wire.int16()
    partition_index: int = wire.int32()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32("7+", default=-1, ignorable=True)
    replica_nodes: list[int] = wire.array(wire.INT32)
    isr_nodes: list[int] = wire.array(wire.INT32)
    offline_replicas: list[int] = wire.array(wire.INT32, "5+", ignorable=True)


@dataclass(slots=True)
class MetadataResponseTopic(Struct):
    """MetadataResponseTopic."""

    error_code: int = wire.int16()
    name: str = wire.string()
    topic_id: bytes = wire.uuid("10+", ignorable=True)
    is_internal: bool = wire.boolean("1+", ignorable=True)
    partitions: list[MetadataResponsePartition] = wire.array(MetadataResponsePartition)
    topic_authorized_operations: int = wire.int32("8+", default=-2147483648)


@dataclass(slots=True)
class MetadataResponse(Message):
    """MetadataResponse."""

    API_KEY = 3
    VALID_VERSIONS = Versions(0, 11)
    FLEXIBLE_VERSIONS = Versions(9, LATEST)

    throttle_time_ms: int = wire.int32("3+", ignorable=True)
    brokers: list[MetadataResponseBroker] = wire.array(MetadataResponseBroker)
    cluster_id: str | None = wire.string("2+", nullable="2+", default=None, ignorable=True)
    controller_id: int = wire.int32("1+", default=-1, ignorable=True)
    topics: list[MetadataResponseTopic] = wire.array(MetadataResponseTopic)
    cluster_authorized_operations: int = wire.int32("8-10", default=-2147483648)
