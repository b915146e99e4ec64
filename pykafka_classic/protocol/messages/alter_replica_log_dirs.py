"""AlterReplicaLogDirs."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AlterReplicaLogDirTopic(Struct):
    """AlterReplicaLogDirTopic."""

    name: str = wire.string()
    partitions: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class AlterReplicaLogDir(Struct):
    """AlterReplicaLogDir."""

    path: str = wire.string()
    topics: list[AlterReplicaLogDirTopic] = wire.array(AlterReplicaLogDirTopic)


@dataclass(slots=True)
class AlterReplicaLogDirsRequest(Message):
    """AlterReplicaLogDirsRequest."""

    API_KEY = 34
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    dirs: list[AlterReplicaLogDir] = wire.array(AlterReplicaLogDir)


@dataclass(slots=True)
class AlterReplicaLogDirPartitionResult(Struct):
    """AlterReplicaLogDirPartitionResult."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class AlterReplicaLogDirTopicResult(Struct):
    """AlterReplicaLogDirTopicResult."""

    topic_name: str = wire.string()
    partitions: list[AlterReplicaLogDirPartitionResult] = wire.array(AlterReplicaLogDirPartitionResult)


@dataclass(slots=True)
class AlterReplicaLogDirsResponse(Message):
    """AlterReplicaLogDirsResponse."""

    API_KEY = 34
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()
    results: list[AlterReplicaLogDirTopicResult] = wire.array(AlterReplicaLogDirTopicResult)
