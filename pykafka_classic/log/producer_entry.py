"""What one producer id has written to one partition, and what it may write next.

An idempotent producer numbers its batches. The partition keeps the last five (as many as a producer may have in flight), so that one sent again is recognised
and answered with its old offset, and one out of order is refused. A transactional producer has at most one open transaction here, from its first batch to its
marker.

`ProducerAppendInfo` is one append in the making: it checks and collects, and only when the bytes are in the log does `ProducerStateManager.update` make it
count.

Source: facts/storage.md 6; ProducerStateManager.scala (ProducerStateEntry, ProducerAppendInfo).
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.batch_header import BatchHeader

BATCHES_RETAINED: Final = 5
SEQUENCE_MAX: Final = 0x7FFFFFFF
NONE: Final = -1  # no epoch, no sequence, no timestamp, no offset

log = logging.getLogger("kafka.log.ProducerStateManager")


class BatchMetadata(NamedTuple):
    """One batch that was appended: sequence number and offset of its last record, offset of the last minus the first, largest timestamp."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @staticmethod
    def of(header: BatchHeader) -> BatchMetadata:
        """What is kept of a batch of records."""
        return BatchMetadata(header.last_sequence, header.last_offset, header.last_offset - header.base_offset, header.max_timestamp)

    @property
    def first_sequence(self) -> int:
        """Sequence number of its first record; before 0 comes 2147483647."""
        return (self.last_sequence - self.offset_delta) & SEQUENCE_MAX if self.last_sequence >= 0 else self.last_sequence - self.offset_delta

    @property
    def first_offset(self) -> int:
        """Offset of its first record."""
        return self.last_offset - self.offset_delta


