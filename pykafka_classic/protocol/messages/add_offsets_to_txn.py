"""AddOffsetsToTxn."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class AddOffsetsToTxnRequest(Message):
    """AddOffsetsToTxnRequest."""

    API_KEY = 25
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    transactional_id: str = wire.string()
    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    group_id: str = wire.string()


@dataclass(slots=True)
class AddOffsetsToTxnResponse(Message):
    """AddOffsetsToTxnResponse."""

    API_KEY = 25
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
