"""The producer state of partitions: what the leader remembers of idempotent and transactional producers (KIP-664)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class TopicRequest(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partition_indexes: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class DescribeProducersRequest(Message):
    """Partitions whose producers are wanted."""

    API_KEY = 61
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    topics: list[TopicRequest] = wire.array(TopicRequest)


@dataclass(slots=True)
class ProducerState(Struct):
    """What the leader remembers of one producer."""

    producer_id: int = wire.int64()
    producer_epoch: int = wire.int32()
    last_sequence: int = wire.int32(default=-1)
    last_timestamp: int = wire.int64(default=-1)
    coordinator_epoch: int = wire.int32()
    current_txn_start_offset: int = wire.int64(default=-1)  # -1: no transaction open


@dataclass(slots=True)
class PartitionResponse(Struct):
    """The producers of one partition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+", default=None)
    active_producers: list[ProducerState] = wire.array(ProducerState)


@dataclass(slots=True)
class TopicResponse(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[PartitionResponse] = wire.array(PartitionResponse)


@dataclass(slots=True)
class DescribeProducersResponse(Message):
    """One entry for each topic."""

    API_KEY = 61
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    topics: list[TopicResponse] = wire.array(TopicResponse)
