"""A leader asks the controller to change a partition's ISR (KIP-497, inter.broker.protocol.version 2.7 and later).

The answer holds the partition's new state; no LeaderAndIsr round follows. With older protocols the leader writes the znode itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AlterIsrRequestPartitionData(Struct):
    """A new ISR for one partition."""

    partition_index: int = wire.int32()
    leader_epoch: int = wire.int32()
    new_isr: list[int] = wire.array(wire.INT32)
    current_isr_version: int = wire.int32()  # version of the state znode that the leader goes by


@dataclass(slots=True)
class AlterIsrRequestTopicData(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[AlterIsrRequestPartitionData] = wire.array(AlterIsrRequestPartitionData)


@dataclass(slots=True)
class AlterIsrRequest(Message):
    """All ISR changes that a leader has pending; a broker has one such request under way at most."""

    API_KEY = 56
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    broker_id: int = wire.int32()
    broker_epoch: int = wire.int64(default=-1)  # czxid of the sender's znode; an old one is refused (77)
    topics: list[AlterIsrRequestTopicData] = wire.array(AlterIsrRequestTopicData)


@dataclass(slots=True)
class AlterIsrResponsePartitionData(Struct):
    """The state that the partition has now."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()
    isr: list[int] = wire.array(wire.INT32)
    current_isr_version: int = wire.int32()  # version of the state znode now


@dataclass(slots=True)
class AlterIsrResponseTopicData(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[AlterIsrResponsePartitionData] = wire.array(AlterIsrResponsePartitionData)


@dataclass(slots=True)
class AlterIsrResponse(Message):
    """A top-level error means that nothing was looked at: send again."""

    API_KEY = 56
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    topics: list[AlterIsrResponseTopicData] = wire.array(AlterIsrResponseTopicData)
