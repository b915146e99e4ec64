"""Changes finalized feature versions of the cluster (KIP-584). Sent to the controller."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class FeatureUpdateKey(Struct):
    """A feature and its new version."""

    feature: str = wire.string()
    max_version_level: int = wire.int16()  # below 1: remove the feature
    allow_downgrade: bool = wire.boolean()  # a lower version needs it


@dataclass(slots=True)
class UpdateFeaturesRequest(Message):
    """Features to change."""

    API_KEY = 57
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    timeout_ms: int = wire.int32(default=60000)
    feature_updates: list[FeatureUpdateKey] = wire.array(FeatureUpdateKey)


@dataclass(slots=True)
class UpdatableFeatureResult(Struct):
    """What became of one feature."""

    feature: str = wire.string()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class UpdateFeaturesResponse(Message):
    """A top-level error means that nothing was changed."""

    API_KEY = 57
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    results: list[UpdatableFeatureResult] = wire.array(UpdatableFeatureResult)
