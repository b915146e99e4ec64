"""Removes groups without members, with their offsets (KIP-229). Sent to the group coordinator."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DeleteGroupsRequest(Message):
    """Groups to delete."""

    API_KEY = 42
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    groups_names: list[str] = wire.array(wire.STRING)


@dataclass(slots=True)
class DeletableGroupResult(Struct):
    """What became of one group."""

    group_id: str = wire.string()
    error_code: int = wire.int16()


@dataclass(slots=True)
class DeleteGroupsResponse(Message):
    """One entry for each group."""

    API_KEY = 42
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    results: list[DeletableGroupResult] = wire.array(DeletableGroupResult)