class CompletedTransaction(NamedTuple):
    """A transaction that a marker has just ended: its first record, its marker, and how it ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class TransactionMarker(NamedTuple):
    """What a marker says: commit or abort, by which generation of the transaction coordinator, when."""

    aborted: bool
    coordinator_epoch: int
    timestamp: int


def _batches() -> deque[BatchMetadata]:
    return deque(maxlen=BATCHES_RETAINED)


@dataclass(slots=True)
class ProducerStateEntry:
    """The state of one producer id. `batches` belong to `producer_epoch`: a new epoch starts without any."""

    producer_id: int
    producer_epoch: int = NONE
    coordinator_epoch: int = NONE
    last_timestamp: int = NONE
    first_offset_of_transaction: int | None = None  # of the open transaction
    batches: deque[BatchMetadata] = field(default_factory=_batches)

    @property
    def last_sequence(self) -> int:
        """Of the last batch; -1 without one."""
        return self.batches[-1].last_sequence if self.batches else NONE

    @property
    def last_offset(self) -> int:
        """Of the last batch; -1 without one."""
        return self.batches[-1].last_offset if self.batches else NONE

    def find_duplicate(self, header: BatchHeader) -> BatchMetadata | None:
        """The retained batch with the same epoch and sequence numbers: this one was sent twice."""
        if header.producer_epoch == self.producer_epoch:
            last_sequence = header.last_sequence
            for batch in self.batches:
                if batch.last_sequence == last_sequence and batch.first_sequence == header.base_sequence:
                    return batch
        return None

    def enter_epoch(self, producer_epoch: int) -> None:
        """Batches of another epoch do not matter any more."""
        if producer_epoch != self.producer_epoch:
            self.batches.clear()
            self.producer_epoch = producer_epoch

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        """True for an idle producer without an open transaction."""
        return self.first_offset_of_transaction is None and now_ms - self.last_timestamp >= expiration_ms


class ProducerAppendInfo:
    """The changes that one append would make to one producer's state. Discarded where a check fails."""

    __slots__ = ("_current", "_origin", "_where", "entry", "started_transactions")

    def __init__(self, current: ProducerStateEntry, origin: AppendOrigin, where: str) -> None:
        self._current = current
        self._origin = origin
        self._where = where  # the partition, for messages
        self.entry = ProducerStateEntry(
            current.producer_id, current.producer_epoch, current.coordinator_epoch, current.last_timestamp, current.first_offset_of_transaction
        )
        self.started_transactions: list[int] = []  # first offsets

    def append_data(self, header: BatchHeader) -> None:
        """Account for a batch of records. Raises KafkaError: INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE."""
        self._check_epoch(header.producer_epoch, header.base_offset)
        if self._origin is AppendOrigin.CLIENT:
            self._check_sequence(header)
        entry = self.entry
        entry.enter_epoch(header.producer_epoch)
        entry.batches.append(BatchMetadata.of(header))
        entry.last_timestamp = header.max_timestamp
        if entry.first_offset_of_transaction is None:
            if header.is_transactional:
                entry.first_offset_of_transaction = header.base_offset
                self.started_transactions.append(header.base_offset)
        elif not header.is_transactional:
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE, f"Expected transactional write from producer {entry.producer_id} at offset {header.base_offset} in {self._where}"
            )

    def append_marker(self, header: BatchHeader, marker: TransactionMarker) -> CompletedTransaction | None:
        """Account for a marker; the transaction that it ends, where one is open. Raises KafkaError: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED."""
        self._check_epoch(header.producer_epoch, header.base_offset)
        self._check_coordinator_epoch(marker.coordinator_epoch, header.base_offset)
        entry = self.entry
        completed = None
        if entry.first_offset_of_transaction is not None:
            completed = CompletedTransaction(entry.producer_id, entry.first_offset_of_transaction, header.base_offset, marker.aborted)
        entry.enter_epoch(header.producer_epoch)
        entry.first_offset_of_transaction = None
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.last_timestamp = marker.timestamp
        return completed

    def _check_epoch(self, producer_epoch: int, offset: int) -> None:
        if producer_epoch >= self.entry.producer_epoch:
            return
        message = (
            f"Epoch of producer {self.entry.producer_id} at offset {offset} in {self._where} is {producer_epoch}, "
            f"which is smaller than the last seen epoch {self.entry.producer_epoch}"
        )
        if self._origin is not AppendOrigin.REPLICATION:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH, message)
        log.warning("%s", message)  # the leader took it; to refuse it here would stop replication

    def _check_coordinator_epoch(self, coordinator_epoch: int, offset: int) -> None:
        if coordinator_epoch >= self.entry.coordinator_epoch:
            return
        message = (
            f"Invalid coordinator epoch for producerId {self.entry.producer_id} at offset {offset} in partition {self._where}: "
            f"{coordinator_epoch} (zombie), {self.entry.coordinator_epoch} (current)"
        )
        if self._origin is not AppendOrigin.REPLICATION:
            raise KafkaError(ErrorCode.TRANSACTION_COORDINATOR_FENCED, message)
        log.info("%s", message)

    def _check_sequence(self, header: BatchHeader) -> None:
        entry, sequence = self.entry, header.base_sequence
        if header.producer_epoch != entry.producer_epoch:
            if sequence != 0 and entry.producer_epoch != NONE:
                raise KafkaError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"Invalid sequence number for new epoch of producer {entry.producer_id} at offset {header.base_offset} in partition {self._where}: "
                    f"{header.producer_epoch} (request epoch), {sequence} (seq. number), {entry.producer_epoch} (current producer epoch)",
                )
            return
        last = entry if entry.batches else self._current
        last_sequence = last.last_sequence if last.producer_epoch == header.producer_epoch else NONE
        if self._current.producer_epoch != NONE and sequence != last_sequence + 1 and not (sequence == 0 and last_sequence == SEQUENCE_MAX):
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Out of order sequence number for producer {entry.producer_id} at offset {header.base_offset} in partition {self._where}: "
                f"{sequence} (incoming seq. number), {last_sequence} (current end sequence number)",
            )
