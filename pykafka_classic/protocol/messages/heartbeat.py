"""A member of a group is alive, and asks whether it must rejoin."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class HeartbeatRequest(Message):
    """A sign of life."""

    API_KEY = 12
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    group_id: str = wire.string()
    generation_id: int = wire.int32()  # -1: not a member
    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("3+", nullable="3+", default=None)  # of a static member (KIP-345); null for a dynamic one


@dataclass(slots=True)
class HeartbeatResponse(Message):
    """27 (REBALANCE_IN_PROGRESS) means: join again."""

    API_KEY = 12
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
