"""One transactional id: its producer, the state of its transaction, and the steps between states (facts/coordination.md 6.1).

A step has two halves. `prepare_...` says what the row will be and marks the step as pending; `complete` takes it over once the row is replicated, `give_up`
forgets it. While a step is pending no other may begin: who asks meanwhile meets CONCURRENT_TRANSACTIONS.

Mirrors kafka.coordinator.transaction.{TransactionState, TransactionMetadata, TxnTransitMetadata}.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition

NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
LAST_EPOCH: Final = 32766  # of a producer id; the one behind it only fences
NO_START: Final = -1


class TransactionState(IntEnum):
    """Values as they are stored. PREPARE_EPOCH_FENCE never is."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7


S = TransactionState

VALID_PREVIOUS: Final = {
    S.EMPTY: {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
    S.ONGOING: {S.ONGOING, S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
    S.PREPARE_COMMIT: {S.ONGOING},
    S.PREPARE_ABORT: {S.ONGOING, S.PREPARE_EPOCH_FENCE},
    S.COMPLETE_COMMIT: {S.PREPARE_COMMIT},
    S.COMPLETE_ABORT: {S.PREPARE_ABORT},
    S.DEAD: {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
    S.PREPARE_EPOCH_FENCE: {S.ONGOING},
}

AT_REST: Final = frozenset({S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT})  # no transaction is open
ENDING: Final = frozenset({S.PREPARE_COMMIT, S.PREPARE_ABORT})  # decided, markers on their way


@dataclass(frozen=True, slots=True)
class Row:
    """What is stored of a transactional id. Times in ms since the epoch."""

    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: frozenset[TopicPartition]
    start_ms: int  # of the transaction; NO_START before the first
    update_ms: int
    last_producer_epoch: int = NO_PRODUCER_EPOCH  # not stored: the epoch before, which a producer may ask for again when the answer was lost


class ProducerFenced(Exception):
    """A producer that is not the newest of its transactional id."""


class TransactionMetadata:
    """See the module. Invariant: `pending` is the state of the only step that is under way, None where there is none."""

    def __init__(self, transactional_id: str, row: Row) -> None:
        self.transactional_id = transactional_id
        self.row = row
        self.last_producer_id = NO_PRODUCER_ID
        self.pending: TransactionState | None = None
        self.has_failed_epoch_fence = False  # an epoch was raised for fencing, and then not stored
        self.unmarked: set[TopicPartition] = set()  # partitions of a decided transaction whose marker is not yet confirmed

    @property
    def state(self) -> TransactionState:
        """Of the transaction, as stored."""
        return self.row.state

    @property
    def is_epoch_exhausted(self) -> bool:
        """The next producer needs a new producer id."""
        return is_epoch_exhausted(self.row.producer_epoch)

    def knows(self, producer_id: int, epoch: int) -> bool:
        """KIP-360: whether a producer that says who it was may have been that: the present one, or the last of an exhausted producer id."""
        if self.row.producer_epoch == NO_PRODUCER_EPOCH or producer_id == self.row.producer_id:
            return True
        return producer_id == self.last_producer_id and is_epoch_exhausted(epoch)

    # steps: what the row will be

    def prepare_new_epoch(self, timeout_ms: int, expected_epoch: int | None, now_ms: int) -> Row:
        """For a producer that begins. With an expected epoch (KIP-360) only for the present one, or again for the one before it. Raises ProducerFenced."""
        row = self.row
        epoch, last = row.producer_epoch + 1, NO_PRODUCER_EPOCH
        if expected_epoch is not None:
            if row.producer_epoch in (NO_PRODUCER_EPOCH, expected_epoch):
                last = row.producer_epoch
            elif expected_epoch == row.last_producer_epoch:
                epoch, last = row.producer_epoch, row.last_producer_epoch
            else:
                raise ProducerFenced
        return self._prepare(self._at_rest(timeout_ms, now_ms, row.producer_id, epoch, last))

    def prepare_new_producer_id(self, producer_id: int, timeout_ms: int, now_ms: int, *, keep_last_epoch: bool) -> Row:
        """For a producer that begins when the epochs of the old id are used up."""
        last = self.row.producer_epoch if keep_last_epoch else NO_PRODUCER_EPOCH
        return self._prepare(self._at_rest(timeout_ms, now_ms, producer_id, 0, last))

    def prepare_fence(self) -> Row:
        """Before the abort of a transaction that its producer does not end: an epoch that nobody has."""
        epoch = self.row.producer_epoch if self.has_failed_epoch_fence else self.row.producer_epoch + 1
        return self._prepare(replace(self.row, state=S.PREPARE_EPOCH_FENCE, producer_epoch=epoch, last_producer_epoch=NO_PRODUCER_EPOCH))

    def take_fence(self, producer_epoch: int) -> None:
        """The epoch of `prepare_fence` counts; the abort may be prepared."""
        self.pending = None
        self.row = replace(self.row, producer_epoch=producer_epoch, last_producer_epoch=NO_PRODUCER_EPOCH)

    def prepare_partitions(self, partitions: frozenset[TopicPartition], now_ms: int) -> Row:
        """More partitions; the first begin the transaction."""
        start_ms = now_ms if self.state in AT_REST else self.row.start_ms
        return self._prepare(replace(self.row, state=S.ONGOING, partitions=self.row.partitions | partitions, start_ms=start_ms, update_ms=now_ms))

    def prepare_end(self, *, commit: bool, now_ms: int) -> Row:
        """The outcome."""
        return self._prepare(replace(self.row, state=S.PREPARE_COMMIT if commit else S.PREPARE_ABORT, update_ms=now_ms))

    def prepare_complete(self, now_ms: int) -> Row:
        """All markers are written."""
        state = S.COMPLETE_COMMIT if self.state is S.PREPARE_COMMIT else S.COMPLETE_ABORT
        self.has_failed_epoch_fence = False
        return self._prepare(replace(self.row, state=state, partitions=frozenset(), update_ms=now_ms))

    def prepare_dead(self) -> Row:
        """Nobody has used the id for long."""
        return self._prepare(replace(self.row, state=S.DEAD, partitions=frozenset()))

    # steps: their end

    def complete(self, row: Row) -> None:
        """The row is replicated."""
        assert self.pending is row.state, f"{self.transactional_id}: {row.state.name} completed while {self.pending} was pending"
        if row.producer_id != self.row.producer_id:
            self.last_producer_id = self.row.producer_id
        self.row, self.pending = row, None

    def give_up(self) -> None:
        """The row was not written."""
        self.pending = None

    def _prepare(self, row: Row) -> Row:
        assert self.pending is None, f"{self.transactional_id}: {row.state.name} prepared while {self.pending} was pending"
        assert self.state in VALID_PREVIOUS[row.state], f"{self.transactional_id}: no way from {self.state.name} to {row.state.name}"
        self.pending = row.state
        return row

    @staticmethod
    def _at_rest(timeout_ms: int, now_ms: int, producer_id: int, epoch: int, last_epoch: int) -> Row:
        return Row(producer_id, epoch, timeout_ms, S.EMPTY, frozenset(), NO_START, now_ms, last_epoch)


def is_epoch_exhausted(epoch: int) -> bool:
    """No producer may have the epoch behind this one."""
    return epoch >= LAST_EPOCH


def new_transaction(transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int) -> TransactionMetadata:
    """A transactional id that nobody has used."""
    return TransactionMetadata(transactional_id, Row(producer_id, NO_PRODUCER_EPOCH, timeout_ms, S.EMPTY, frozenset(), NO_START, now_ms))
