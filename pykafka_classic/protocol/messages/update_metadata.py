"""The controller keeps every broker's metadata cache up to date: live brokers and changed partitions.

A partition whose leader is -2 has been deleted.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class UpdateMetadataPartitionState(Struct):
    """The state of one partition; v5 and later group them by topic."""

    topic_name: str = wire.string("0-4", ignorable=True)
    partition_index: int = wire.int32()
    controller_epoch: int = wire.int32()  # requests of a controller with a lower epoch than one seen before are refused (11)
    leader: int = wire.int32()  # -1 none, -2 the partition was deleted
    leader_epoch: int = wire.int32()
    isr: list[int] = wire.array(wire.INT32)
    zk_version: int = wire.int32()  # of the partition's state znode
    replicas: list[int] = wire.array(wire.INT32)
    offline_replicas: list[int] = wire.array(wire.INT32, "4+", ignorable=True)


@dataclass(slots=True)
class UpdateMetadataTopicState(Struct):
    """Partitions of one topic."""

    topic_name: str = wire.string("5+")
    topic_id: bytes = wire.uuid("7+", ignorable=True)
    partition_states: list[UpdateMetadataPartitionState] = wire.array(UpdateMetadataPartitionState, "5+")


@dataclass(slots=True)
class UpdateMetadataEndpoint(Struct):
    """A listener of a live broker."""

    port: int = wire.int32("1+")
    host: str = wire.string("1+")
    listener: str = wire.string("3+", ignorable=True)
    security_protocol: int = wire.int16("1+")  # 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL


@dataclass(slots=True)
class UpdateMetadataBroker(Struct):
    """A live broker."""

    id: int = wire.int32()
    v0_host: str = wire.string("0", ignorable=True)  # v0 knows one endpoint, PLAINTEXT
    v0_port: int = wire.int32("0", ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = wire.array(UpdateMetadataEndpoint, "1+", ignorable=True)
    rack: str | None = wire.string("2+", nullable="0+", ignorable=True)


@dataclass(slots=True)
class UpdateMetadataRequest(Message):
    """All live brokers, and the partitions that changed."""

    API_KEY = 6
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    controller_id: int = wire.int32()
    controller_epoch: int = wire.int32()  # requests of a controller with a lower epoch than one seen before are refused (11)
    # Czxid of the broker's znode: fences requests meant for an earlier life of the broker; -1: no check
    broker_epoch: int = wire.int64("5+", default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = wire.array(UpdateMetadataPartitionState, "0-4")
    topic_states: list[UpdateMetadataTopicState] = wire.array(UpdateMetadataTopicState, "5+")
    live_brokers: list[UpdateMetadataBroker] = wire.array(UpdateMetadataBroker)


@dataclass(slots=True)
class UpdateMetadataResponse(Message):
    """Whether it was applied."""

    API_KEY = 6
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    error_code: int = wire.int16()
