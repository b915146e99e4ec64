"""InitProducerId."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class InitProducerIdRequest(Message):
    """InitProducerIdRequest."""

    API_KEY = 22
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    transactional_id: str | None = wire.string(nullable="0+")
    transaction_timeout_ms: int = wire.int32()
    producer_id: int = wire.int64("3+", default=-1)
    producer_epoch: int = wire.int16("3+", default=-1)


@dataclass(slots=True)
class InitProducerIdResponse(Message):
    """InitProducerIdResponse."""

    API_KEY = 22
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
    producer_id: int = wire.int64(default=-1)
    producer_epoch: int = wire.int16()
