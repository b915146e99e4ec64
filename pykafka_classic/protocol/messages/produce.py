"""Produce."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class PartitionProduceData(Struct):
    """PartitionProduceData."""

    index: int = wire.int32()
    records: wire.Records | None = wire.records(nullable="0+")


@dataclass(slots=True)
class TopicProduceData(Struct):
    """TopicProduceData."""

    name: str = wire.string()
    partition_data: list[PartitionProduceData] = wire.array(PartitionProduceData)


@dataclass(slots=True)
class ProduceRequest(Message):
    """ProduceRequest."""

    API_KEY = 0
    VALID_VERSIONS = Versions(0, 9)
    FLEXIBLE_VERSIONS = Versions(9, LATEST)

    transactional_id: str | None = wire.string("3+", nullable="3+", default=None)
    acks: int = wire.int16()
    timeout_ms: int = wire.int32()
    topic_data: list[TopicProduceData] = wire.array(TopicProduceData)


@dataclass(slots=True)
class BatchIndexAndErrorMessage(Struct):
    """BatchIndexAndErrorMessage."""

    batch_index: int = wire.int32("8+")
    batch_index_error_message: str | None = wire.string("8+", nullable="8+", default=None)


@dataclass(slots=True)
class PartitionProduceResponse(Struct):
    """PartitionProduceResponse."""

    index: int = wire.int32()
    error_code: int = wire.int16()
    base_offset: int = wire.int64()
    log_append_time_ms: int = wire.int64("2+", default=-1, ignorable=True)
    log_start_offset: int = wire.int64("5+", default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = wire.array(BatchIndexAndErrorMessage, "8+", ignorable=True)
    error_message: str | None = wire.string("8+", nullable="8+", default=None, ignorable=True)


@dataclass(slots=True)
class TopicProduceResponse(Struct):
    """TopicProduceResponse."""

    name: str = wire.string()
    partition_responses: list[PartitionProduceResponse] = wire.array(PartitionProduceResponse)


@dataclass(slots=True)
class ProduceResponse(Message):
    """ProduceResponse."""

    API_KEY = 0
    VALID_VERSIONS = Versions(0, 9)
    FLEXIBLE_VERSIONS = Versions(9, LATEST)

    responses: list[TopicProduceResponse] = wire.array(TopicProduceResponse)
    throttle_time_ms: int = wire.int32("1+", ignorable=True)
