"""KRaft: a broker registers at the controller quorum. With ZooKeeper the znode /brokers/ids/N does that."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class Listener(Struct):
    """A listener of the broker."""

    name: str = wire.string()
    host: str = wire.string()
    port: int = wire.uint16()
    security_protocol: int = wire.int16()


@dataclass(slots=True)
class Feature(Struct):
    """A feature that the broker supports."""

    name: str = wire.string()
    min_supported_version: int = wire.int16()
    max_supported_version: int = wire.int16()


@dataclass(slots=True)
class BrokerRegistrationRequest(Message):
    """A broker introduces itself."""

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
    """The broker's epoch from now on."""

    API_KEY = 62
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    broker_epoch: int = wire.int64(default=-1)
