"""Transactions met while a log is compacted from its start: which batches were aborted, which markers are still needed.

Records of an aborted transaction go at once. Its marker, and a committed transaction's, stay while there are records of it left in the log: a reader that began
before the cleaning may be in their midst. Kept abort markers are indexed anew in the cleaned segment.

Source: facts/storage.md 11; LogCleaner.scala (CleanedTransactionMetadata).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from pykafka_classic.log.batch_header import BatchHeader
from pykafka_classic.log.control_marker import read_marker
from pykafka_classic.log.transaction_index import AbortedTransaction, TransactionIndex


class CleanedTransactions:
    """Fed with every batch of a log in order, and with its aborted transactions before the batches that they hold."""

    def __init__(self, aborted: Iterable[AbortedTransaction] = ()) -> None:
        self._upcoming: list[tuple[int, AbortedTransaction]] = []  # by first offset
        self._aborted: dict[int, AbortedTransaction] = {}  # open ones, by producer
        self._aborted_with_data: set[int] = set()  # producers whose open aborted transaction had a batch here
        self._committed: set[int] = set()  # producers with an open transaction that will be committed
        self.index: TransactionIndex | None = None  # of the segment being written
        self.add(aborted)

    def add(self, aborted: Iterable[AbortedTransaction]) -> None:
        """These transactions are going to be met."""
        for transaction in aborted:
            heapq.heappush(self._upcoming, (transaction.first_offset, transaction))

    def is_aborted(self, header: BatchHeader) -> bool:
        """Account for a batch of records; True where it was aborted."""
        self._begin_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        if header.producer_id in self._aborted:
            self._aborted_with_data.add(header.producer_id)
            return True
        self._committed.add(header.producer_id)
        return False

    def is_marker_obsolete(self, header: BatchHeader, batch: memoryview) -> bool:
        """Account for a control batch; True where nothing of its transaction is left in the log."""
        self._begin_up_to(header.last_offset)
        marker = read_marker(batch)
        if marker is None:
            return True
        producer_id = header.producer_id
        if not marker.aborted:
            had_data = producer_id in self._committed
            self._committed.discard(producer_id)
            return not had_data
        transaction = self._aborted.pop(producer_id, None)
        if transaction is None or producer_id not in self._aborted_with_data:
            return True
        self._aborted_with_data.discard(producer_id)
        if self.index is not None:
            self.index.append(transaction)
        return False

    def _begin_up_to(self, offset: int) -> None:
        while self._upcoming and self._upcoming[0][0] <= offset:
            _, transaction = heapq.heappop(self._upcoming)
            self._aborted.setdefault(transaction.producer_id, transaction)
