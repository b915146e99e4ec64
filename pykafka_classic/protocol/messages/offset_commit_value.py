"""A committed offset in `__consumer_offsets`. An int16 version comes before it. A null value (tombstone) removes the offset."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Versions


@dataclass(slots=True)
class OffsetCommitValue(Message):
    """The position."""

    VALID_VERSIONS = Versions(0, 3)

    offset: int = wire.int64()
    leader_epoch: int = wire.int32("3+", default=-1, ignorable=True)
    metadata: str = wire.string()  # the consumer's own note
    commit_timestamp: int = wire.int64()  # ms
    expire_timestamp: int = wire.int64("1", default=-1, ignorable=True)  # ms; v1 only
