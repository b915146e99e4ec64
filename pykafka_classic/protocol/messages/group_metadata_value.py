"""GroupMetadataValue."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class MemberMetadata(Struct):
    """MemberMetadata."""

    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("3+", nullable="3+", default=None, ignorable=True)
    client_id: str = wire.string()
    client_host: str = wire.string()
    rebalance_timeout: int = wire.int32("1+", ignorable=True)
    session_timeout: int = wire.int32()
    subscription: bytes = wire.data()
    assignment: bytes = wire.data()


@dataclass(slots=True)
class GroupMetadataValue(Message):
    """GroupMetadataValue."""

    VALID_VERSIONS = Versions(0, 3)

    protocol_type: str = wire.string()
    generation: int = wire.int32()
    protocol: str | None = wire.string(nullable="0+")
    leader: str | None = wire.string(nullable="0+")
    current_state_timestamp: int = wire.int64("2+", default=-1, ignorable=True)
    members: list[MemberMetadata] = wire.array(MemberMetadata)
