"""Key of a record in `__consumer_offsets` that describes a group's generation.

An int16 version comes before it, always 2: it tells this kind of key from OffsetCommitKey.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Versions


@dataclass(slots=True)
class GroupMetadataKey(Message):
    """Which group."""

    VALID_VERSIONS = Versions(2, 2)

    group: str = wire.string("2")
