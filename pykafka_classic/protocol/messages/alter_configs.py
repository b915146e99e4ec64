"""Replaces all dynamic configs of topics or brokers (KIP-133). What the request does not name falls back to its default; IncrementalAlterConfigs is kinder."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AlterableConfig(Struct):
    """One config."""

    name: str = wire.string()
    value: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class AlterConfigsResource(Struct):
    """A topic or broker, and all its dynamic configs from now on."""

    resource_type: int = wire.int8()  # 2 topic, 4 broker, 8 broker logger
    resource_name: str = wire.string()
    configs: list[AlterableConfig] = wire.array(AlterableConfig)


@dataclass(slots=True)
class AlterConfigsRequest(Message):
    """Configs to replace."""

    API_KEY = 33
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

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
class AlterConfigsResponse(Message):
    """One entry for each resource."""

    API_KEY = 33
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    responses: list[AlterConfigsResourceResponse] = wire.array(AlterConfigsResourceResponse)
