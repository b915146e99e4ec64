"""DescribeConfigs."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeConfigsResource(Struct):
    """DescribeConfigsResource."""

    resource_type: int = wire.int8()
    resource_name: str = wire.string()
    configuration_keys: list[str] | None = wire.array(wire.STRING, nullable="0+")


@dataclass(slots=True)
class DescribeConfigsRequest(Message):
    """DescribeConfigsRequest."""

    API_KEY = 32
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    resources: list[DescribeConfigsResource] = wire.array(DescribeConfigsResource)
    include_synonyms: bool = wire.boolean("1+")
    include_documentation: bool = wire.boolean("3+")


@dataclass(slots=True)
class DescribeConfigsSynonym(Struct):
    """DescribeConfigsSynonym."""

    name: str = wire.string("1+")
    value: str | None = wire.string("1+", nullable="0+")
    source: int = wire.int8("1+")


@dataclass(slots=True)
class DescribeConfigsResourceResult(Struct):
    """DescribeConfigsResourceResult."""

    name: str = wire.string()
    value: str | None = wire.string(nullable="0+")
    read_only: bool = wire.boolean()
    is_default: bool = wire.boolean("0")
    config_source: int = wire.int8("1+", default=-1, ignorable=True)
    is_sensitive: bool = wire.boolean()
    synonyms: list[DescribeConfigsSynonym] = wire.array(DescribeConfigsSynonym, "1+", ignorable=True)
    config_type: int = wire.int8("3+", ignorable=True)
    documentation: str | None = wire.string("3+", nullable="0+", ignorable=True)


@dataclass(slots=True)
class DescribeConfigsResult(Struct):
    """DescribeConfigsResult."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    resource_type: int = wire.int8()
    resource_name: str = wire.string()
    configs: list[DescribeConfigsResourceResult] = wire.array(DescribeConfigsResourceResult)


@dataclass(slots=True)
class DescribeConfigsResponse(Message):
    """DescribeConfigsResponse."""

    API_KEY = 32
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32()
    results: list[DescribeConfigsResult] = wire.array(DescribeConfigsResult)
