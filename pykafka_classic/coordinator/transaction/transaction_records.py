"""What the transaction coordinator writes to `__transaction_state`, and how it is read back: an int16 version, then a message (facts/coordination.md 6.1).

Key: the transactional id. Value: its row; null: forgotten.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition, by_topic
from pykafka_classic.coordinator.transaction.transaction_metadata import Row, TransactionState
from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.messages.transaction_log_key import TransactionLogKey
from pykafka_classic.protocol.messages.transaction_log_value import PartitionsSchema, TransactionLogValue
from pykafka_classic.protocol.schema import SchemaError

_VERSION: Final = Struct(">h")
_PREFIX: Final = _VERSION.pack(0)


def key(transactional_id: str) -> bytes:
    """The key of a row."""
    return _PREFIX + encode(TransactionLogKey(transactional_id=transactional_id), 0)


def value(row: Row) -> bytes:
    """A row. Empty says null instead of partitions."""
    message = TransactionLogValue(
        producer_id=row.producer_id,
        producer_epoch=row.producer_epoch,
        transaction_timeout_ms=row.timeout_ms,
        transaction_status=row.state,
        transaction_partitions=None if row.state is TransactionState.EMPTY else [PartitionsSchema(*each) for each in by_topic(row.partitions).items()],
        transaction_last_update_timestamp_ms=row.update_ms,
        transaction_start_timestamp_ms=row.start_ms,
    )
    return _PREFIX + encode(message, 0)


def read_key(data: bytes) -> str:
    """The transactional id. Raises SchemaError."""
    return decode(TransactionLogKey, _known(data), data, _VERSION.size)[0].transactional_id


def read_value(data: bytes) -> Row:
    """A row. Raises SchemaError."""
    stored = decode(TransactionLogValue, _known(data), data, _VERSION.size)[0]
    try:
        state = TransactionState(stored.transaction_status)
    except ValueError:
        raise SchemaError(f"{stored.transaction_status} is no state of a transaction") from None
    partitions = (TopicPartition(topic.topic, partition) for topic in stored.transaction_partitions or () for partition in topic.partition_ids)
    return Row(
        stored.producer_id,
        stored.producer_epoch,
        stored.transaction_timeout_ms,
        state,
        frozenset(partitions),
        stored.transaction_start_timestamp_ms,
        stored.transaction_last_update_timestamp_ms,
    )


def _known(data: bytes) -> int:
    if not data.startswith(_PREFIX):
        raise SchemaError(f"a record of version {_VERSION.unpack_from(data)[0]}" if len(data) >= _VERSION.size else "a record without a version")
    return 0
