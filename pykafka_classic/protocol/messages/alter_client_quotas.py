"""Sets and removes client quotas (KIP-546). Any broker carries it out: quotas lie in ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AlterClientQuotasRequestEntityData(Struct):
    """One part of the name of a quota's owner: a user, a client id or an IP address."""

    entity_type: str = wire.string()  # user, client-id or ip
    entity_name: str | None = wire.string(nullable="0+")  # null: the default entity


@dataclass(slots=True)
class OpData(Struct):
    """One quota to set or remove."""

    key: str = wire.string()  # such as producer_byte_rate
    value: float = wire.float64()
    remove: bool = wire.boolean()


@dataclass(slots=True)
class AlterClientQuotasRequestEntryData(Struct):
    """The quotas of one owner."""

    entity: list[AlterClientQuotasRequestEntityData] = wire.array(AlterClientQuotasRequestEntityData)
    ops: list[OpData] = wire.array(OpData)


@dataclass(slots=True)
class AlterClientQuotasRequest(Message):
    """Quotas to change."""

    API_KEY = 49
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    entries: list[AlterClientQuotasRequestEntryData] = wire.array(AlterClientQuotasRequestEntryData)
    validate_only: bool = wire.boolean()  # check, but change nothing


@dataclass(slots=True)
class AlterClientQuotasResponseEntityData(Struct):
    """One part of the owner's name, as asked."""

    entity_type: str = wire.string()  # user, client-id or ip
    entity_name: str | None = wire.string(nullable="0+")  # null: the default entity


@dataclass(slots=True)
class AlterClientQuotasResponseEntryData(Struct):
    """What became of one owner's quotas."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    entity: list[AlterClientQuotasResponseEntityData] = wire.array(AlterClientQuotasResponseEntityData)


@dataclass(slots=True)
class AlterClientQuotasResponse(Message):
    """One entry for each owner."""

    API_KEY = 49
    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    entries: list[AlterClientQuotasResponseEntryData] = wire.array(AlterClientQuotasResponseEntryData)
