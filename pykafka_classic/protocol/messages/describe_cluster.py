"""DescribeCluster."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeClusterRequest(Message):
    """DescribeClusterRequest."""

    API_KEY = 60
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    include_cluster_authorized_operations: bool = wire.boolean()


@dataclass(slots=True)
class DescribeClusterBroker(Struct):
    """DescribeClusterBroker."""

    broker_id: int = wire.int32()
    host: str = wire.string()
    port: int = wire.int32()
    rack: str | None = wire.string(nullable="0+", default=None)


@dataclass(slots=True)
class DescribeClusterResponse(Message):
    """DescribeClusterResponse."""

    API_KEY = 60
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+", default=None)
    cluster_id: str = wire.string()
    controller_id: int = wire.int32(default=-1)
    brokers: list[DescribeClusterBroker] = wire.array(DescribeClusterBroker)
    cluster_authorized_operations: int = wire.int32(default=-2147483648)
