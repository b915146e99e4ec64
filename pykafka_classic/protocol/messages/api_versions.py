"""ApiVersions."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ApiVersionsRequest(Message):
    """ApiVersionsRequest."""

    API_KEY = 18
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    client_software_name: str = wire.string("3+", ignorable=True)
    client_software_version: str = wire.string("3+", ignorable=True)


@dataclass(slots=True)
class ApiVersion(Struct):
    """ApiVersion."""

    api_key: int = wire.int16()
    min_version: int = wire.int16()
    max_version: int = wire.int16()


@dataclass(slots=True)
class SupportedFeatureKey(Struct):
    """SupportedFeatureKey."""

    name: str = wire.string("3+")
    min_version: int = wire.int16("3+")
    max_version: int = wire.int16("3+")


@dataclass(slots=True)
class FinalizedFeatureKey(Struct):
    """FinalizedFeatureKey."""

    name: str = wire.string("3+")
    max_version_level: int = wire.int16("3+")
    min_version_level: int = wire.int16("3+")


@dataclass(slots=True)
class ApiVersionsResponse(Message):
    """ApiVersionsResponse."""

    API_KEY = 18
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    error_code: int = wire.int16()
    api_keys: list[ApiVersion] = wire.array(ApiVersion)
    throttle_time_ms: int = wire.int32("1+", ignorable=True)
    supported_features: list[SupportedFeatureKey] = wire.tagged(0, wire.array(SupportedFeatureKey, "3+"))
    finalized_features_epoch: int = wire.tagged(1, wire.int64("3+", default=-1, ignorable=True))
    finalized_features: list[FinalizedFeatureKey] = wire.tagged(2, wire.array(FinalizedFeatureKey, "3+"))
