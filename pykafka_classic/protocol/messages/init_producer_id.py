"""Gives a producer its id and epoch; with a transactional id it also fences older producers of that id (KIP-98, KIP-360)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class InitProducerIdRequest(Message):
    """A producer without an id, or one that wants its epoch raised."""

    API_KEY = 22
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    transactional_id: str | None = wire.string(nullable="0+")  # null: idempotent only
    transaction_timeout_ms: int = wire.int32()
    producer_id: int = wire.int64("3+", default=-1)  # -1, or the one whose epoch shall be raised (KIP-360)
    producer_epoch: int = wire.int16("3+", default=-1)


@dataclass(slots=True)
class InitProducerIdResponse(Message):
    """The producer's identity."""

    API_KEY = 22
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    producer_id: int = wire.int64(default=-1)
    producer_epoch: int = wire.int16()
