"""What versions of which requests does this broker speak? The first request of most connections (KIP-35, KIP-511).

The response header never has tags, and a broker that does not know the version answers in version 0: so any client can read the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ApiVersionsRequest(Message):
    """Says who the client is, for metrics only."""

    API_KEY = 18
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    client_software_name: str = wire.string("3+", ignorable=True)
    client_software_version: str = wire.string("3+", ignorable=True)


@dataclass(slots=True)
class ApiVersion(Struct):
    """One API and the versions that this broker speaks."""

    api_key: int = wire.int16()
    min_version: int = wire.int16()
    max_version: int = wire.int16()


@dataclass(slots=True)
class SupportedFeatureKey(Struct):
    """A feature that the broker supports (KIP-584)."""

    name: str = wire.string("3+")
    min_version: int = wire.int16("3+")
    max_version: int = wire.int16("3+")


@dataclass(slots=True)
class FinalizedFeatureKey(Struct):
    """A feature that the whole cluster has switched on (KIP-584)."""

    name: str = wire.string("3+")
    max_version_level: int = wire.int16("3+")
    min_version_level: int = wire.int16("3+")


@dataclass(slots=True)
class ApiVersionsResponse(Message):
    """With error 35 it comes in version 0 and names the versions of ApiVersions alone."""

    API_KEY = 18
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    error_code: int = wire.int16()
    api_keys: list[ApiVersion] = wire.array(ApiVersion)
    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    supported_features: list[SupportedFeatureKey] = wire.tagged(0, wire.array(SupportedFeatureKey, "3+"))
    finalized_features_epoch: int = wire.tagged(1, wire.int64("3+", default=-1, ignorable=True))  # -1: not known
    finalized_features: list[FinalizedFeatureKey] = wire.tagged(2, wire.array(FinalizedFeatureKey, "3+"))
