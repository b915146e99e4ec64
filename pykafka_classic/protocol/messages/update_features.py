"""UpdateFeatures."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class FeatureUpdateKey(Struct):
    """FeatureUpdateKey."""

    feature: str = wire.string()
    max_version_level: int = wire.int16()
    allow_downgrade: bool = wire.boolean()


@dataclass(slots=True)
class UpdateFeaturesRequest(Message):
    """UpdateFeaturesRequest."""

    API_KEY = 57
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    timeout_ms: int = wire.int32(default=60000)
    feature_updates: list[FeatureUpdateKey] = wire.array(FeatureUpdateKey)


@dataclass(slots=True)
class UpdatableFeatureResult(Struct):
    """UpdatableFeatureResult."""

    feature: str = wire.string()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class UpdateFeaturesResponse(Message):
    """UpdateFeaturesResponse."""

    API_KEY = 57
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    results: list[UpdatableFeatureResult] = wire.array(UpdatableFeatureResult)
