"""KRaft: a broker's sign of life to the controller quorum. Not served with ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class BrokerHeartbeatRequest(Message):
    """How far the broker has come, and what it wants."""

    API_KEY = 63
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    broker_id: int = wire.int32()
    broker_epoch: int = wire.int64(default=-1)
    current_metadata_offset: int = wire.int64()
    want_fence: bool = wire.boolean()
    want_shut_down: bool = wire.boolean()


@dataclass(slots=True)
class BrokerHeartbeatResponse(Message):
    """What the controller decided about the broker."""

    API_KEY = 63
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    is_caught_up: bool = wire.boolean()
    is_fenced: bool = wire.boolean(default=True)
    should_shut_down: bool = wire.boolean()
