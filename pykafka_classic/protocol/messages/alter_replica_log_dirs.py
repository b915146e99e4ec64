"""Moves replicas between the log directories of the broker that receives the request (KIP-113)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AlterReplicaLogDirTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class AlterReplicaLogDir(Struct):
    """What shall move to one directory."""

    path: str = wire.string()
    topics: list[AlterReplicaLogDirTopic] = wire.array(AlterReplicaLogDirTopic)


@dataclass(slots=True)
class AlterReplicaLogDirsRequest(Message):
    """Replicas to move to other directories of the same broker."""

    API_KEY = 34
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    dirs: list[AlterReplicaLogDir] = wire.array(AlterReplicaLogDir)


@dataclass(slots=True)
class AlterReplicaLogDirPartitionResult(Struct):
    """What became of one partition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class AlterReplicaLogDirTopicResult(Struct):
    """Partitions of one topic."""

    topic_name: str = wire.string()
    partitions: list[AlterReplicaLogDirPartitionResult] = wire.array(AlterReplicaLogDirPartitionResult)


@dataclass(slots=True)
class AlterReplicaLogDirsResponse(Message):
    """Accepted, not finished."""

    API_KEY = 34
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    results: list[AlterReplicaLogDirTopicResult] = wire.array(AlterReplicaLogDirTopicResult)
