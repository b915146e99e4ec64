"""BrokerRegistration."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class Listener(Struct):
    """Listener."""

    name: str = wire.string()
    host: str = wire.string()
    port: int = wire.uint16()
    security_protocol: int = wire.int16()


@dataclass(slots=True)
class Feature(Struct):
    """Feature."""

    name: str = wire.string()
    min_supported_version: int = wire.int16()
    max_supported_version: int = wire.int16()


@dataclass(slots=True)
class BrokerRegistrationRequest(Message):
    """BrokerRegistrationRequest."""

    API_KEY = 62
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    broker_id: int = wire.int32()
    cluster_id: str = wire.string()
    incarnation_id: bytes = wire.uuid()
    listeners: list[Listener] = wire.array(Listener)
    features: list[Feature] = wire.array(Feature)
    rack: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class BrokerRegistrationResponse(Message):
    """BrokerRegistrationResponse."""

    API_KEY = 62
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
    broker_epoch: int = wire.int64(default=-1)
