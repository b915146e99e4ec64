"""UpdateMetadata."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class UpdateMetadataPartitionState(Struct):
    """UpdateMetadataPartitionState."""

    topic_name: str = wire.string("0-4", ignorable=True)
    partition_index: int = wire.int32()
    controller_epoch: int = wire.int32()
    leader: int = wire.int32()
    leader_epoch: int = wire.int32()
    isr: list[int] = wire.array(wire.INT32)
    zk_version: int = wire.int32()
    replicas: list[int] = wire.array(wire.INT32)
    offline_replicas: list[int] = wire.array(wire.INT32, "4+", ignorable=True)


@dataclass(slots=True)
class UpdateMetadataTopicState(Struct):
    """UpdateMetadataTopicState."""

    topic_name: str = wire.string("5+")
    topic_id: bytes = wire.uuid("7+", ignorable=True)
    partition_states: list[UpdateMetadataPartitionState] = wire.array(UpdateMetadataPartitionState, "5+")


@dataclass(slots=True)
class UpdateMetadataEndpoint(Struct):
    """UpdateMetadataEndpoint."""

    port: int = wire.int32("1+")
    host: str = wire.string("1+")
    listener: str = wire.string("3+", ignorable=True)
    security_protocol: int = wire.int16("1+")


@dataclass(slots=True)
class UpdateMetadataBroker(Struct):
    """UpdateMetadataBroker."""

    id: int = wire.int32()
    v0_host: str = wire.string("0", ignorable=True)
    v0_port: int = wire.int32("0", ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = wire.array(UpdateMetadataEndpoint, "1+", ignorable=True)
    rack: str | None = wire.string("2+", nullable="0+", ignorable=True)


@dataclass(slots=True)
class UpdateMetadataRequest(Message):
    """UpdateMetadataRequest."""

    API_KEY = 6
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    controller_id: int = wire.int32()
    controller_epoch: int = wire.int32()
    broker_epoch: int = wire.int64("5+", default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = wire.array(UpdateMetadataPartitionState, "0-4")
    topic_states: list[UpdateMetadataTopicState] = wire.array(UpdateMetadataTopicState, "5+")
    live_brokers: list[UpdateMetadataBroker] = wire.array(UpdateMetadataBroker)


@dataclass(slots=True)
class UpdateMetadataResponse(Message):
    """UpdateMetadataResponse."""

    API_KEY = 6
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    error_code: int = wire.int16()
