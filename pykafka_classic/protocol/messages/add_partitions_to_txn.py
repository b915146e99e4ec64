"""A transactional producer names the partitions that it is going to write to, before it writes (KIP-98).

The transaction coordinator records them, so that it knows where the markers must go at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AddPartitionsToTxnTopic(Struct):
    """A topic to write to."""

    name: str = wire.string()
    partitions: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class AddPartitionsToTxnRequest(Message):
    """Adds partitions to the producer's transaction, beginning it if need be."""

    API_KEY = 24
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    transactional_id: str = wire.string()
    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    topics: list[AddPartitionsToTxnTopic] = wire.array(AddPartitionsToTxnTopic)


@dataclass(slots=True)
class AddPartitionsToTxnPartitionResult(Struct):
    """What became of one partition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class AddPartitionsToTxnTopicResult(Struct):
    """What became of one topic."""

    name: str = wire.string()
    results: list[AddPartitionsToTxnPartitionResult] = wire.array(AddPartitionsToTxnPartitionResult)


@dataclass(slots=True)
class AddPartitionsToTxnResponse(Message):
    """If one partition fails, the others report 55 (OPERATION_NOT_ATTEMPTED)."""

    API_KEY = 24
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    results: list[AddPartitionsToTxnTopicResult] = wire.array(AddPartitionsToTxnTopicResult)
