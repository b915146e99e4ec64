"""DescribeClientQuotas."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ComponentData(Struct):
    """ComponentData."""

    entity_type: str = wire.string()
    match_type: int = wire.int8()
    match: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class DescribeClientQuotasRequest(Message):
    """DescribeClientQuotasRequest."""

    API_KEY = 48
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    components: list[ComponentData] = wire.array(ComponentData)
    strict: bool = wire.boolean()


@dataclass(slots=True)
class EntityData(Struct):
    """EntityData."""

    entity_type: str = wire.string()
    entity_name: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class ValueData(Struct):
    """ValueData."""

    key: str = wire.string()
    value: float = wire.float64()


@dataclass(slots=True)
class EntryData(Struct):
    """EntryData."""

    entity: list[EntityData] = wire.array(EntityData)
    values: list[ValueData] = wire.array(ValueData)


@dataclass(slots=True)
class DescribeClientQuotasResponse(Message):
    """DescribeClientQuotasResponse."""

    API_KEY = 48
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    entries: list[EntryData] | None = wire.array(EntryData, nullable="0+")
