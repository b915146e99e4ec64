"""Taking over a partition of `__transaction_state`: the last row of each transactional id counts, a tombstone removes.

When and in what steps: `coordinator/partition_loader.py`.

Differs from Kafka: a row that cannot be read is logged, and its id is as if it had never been used; Kafka gives up the whole partition.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Final

from pykafka_classic.common.topic_name import TRANSACTION_STATE_TOPIC
from pykafka_classic.coordinator.partition_loader import Words
from pykafka_classic.coordinator.transaction import transaction_records
from pykafka_classic.coordinator.transaction.transaction_metadata import TransactionMetadata
from pykafka_classic.protocol.schema import SchemaError
from pykafka_classic.records.record_batch import iterate_batches

log = logging.getLogger("kafka.coordinator.transaction.TransactionStateManager")

WORDS: Final = Words(logger=log, topic=TRANSACTION_STATE_TOPIC, coordinator="TransactionCoordinator", role="txn coordinator", contents="transaction metadata")

STEP: Final = 500  # ids handed out between two places where the reader may pause


class TransactionReading:
    """One partition's transactional ids. `put` takes each in."""

    def __init__(self, put: Callable[[str, TransactionMetadata], object]) -> None:
        self._put = put
        self._latest: dict[bytes, tuple[int, bytes]] = {}  # by key: the record's offset, its value

    def replay(self, data: bytes, from_offset: int) -> int:
        """See `partition_loader.Reading`."""
        offset = from_offset
        for batch in iterate_batches(data):
            if not batch.is_control:
                for each, _, key, value, _ in batch.records():
                    if each >= from_offset and key is not None:
                        self._note(each, key, value)
            offset = batch.next_offset
        return offset

    def _note(self, offset: int, key: bytes, value: bytes | None) -> None:
        if value is None:
            self._latest.pop(key, None)
        else:
            self._latest[key] = offset, value

    def take_over(self) -> Iterator[None]:
        """See `partition_loader.Reading`."""
        for number, (key, (offset, value)) in enumerate(self._latest.items()):
            if number % STEP == STEP - 1:
                yield
            try:
                transactional_id, row = transaction_records.read_key(key), transaction_records.read_value(value)
            except SchemaError as error:  # it must not keep all other ids from their transactions
                log.error("[Transaction State Manager]: the record at offset %d can't be read and is skipped: %s", offset, error)
                continue
            self._put(transactional_id, TransactionMetadata(transactional_id, row))
