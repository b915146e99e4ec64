"""Heartbeat."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class HeartbeatRequest(Message):
    """HeartbeatRequest."""

    API_KEY = 12
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    group_id: str = wire.string()
    generation_id: int = wire.int32()
    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("3+", nullable="3+", default=None)


@dataclass(slots=True)
class HeartbeatResponse(Message):
    """HeartbeatResponse."""

    API_KEY = 12
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)
    error_code: int = wire.int16()
