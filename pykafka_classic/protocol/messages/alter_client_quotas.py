"""AlterClientQuotas."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AlterClientQuotasRequestEntityData(Struct):
    """AlterClientQuotasRequestEntityData."""

    entity_type: str = wire.string()
    entity_name: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class OpData(Struct):
    """OpData."""

    key: str = wire.string()
    value: float = wire.float64()
    remove: bool = wire.boolean()


@dataclass(slots=True)
class AlterClientQuotasRequestEntryData(Struct):
    """AlterClientQuotasRequestEntryData."""

    entity: list[AlterClientQuotasRequestEntityData] = wire.array(AlterClientQuotasRequestEntityData)
    ops: list[OpData] = wire.array(OpData)


@dataclass(slots=True)
class AlterClientQuotasRequest(Message):
    """AlterClientQuotasRequest."""

    API_KEY = 49
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    entries: list[AlterClientQuotasRequestEntryData] = wire.array(AlterClientQuotasRequestEntryData)
    validate_only: bool = wire.boolean()


@dataclass(slots=True)
class AlterClientQuotasResponseEntityData(Struct):
    """AlterClientQuotasResponseEntityData."""

    entity_type: str = wire.string()
    entity_name: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class AlterClientQuotasResponseEntryData(Struct):
    """AlterClientQuotasResponseEntryData."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    entity: list[AlterClientQuotasResponseEntityData] = wire.array(AlterClientQuotasResponseEntityData)


@dataclass(slots=True)
class AlterClientQuotasResponse(Message):
    """AlterClientQuotasResponse."""

    API_KEY = 49
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    throttle_time_ms: int = wire.int32()
    entries: list[AlterClientQuotasResponseEntryData] = wire.array(AlterClientQuotasResponseEntryData)
