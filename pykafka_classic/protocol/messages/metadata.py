"""Topics, partitions, leaders and brokers, as this broker's cache knows them. The request that clients live by."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class MetadataRequestTopic(Struct):
    """A topic that is wanted."""

    topic_id: bytes = wire.uuid("10+", ignorable=True)
    name: str | None = wire.string(nullable="10+")


@dataclass(slots=True)
class MetadataRequest(Message):
    """Topics that are wanted: null means all (v0: an empty list does), an empty list none."""

    API_KEY = 3
    VALID_VERSIONS = Versions(0, 11)
    FLEXIBLE_VERSIONS = Versions(9, LATEST)

    topics: list[MetadataRequestTopic] | None = wire.array(MetadataRequestTopic, nullable="1+")
    allow_auto_topic_creation: bool = wire.boolean("4+", default=True)  # and auto.create.topics.enable must be true
    include_cluster_authorized_operations: bool = wire.boolean("8-10")
    include_topic_authorized_operations: bool = wire.boolean("8+")


@dataclass(slots=True)
class MetadataResponseBroker(Struct):
    """A live broker, at the listener that the request came in on."""

    node_id: int = wire.int32()
    host: str = wire.string()
    port: int = wire.int32()
    rack: str | None = wire.string("1+", nullable="1+", default=None, ignorable=True)


@dataclass(slots=True)
class MetadataResponsePartition(Struct):
    """One partition."""

    error_code: int = wire.int16()  # 5: no leader
    partition_index: int = wire.int32()
    leader_id: int = wire.int32()  # -1: none
    leader_epoch: int = wire.int32("7+", default=-1, ignorable=True)
    replica_nodes: list[int] = wire.array(wire.INT32)
    isr_nodes: list[int] = wire.array(wire.INT32)
    offline_replicas: list[int] = wire.array(wire.INT32, "5+", ignorable=True)  # on dead brokers or failed disks


@dataclass(slots=True)
class MetadataResponseTopic(Struct):
    """One topic."""

    error_code: int = wire.int16()
    name: str = wire.string()
    topic_id: bytes = wire.uuid("10+", ignorable=True)
    is_internal: bool = wire.boolean("1+", ignorable=True)
    partitions: list[MetadataResponsePartition] = wire.array(MetadataResponsePartition)
    topic_authorized_operations: int = wire.int32("8+", default=-2147483648)  # bit n: operation n is allowed; the default: not asked for


@dataclass(slots=True)
class MetadataResponse(Message):
    """The cluster as this broker's cache knows it."""

    API_KEY = 3
    VALID_VERSIONS = Versions(0, 11)
    FLEXIBLE_VERSIONS = Versions(9, LATEST)

    throttle_time_ms: int = wire.int32("3+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    brokers: list[MetadataResponseBroker] = wire.array(MetadataResponseBroker)
    cluster_id: str | None = wire.string("2+", nullable="2+", default=None, ignorable=True)
    controller_id: int = wire.int32("1+", default=-1, ignorable=True)  # -1: not known
    topics: list[MetadataResponseTopic] = wire.array(MetadataResponseTopic)
    cluster_authorized_operations: int = wire.int32("8-10", default=-2147483648)  # bit n: operation n is allowed; the default: not asked for
