"""DeleteGroups."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DeleteGroupsRequest(Message):
    """DeleteGroupsRequest."""

    API_KEY = 42
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    groups_names: list[str] = wire.array(wire.STRING)


@dataclass(slots=True)
class DeletableGroupResult(Struct):
    """DeletableGroupResult."""

    group_id: str = wire.string()
    error_code: int = wire.int16()


@dataclass(slots=True)
class DeleteGroupsResponse(Message):
    """DeleteGroupsResponse."""

    API_KEY = 42
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()
    results: list[DeletableGroupResult] = wire.array(DeletableGroupResult)
