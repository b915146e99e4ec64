"""Appends records. Each partition's records are one message set (v0-2) or exactly one record batch of magic 2 (v3+).

With acks=0 there is no response at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class PartitionProduceData(Struct):
    """Records for one partition."""

    index: int = wire.int32()
    records: wire.Records | None = wire.records(nullable="0+")


@dataclass(slots=True)
class TopicProduceData(Struct):
    """Records for one topic."""

    name: str = wire.string()
    partition_data: list[PartitionProduceData] = wire.array(PartitionProduceData)


@dataclass(slots=True)
class ProduceRequest(Message):
    """Records to append."""

    API_KEY = 0
    VALID_VERSIONS = Versions(0, 9)
    FLEXIBLE_VERSIONS = Versions(9, LATEST)

    transactional_id: str | None = wire.string("3+", nullable="3+", default=None)  # null: not transactional
    acks: int = wire.int16()  # 0 no answer, 1 the leader's append, -1 the whole ISR's
    timeout_ms: int = wire.int32()  # for acks=-1
    topic_data: list[TopicProduceData] = wire.array(TopicProduceData)


@dataclass(slots=True)
class BatchIndexAndErrorMessage(Struct):
    """A record that was refused (KIP-467)."""

    batch_index: int = wire.int32("8+")  # position of the record in its batch
    batch_index_error_message: str | None = wire.string("8+", nullable="8+", default=None)


@dataclass(slots=True)
class PartitionProduceResponse(Struct):
    """What became of one partition's records."""

    index: int = wire.int32()
    error_code: int = wire.int16()
    base_offset: int = wire.int64()  # of the first record
    log_append_time_ms: int = wire.int64("2+", default=-1, ignorable=True)  # -1 unless the topic stamps LogAppendTime
    log_start_offset: int = wire.int64("5+", default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = wire.array(BatchIndexAndErrorMessage, "8+", ignorable=True)
    error_message: str | None = wire.string("8+", nullable="8+", default=None, ignorable=True)


@dataclass(slots=True)
class TopicProduceResponse(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partition_responses: list[PartitionProduceResponse] = wire.array(PartitionProduceResponse)


@dataclass(slots=True)
class ProduceResponse(Message):
    """One entry for each topic; never sent with acks=0."""

    API_KEY = 0
    VALID_VERSIONS = Versions(0, 9)
    FLEXIBLE_VERSIONS = Versions(9, LATEST)

    responses: list[TopicProduceResponse] = wire.array(TopicProduceResponse)
    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
