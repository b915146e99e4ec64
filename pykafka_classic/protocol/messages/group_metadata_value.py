"""A group's generation in `__consumer_offsets`: what a coordinator needs to go on after a failover.

An int16 version comes before it. A null value (tombstone) removes the group.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class MemberMetadata(Struct):
    """One member, with its subscription and assignment."""

    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("3+", nullable="3+", default=None, ignorable=True)  # of a static member (KIP-345); null for a dynamic one
    client_id: str = wire.string()
    client_host: str = wire.string()
    rebalance_timeout: int = wire.int32("1+", ignorable=True)  # ms
    session_timeout: int = wire.int32()  # ms
    subscription: bytes = wire.data()
    assignment: bytes = wire.data()


@dataclass(slots=True)
class GroupMetadataValue(Message):
    """One generation."""

    VALID_VERSIONS = Versions(0, 3)

    protocol_type: str = wire.string()  # `consumer` for consumers
    generation: int = wire.int32()
    protocol: str | None = wire.string(nullable="0+")  # the assignor; null while there is none
    leader: str | None = wire.string(nullable="0+")
    current_state_timestamp: int = wire.int64("2+", default=-1, ignorable=True)  # ms; -1: not known
    members: list[MemberMetadata] = wire.array(MemberMetadata)
