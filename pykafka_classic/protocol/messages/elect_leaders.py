"""Starts elections: of preferred leaders, or unclean ones (KIP-183, KIP-460). Sent to the controller."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic: str = wire.string()
    partition_id: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class ElectLeadersRequest(Message):
    """Partitions to elect leaders for, or all."""

    API_KEY = 43
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    election_type: int = wire.int8("1+")  # 0 preferred, 1 unclean
    topic_partitions: list[TopicPartitions] | None = wire.array(TopicPartitions, nullable="0+")  # null: all
    timeout_ms: int = wire.int32(default=60000)


@dataclass(slots=True)
class PartitionResult(Struct):
    """What became of one partition."""

    partition_id: int = wire.int32()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class ReplicaElectionResult(Struct):
    """Partitions of one topic."""

    topic: str = wire.string()
    partition_result: list[PartitionResult] = wire.array(PartitionResult)


@dataclass(slots=True)
class ElectLeadersResponse(Message):
    """One entry for each topic."""

    API_KEY = 43
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16("1+")
    replica_election_results: list[ReplicaElectionResult] = wire.array(ReplicaElectionResult)
