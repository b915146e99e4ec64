"""AddPartitionsToTxn."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AddPartitionsToTxnTopic(Struct):
    """AddPartitionsToTxnTopic."""

    name: str = wire.string()
    partitions: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class AddPartitionsToTxnRequest(Message):
    """AddPartitionsToTxnRequest."""

    API_KEY = 24
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    transactional_id: str = wire.string()
    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    topics: list[AddPartitionsToTxnTopic] = wire.array(AddPartitionsToTxnTopic)


@dataclass(slots=True)
class AddPartitionsToTxnPartitionResult(Struct):
    """AddPartitionsToTxnPartitionResult."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class AddPartitionsToTxnTopicResult(Struct):
    """AddPartitionsToTxnTopicResult."""

    name: str = wire.string()
    results: list[AddPartitionsToTxnPartitionResult] = wire.array(AddPartitionsToTxnPartitionResult)


@dataclass(slots=True)
class AddPartitionsToTxnResponse(Message):
    """AddPartitionsToTxnResponse."""

    API_KEY = 24
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32()
    results: list[AddPartitionsToTxnTopicResult] = wire.array(AddPartitionsToTxnTopicResult)
