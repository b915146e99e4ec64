"""Lists client quotas by a filter on their entities (KIP-546)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ComponentData(Struct):
    """A condition on one part of a quota's owner."""

    entity_type: str = wire.string()  # user, client-id or ip
    match_type: int = wire.int8()  # 0 this name, 1 the default entity, 2 any
    match: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class DescribeClientQuotasRequest(Message):
    """A filter on owners of quotas."""

    API_KEY = 48
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    components: list[ComponentData] = wire.array(ComponentData)
    strict: bool = wire.boolean()  # true: owners with further parts do not match


@dataclass(slots=True)
class EntityData(Struct):
    """One part of the owner's name."""

    entity_type: str = wire.string()  # user, client-id or ip
    entity_name: str | None = wire.string(nullable="0+")  # null: the default entity


@dataclass(slots=True)
class ValueData(Struct):
    """One quota."""

    key: str = wire.string()
    value: float = wire.float64()


@dataclass(slots=True)
class EntryData(Struct):
    """The quotas of one owner."""

    entity: list[EntityData] = wire.array(EntityData)
    values: list[ValueData] = wire.array(ValueData)


@dataclass(slots=True)
class DescribeClientQuotasResponse(Message):
    """The quotas that matched."""

    API_KEY = 48
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    entries: list[EntryData] | None = wire.array(EntryData, nullable="0+")
