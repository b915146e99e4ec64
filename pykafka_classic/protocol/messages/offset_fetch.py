"""Reads a group's committed positions. Version 0 reads them from ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class OffsetFetchRequestTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partition_indexes: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class OffsetFetchRequest(Message):
    """Partitions whose positions are wanted; null means all of the group (v2+)."""

    API_KEY = 9
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    group_id: str = wire.string()
    topics: list[OffsetFetchRequestTopic] | None = wire.array(OffsetFetchRequestTopic, nullable="2+")
    require_stable: bool = wire.boolean("7+")  # refuse (88) while transactions have offsets pending (KIP-447)


@dataclass(slots=True)
class OffsetFetchResponsePartition(Struct):
    """A position; -1 where none was committed."""

    partition_index: int = wire.int32()
    committed_offset: int = wire.int64()
    committed_leader_epoch: int = wire.int32("5+", default=-1, ignorable=True)  # of the last record that was consumed; -1: not known
    metadata: str | None = wire.string(nullable="0+")  # the consumer's own note
    error_code: int = wire.int16()


@dataclass(slots=True)
class OffsetFetchResponseTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[OffsetFetchResponsePartition] = wire.array(OffsetFetchResponsePartition)


@dataclass(slots=True)
class OffsetFetchResponse(Message):
    """One entry for each topic."""

    API_KEY = 9
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    throttle_time_ms: int = wire.int32("3+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    topics: list[OffsetFetchResponseTopic] = wire.array(OffsetFetchResponseTopic)
    error_code: int = wire.int16("2+", ignorable=True)
