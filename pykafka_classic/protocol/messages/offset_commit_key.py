"""Key of a committed offset in `__consumer_offsets`: group, topic, partition.

An int16 version comes before it, 0 or 1 (with the same content).
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Versions


@dataclass(slots=True)
class OffsetCommitKey(Message):
    """Whose position, and where."""

    VALID_VERSIONS = Versions(0, 1)

    group: str = wire.string("0-1")
    topic: str = wire.string("0-1")
    partition: int = wire.int32("0-1")
