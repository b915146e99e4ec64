"""Key of a record in `__transaction_state`. An int16 version comes before it."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Versions


@dataclass(slots=True)
class TransactionLogKey(Message):
    """Which transactional id."""

    VALID_VERSIONS = Versions(0, 0)

    transactional_id: str = wire.string("0")
