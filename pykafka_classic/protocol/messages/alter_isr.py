"""AlterIsr."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AlterIsrRequestPartitionData(Struct):
    """AlterIsrRequestPartitionData."""

    partition_index: int = wire.int32()
    leader_epoch: int = wire.int32()
    new_isr: list[int] = wire.array(wire.INT32)
    current_isr_version: int = wire.int32()


@dataclass(slots=True)
class AlterIsrRequestTopicData(Struct):
    """AlterIsrRequestTopicData."""

    name: str = wire.string()
    partitions: list[AlterIsrRequestPartitionData] = wire.array(AlterIsrRequestPartitionData)


@dataclass(slots=True)
class AlterIsrRequest(Message):
    """AlterIsrRequest."""

    API_KEY = 56
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    broker_id: int = wire.int32()
    broker_epoch: int = wire.int64(default=-1)
    topics: list[AlterIsrRequestTopicData] = wire.array(AlterIsrRequestTopicData)


@dataclass(slots=True)
class AlterIsrResponsePartitionData(Struct):
    """AlterIsrResponsePartitionData."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()
    isr: list[int] = wire.array(wire.INT32)
    current_isr_version: int = wire.int32()


@dataclass(slots=True)
class AlterIsrResponseTopicData(Struct):
    """AlterIsrResponseTopicData."""

    name: str = wire.string()
    partitions: list[AlterIsrResponsePartitionData] = wire.array(AlterIsrResponsePartitionData)


@dataclass(slots=True)
class AlterIsrResponse(Message):
    """AlterIsrResponse."""

    API_KEY = 56
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
    topics: list[AlterIsrResponseTopicData] = wire.array(AlterIsrResponseTopicData)
