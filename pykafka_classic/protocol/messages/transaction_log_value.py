"""State of a transactional id in `__transaction_state`. An int16 version comes before it."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class PartitionsSchema(Struct):
    """Partitions of one topic."""

    topic: str = wire.string("0")
    partition_ids: list[int] = wire.array(wire.INT32, "0")


@dataclass(slots=True)
class TransactionLogValue(Message):
    """The producer's identity and the state of its transaction."""

    VALID_VERSIONS = Versions(0, 0)

    producer_id: int = wire.int64("0")
    producer_epoch: int = wire.int16("0")
    transaction_timeout_ms: int = wire.int32("0")
    # 0 Empty, 1 Ongoing, 2 PrepareCommit, 3 PrepareAbort, 4 CompleteCommit, 5 CompleteAbort, 6 Dead, 7 PrepareEpochFence
    transaction_status: int = wire.int8("0")
    transaction_partitions: list[PartitionsSchema] | None = wire.array(PartitionsSchema, "0", nullable="0")  # null while there is no transaction
    transaction_last_update_timestamp_ms: int = wire.int64("0")
    transaction_start_timestamp_ms: int = wire.int64("0")
