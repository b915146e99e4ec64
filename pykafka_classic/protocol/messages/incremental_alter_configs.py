"""Changes single dynamic configs of topics or brokers (KIP-339)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AlterableConfig(Struct):
    """One change."""

    name: str = wire.string()
    config_operation: int = wire.int8()  # 0 set, 1 delete, 2 append, 3 subtract
    value: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class AlterConfigsResource(Struct):
    """Changes to one topic or broker."""

    resource_type: int = wire.int8()  # 2 topic, 4 broker, 8 broker logger
    resource_name: str = wire.string()
    configs: list[AlterableConfig] = wire.array(AlterableConfig)


@dataclass(slots=True)
class IncrementalAlterConfigsRequest(Message):
    """Configs to change."""

    API_KEY = 44
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    resources: list[AlterConfigsResource] = wire.array(AlterConfigsResource)
    validate_only: bool = wire.boolean()  # check, but change nothing


@dataclass(slots=True)
class AlterConfigsResourceResponse(Struct):
    """What became of one topic or broker."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    resource_type: int = wire.int8()
    resource_name: str = wire.string()


@dataclass(slots=True)
class IncrementalAlterConfigsResponse(Message):
    """One entry for each resource."""

    API_KEY = 44
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    responses: list[AlterConfigsResourceResponse] = wire.array(AlterConfigsResourceResponse)
