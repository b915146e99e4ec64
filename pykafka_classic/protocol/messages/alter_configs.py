"""AlterConfigs."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AlterableConfig(Struct):
    """AlterableConfig."""

    name: str = wire.string()
    value: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class AlterConfigsResource(Struct):
    """AlterConfigsResource."""

    resource_type: int = wire.int8()
    resource_name: str = wire.string()
    configs: list[AlterableConfig] = wire.array(AlterableConfig)


@dataclass(slots=True)
class AlterConfigsRequest(Message):
    """AlterConfigsRequest."""

    API_KEY = 33
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    resources: list[AlterConfigsResource] = wire.array(AlterConfigsResource)
    validate_only: bool = wire.boolean()


@dataclass(slots=True)
class AlterConfigsResourceResponse(Struct):
    """AlterConfigsResourceResponse."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    resource_type: int = wire.int8()
    resource_name: str = wire.string()


@dataclass(slots=True)
class AlterConfigsResponse(Message):
    """AlterConfigsResponse."""

    API_KEY = 33
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()
    responses: list[AlterConfigsResourceResponse] = wire.array(AlterConfigsResourceResponse)
