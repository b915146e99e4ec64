"""Reads configs of topics and brokers, with where each value comes from (KIP-133, KIP-226, KIP-569)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeConfigsResource(Struct):
    """A topic or broker whose configs are wanted."""

    resource_type: int = wire.int8()  # 2 topic, 4 broker, 8 broker logger
    resource_name: str = wire.string()
    configuration_keys: list[str] | None = wire.array(wire.STRING, nullable="0+")  # null: all


@dataclass(slots=True)
class DescribeConfigsRequest(Message):
    """Configs to read."""

    API_KEY = 32
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    resources: list[DescribeConfigsResource] = wire.array(DescribeConfigsResource)
    include_synonyms: bool = wire.boolean("1+")
    include_documentation: bool = wire.boolean("3+")


@dataclass(slots=True)
class DescribeConfigsSynonym(Struct):
    """A place where the value may come from; the first in the list wins."""

    name: str = wire.string("1+")
    value: str | None = wire.string("1+", nullable="0+")
    source: int = wire.int8("1+")  # as config_source


@dataclass(slots=True)
class DescribeConfigsResourceResult(Struct):
    """One config."""

    name: str = wire.string()
    value: str | None = wire.string(nullable="0+")
    read_only: bool = wire.boolean()
    is_default: bool = wire.boolean("0")
    config_source: int = wire.int8("1+", default=-1, ignorable=True)  # 1 topic, 2 dynamic broker, 3 dynamic default, 4 static broker, 5 default, 6 logger
    is_sensitive: bool = wire.boolean()
    synonyms: list[DescribeConfigsSynonym] = wire.array(DescribeConfigsSynonym, "1+", ignorable=True)
    config_type: int = wire.int8("3+", ignorable=True)
    documentation: str | None = wire.string("3+", nullable="0+", ignorable=True)


@dataclass(slots=True)
class DescribeConfigsResult(Struct):
    """The configs of one resource."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    resource_type: int = wire.int8()
    resource_name: str = wire.string()
    configs: list[DescribeConfigsResourceResult] = wire.array(DescribeConfigsResourceResult)


@dataclass(slots=True)
class DescribeConfigsResponse(Message):
    """One entry for each resource."""

    API_KEY = 32
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    results: list[DescribeConfigsResult] = wire.array(DescribeConfigsResult)
