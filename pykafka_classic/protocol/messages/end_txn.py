"""EndTxn."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class EndTxnRequest(Message):
    """EndTxnRequest."""

    API_KEY = 26
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    transactional_id: str = wire.string()
    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    committed: bool = wire.boolean()


@dataclass(slots=True)
class EndTxnResponse(Message):
    """EndTxnResponse."""

    API_KEY = 26
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
