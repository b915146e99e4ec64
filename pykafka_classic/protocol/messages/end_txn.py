"""Commits or aborts a producer's transaction (KIP-98).

Answered when the decision is in the transaction log; markers go to the partitions afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class EndTxnRequest(Message):
    """The producer's decision."""

    API_KEY = 26
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    transactional_id: str = wire.string()
    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    committed: bool = wire.boolean()  # true commit, false abort


@dataclass(slots=True)
class EndTxnResponse(Message):
    """Whether the decision was recorded."""

    API_KEY = 26
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
