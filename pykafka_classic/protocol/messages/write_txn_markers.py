"""WriteTxnMarkers."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class WritableTxnMarkerTopic(Struct):
    """WritableTxnMarkerTopic."""

    name: str = wire.string()
    partition_indexes: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class WritableTxnMarker(Struct):
    """WritableTxnMarker."""

    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    transaction_result: bool = wire.boolean()
    topics: list[WritableTxnMarkerTopic] = wire.array(WritableTxnMarkerTopic)
    coordinator_epoch: int = wire.int32()


@dataclass(slots=True)
class WriteTxnMarkersRequest(Message):
    """WriteTxnMarkersRequest."""

    API_KEY = 27
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    markers: list[WritableTxnMarker] = wire.array(WritableTxnMarker)


@dataclass(slots=True)
class WritableTxnMarkerPartitionResult(Struct):
    """WritableTxnMarkerPartitionResult."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class WritableTxnMarkerTopicResult(Struct):
    """WritableTxnMarkerTopicResult."""

    name: str = wire.string()
    partitions: list[WritableTxnMarkerPartitionResult] = wire.array(WritableTxnMarkerPartitionResult)


@dataclass(slots=True)
class WritableTxnMarkerResult(Struct):
    """WritableTxnMarkerResult."""

    producer_id: int = wire.int64()
    topics: list[WritableTxnMarkerTopicResult] = wire.array(WritableTxnMarkerTopicResult)


@dataclass(slots=True)
class WriteTxnMarkersResponse(Message):
    """WriteTxnMarkersResponse."""

    API_KEY = 27
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    markers: list[WritableTxnMarkerResult] = wire.array(WritableTxnMarkerResult)
