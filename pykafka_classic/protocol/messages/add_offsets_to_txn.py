"""A transactional producer tells its transaction coordinator that it is going to commit a group's offsets (KIP-98).

The coordinator adds that group's partition of `__consumer_offsets` to the transaction; TxnOffsetCommit to the group coordinator follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class AddOffsetsToTxnRequest(Message):
    """Adds a group's offsets to the producer's transaction."""

    API_KEY = 25
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    transactional_id: str = wire.string()
    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    group_id: str = wire.string()


@dataclass(slots=True)
class AddOffsetsToTxnResponse(Message):
    """Whether they were added."""

    API_KEY = 25
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
