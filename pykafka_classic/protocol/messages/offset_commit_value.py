"""OffsetCommitValue."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Versions


@dataclass(slots=True)
class OffsetCommitValue(Message):
    """OffsetCommitValue."""

    VALID_VERSIONS = Versions(0, 3)

    offset: int = wire.int64()
    leader_epoch: int = wire.int32("3+", default=-1, ignorable=True)
    metadata: str = wire.string()
    commit_timestamp: int = wire.int64()
    expire_timestamp: int = wire.int64("1", default=-1, ignorable=True)
