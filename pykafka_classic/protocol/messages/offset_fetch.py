"""OffsetFetch."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class OffsetFetchRequestTopic(Struct):
    """OffsetFetchRequestTopic."""

    name: str = wire.string()
    partition_indexes: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class OffsetFetchRequest(Message):
    """OffsetFetchRequest."""

    API_KEY = 9
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    group_id: str = wire.string()
    topics: list[OffsetFetchRequestTopic] | None = wire.array(OffsetFetchRequestTopic, nullable="2+")
    require_stable: bool = wire.boolean("7+")


@dataclass(slots=True)
class OffsetFetchResponsePartition(Struct):
    """OffsetFetchResponsePartition."""

    partition_index: int = wire.int32()
    committed_offset: int = wire.int64()
    committed_leader_epoch: int = wire.int32("5+", default=-1, ignorable=True)
    metadata: str | None = wire.string(nullable="0+")
    error_code: int = wire.int16()


@dataclass(slots=True)
class OffsetFetchResponseTopic(Struct):
    """OffsetFetchResponseTopic."""

    name: str = wire.string()
    partitions: list[OffsetFetchResponsePartition] = wire.array(OffsetFetchResponsePartition)


@dataclass(slots=True)
class OffsetFetchResponse(Message):
    """OffsetFetchResponse."""

    API_KEY = 9
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    throttle_time_ms: int = wire.int32("3+", ignorable=True)
    topics: list[OffsetFetchResponseTopic] = wire.array(OffsetFetchResponseTopic)
    error_code: int = wire.int16("2+", ignorable=True)
