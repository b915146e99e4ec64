"""Who is in the cluster and who controls it (KIP-700): Metadata without topics."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeClusterRequest(Message):
    """Asks for brokers and controller."""

    API_KEY = 60
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    include_cluster_authorized_operations: bool = wire.boolean()


@dataclass(slots=True)
class DescribeClusterBroker(Struct):
    """A live broker, at the listener that the request came in on."""

    broker_id: int = wire.int32()
    host: str = wire.string()
    port: int = wire.int32()
    rack: str | None = wire.string(nullable="0+", default=None)


@dataclass(slots=True)
class DescribeClusterResponse(Message):
    """The cluster as this broker's cache knows it."""

    API_KEY = 60
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+", default=None)
    cluster_id: str = wire.string()
    controller_id: int = wire.int32(default=-1)  # -1: not known
    brokers: list[DescribeClusterBroker] = wire.array(DescribeClusterBroker)
    cluster_authorized_operations: int = wire.int32(default=-2147483648)  # bit n: operation n is allowed; the default: not asked for
