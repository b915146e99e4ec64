"""DescribeProducers."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class TopicRequest(Struct):
    """TopicRequest."""

    name: str = wire.string()
    partition_indexes: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class DescribeProducersRequest(Message):
    """DescribeProducersRequest."""

    API_KEY = 61
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    topics: list[TopicRequest] = wire.array(TopicRequest)


@dataclass(slots=True)
class ProducerState(Struct):
    """ProducerState."""

    producer_id: int = wire.int64()
    producer_epoch: int = wire.int32()
    last_sequence: int = wire.int32(default=-1)
    last_timestamp: int = wire.int64(default=-1)
    coordinator_epoch: int = wire.int32()
    current_txn_start_offset: int = wire.int64(default=-1)


@dataclass(slots=True)
class PartitionResponse(Struct):
    """PartitionResponse."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+", default=None)
    active_producers: list[ProducerState] = wire.array(ProducerState)


@dataclass(slots=True)
class TopicResponse(Struct):
    """TopicResponse."""

    name: str = wire.string()
    partitions: list[PartitionResponse] = wire.array(PartitionResponse)


@dataclass(slots=True)
class DescribeProducersResponse(Message):
    """DescribeProducersResponse."""

    API_KEY = 61
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()
    topics: list[TopicResponse] = wire.array(TopicResponse)
