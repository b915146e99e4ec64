"""Groups that this broker coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ListGroupsRequest(Message):
    """All groups, or those in some states."""

    API_KEY = 16
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    states_filter: list[str] = wire.array(wire.STRING, "4+")  # empty: all


@dataclass(slots=True)
class ListedGroup(Struct):
    """One group."""

    group_id: str = wire.string()
    protocol_type: str = wire.string()  # `consumer` for consumers
    group_state: str = wire.string("4+", ignorable=True)


@dataclass(slots=True)
class ListGroupsResponse(Message):
    """The groups of this coordinator."""

    API_KEY = 16
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    groups: list[ListedGroup] = wire.array(ListedGroup)
