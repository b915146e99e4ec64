"""Which transactional ids are ours, and how their rows are written to `__transaction_state`.

A broker coordinates the ids whose partition of the topic it leads: partition = abs(javaHash(id)) mod count. The epoch of that leadership goes with every
marker, so that partitions can tell an old coordinator from a new one (facts/coordination.md 6.1).

Mirrors kafka.coordinator.transaction.TransactionStateManager.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from pykafka_classic.common.clock import Clock
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.coordinator.internal_topic import Appended, InternalTopic, partition_for
from pykafka_classic.coordinator.transaction import transaction_records
from pykafka_classic.coordinator.transaction.loading import TransactionReading
from pykafka_classic.coordinator.transaction.transaction_metadata import AT_REST, Row, TransactionMetadata, TransactionState
from pykafka_classic.records.record_batch import Record, build_batch

log = logging.getLogger("kafka.coordinator.transaction.TransactionStateManager")

ALL_IN_SYNC_REPLICAS: Final = -1

_ERRORS: Final[Mapping[ErrorCode, ErrorCode]] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


@dataclass(slots=True)
class Term:
    """One leadership of a partition: its epoch, and the transactional ids that hash to it."""

    epoch: int
    transactions: dict[str, TransactionMetadata] = field(default_factory=dict)


def _nothing(partition: int, term: Term) -> None:
    """Until the coordinator is there, nobody cares."""


class TransactionStore:
    """The transactional ids of the partitions that this broker leads.

    Invariants: a partition is never both loading and owned; `_terms` has an entry for each partition that is owned, and for no other. A `Term` that is not in
    `_terms` any more has ended: what was begun under it counts no more.
    """

    def __init__(self, clock: Clock, topic: InternalTopic) -> None:
        self.active = False  # True between start and shutdown of the broker
        self.on_loaded: Callable[[int, Term], None] = _nothing
        self.owned: set[int] = set()
        self.loading: set[int] = set()
        self._clock = clock
        self._topic = topic
        self._terms: dict[int, Term] = {}
        self._read: dict[int, dict[str, TransactionMetadata]] = {}  # by partition that is loading

    # whose transactional id is it

    def partition_for(self, transactional_id: str) -> int:
        """The partition of `__transaction_state` that keeps the id's row."""
        return partition_for(self._topic, transactional_id)

    def why_not_ours(self, transactional_id: str) -> ErrorCode:
        """NONE where this broker may answer for the id."""
        if not self.active:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        partition = self.partition_for(transactional_id)
        if partition in self.loading:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return ErrorCode.NONE if partition in self.owned else ErrorCode.NOT_COORDINATOR

    def term(self, transactional_id: str) -> Term:
        """The present leadership of an id that is ours."""
        return self._terms[self.partition_for(transactional_id)]

    def is_current(self, transactional_id: str, term: Term) -> bool:
        """Whether this leadership goes on."""
        return self._terms.get(self.partition_for(transactional_id)) is term

    def terms(self) -> Iterator[Term]:
        """All leaderships; safe against changes while iterating."""
        return iter(list(self._terms.values()))

    # loading and unloading

    def begin_loading(self, partition: int) -> TransactionReading:
        """Answer that the partition's ids are loading; forget what an earlier term knew of them."""
        self.unload(partition)
        self.loading.add(partition)
        read = self._read[partition] = {}
        return TransactionReading(read.__setitem__)

    def finish_loading(self, partition: int, leader_epoch: int) -> None:
        """The partition's rows are here: answer for them, and go on with the transactions that were decided."""
        self.loading.discard(partition)
        self.owned.add(partition)
        term = self._terms[partition] = Term(leader_epoch, self._read.pop(partition))
        self.on_loaded(partition, term)

    def unload(self, partition: int) -> None:
        """Forget a partition."""
        self.owned.discard(partition)
        self.loading.discard(partition)
        self._read.pop(partition, None)
        self._terms.pop(partition, None)

    # writing

    def append(self, term: Term, transaction: TransactionMetadata, row: Row, *, keep_pending_on: Iterable[ErrorCode] = ()) -> Promise[ErrorCode]:
        """Write a prepared row and complete the step, or give it up; an error as requests answer it."""
        transactional_id = transaction.transactional_id
        if not self.is_current(transactional_id, term):
            return Promise.resolved(ErrorCode.NOT_COORDINATOR)

        def done(outcome: Appended) -> ErrorCode:
            error = _ERRORS.get(outcome.error, outcome.error)
            if not self.is_current(transactional_id, term):
                return error or ErrorCode.NOT_COORDINATOR
            if not error:
                transaction.complete(row)
            elif error not in keep_pending_on:
                log.info("[Transaction State Manager]: %s's step to %s was not written: %s", transactional_id, row.state.name, outcome.error.name)
                transaction.give_up()
            return error

        batch = self._batch([(transaction_records.key(transactional_id), transaction_records.value(row))])
        return self._append(transactional_id, batch, row.timeout_ms).then(done)

    def _append(self, transactional_id: str, batch: bytes, timeout_ms: int) -> Promise[Appended]:
        return self._topic.append(self.partition_for(transactional_id), batch, required_acks=ALL_IN_SYNC_REPLICAS, timeout_ms=timeout_ms)

    def _batch(self, records: Iterable[tuple[bytes, bytes | None]]) -> bytes:
        now_ms = self._clock.now_ms()
        return build_batch([Record(offset=index, timestamp=now_ms, key=key, value=value) for index, (key, value) in enumerate(records)])

    # forgetting

    def forget_unused(self, *, expiration_ms: int, timeout_ms: int) -> None:
        """Write tombstones for the ids that nobody has used for so long, and then forget them."""
        oldest_ms = self._clock.now_ms() - expiration_ms
        for partition, term in list(self._terms.items()):
            unused = [each for each in term.transactions.values() if each.pending is None and each.state in AT_REST and each.row.update_ms <= oldest_ms]
            if unused:
                self._forget(partition, term, unused, timeout_ms)

    def _forget(self, partition: int, term: Term, unused: list[TransactionMetadata], timeout_ms: int) -> None:
        for transaction in unused:
            transaction.prepare_dead()

        def done(outcome: Appended) -> None:
            for transaction in unused:
                if outcome.error:
                    transaction.give_up()
                elif transaction.pending is TransactionState.DEAD:
                    term.transactions.pop(transaction.transactional_id, None)
            if outcome.error:
                log.warning("[Transaction State Manager]: tombstones of %d transactional ids were not written: %s", len(unused), outcome.error.name)

        batch = self._batch([(transaction_records.key(each.transactional_id), None) for each in unused])
        self._topic.append(partition, batch, required_acks=ALL_IN_SYNC_REPLICAS, timeout_ms=timeout_ms).then(done)
