"""ControlledShutdown."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ControlledShutdownRequest(Message):
    """ControlledShutdownRequest."""

    API_KEY = 7
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    broker_id: int = wire.int32()
    broker_epoch: int = wire.int64("2+", default=-1, ignorable=True)


@dataclass(slots=True)
class RemainingPartition(Struct):
    """RemainingPartition."""

    topic_name: str = wire.string()
    partition_index: int = wire.int32()


@dataclass(slots=True)
class ControlledShutdownResponse(Message):
    """ControlledShutdownResponse."""

    API_KEY = 7
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    error_code: int = wire.int16()
    remaining_partitions: list[RemainingPartition] = wire.array(RemainingPartition)
