"""GroupMetadataKey."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Versions


@dataclass(slots=True)
class GroupMetadataKey(Message):
    """GroupMetadataKey."""

    VALID_VERSIONS = Versions(2, 2)

    group: str = wire.string("2")
