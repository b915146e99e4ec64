"""The transaction coordinator has commit or abort markers written to partitions (KIP-98). Sent from broker to broker."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class WritableTxnMarkerTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partition_indexes: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class WritableTxnMarker(Struct):
    """One producer's marker, and where it goes."""

    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    transaction_result: bool = wire.boolean()  # true commit, false abort
    topics: list[WritableTxnMarkerTopic] = wire.array(WritableTxnMarkerTopic)
    coordinator_epoch: int = wire.int32()


@dataclass(slots=True)
class WriteTxnMarkersRequest(Message):
    """Markers to write."""

    API_KEY = 27
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    markers: list[WritableTxnMarker] = wire.array(WritableTxnMarker)


@dataclass(slots=True)
class WritableTxnMarkerPartitionResult(Struct):
    """What became of one partition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class WritableTxnMarkerTopicResult(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[WritableTxnMarkerPartitionResult] = wire.array(WritableTxnMarkerPartitionResult)


@dataclass(slots=True)
class WritableTxnMarkerResult(Struct):
    """What became of one producer's marker."""

    producer_id: int = wire.int64()
    topics: list[WritableTxnMarkerTopicResult] = wire.array(WritableTxnMarkerTopicResult)


@dataclass(slots=True)
class WriteTxnMarkersResponse(Message):
    """One entry for each marker."""

    API_KEY = 27
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    markers: list[WritableTxnMarkerResult] = wire.array(WritableTxnMarkerResult)
