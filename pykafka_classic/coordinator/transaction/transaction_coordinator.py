"""What producers ask of the coordinator, and what happens to transactions that nobody ends (facts/coordination.md 6.2).

Mirrors kafka.coordinator.transaction.TransactionCoordinator.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, Final, NamedTuple

from pykafka_classic.common.clock import Clock, after
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, bug_told, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.transaction.marker_channels import MarkerChannels
from pykafka_classic.coordinator.transaction.transaction_metadata import (
    ENDING,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    ProducerFenced,
    Row,
    TransactionMetadata,
    TransactionState,
    new_transaction,
)
from pykafka_classic.coordinator.transaction.transaction_store import Term, TransactionStore

log = logging.getLogger("kafka.coordinator.transaction.TransactionCoordinator")
_log_bug = bug_told(log, "[TransactionCoordinator]: Error due to a bug")

TURN_TRANSACTIONS: Final = 5_000  # looked at in one turn of the reactor


class Producer(NamedTuple):
    """Who a producer is, or says that it is."""

    id: int
    epoch: int


class Initialized(NamedTuple):
    """The answer to InitProducerId; -1 and -1 with an error."""

    error: ErrorCode
    producer: Producer = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


class Refused(Exception):
    """A request that is not carried out."""

    def __init__(self, error: ErrorCode) -> None:
        super().__init__(error.name)
        self.error = error


class TransactionCoordinator:
    """See the module. `generate`: a new producer id."""

    def __init__(self, config: KafkaConfig, clock: Clock, store: TransactionStore, markers: MarkerChannels, generate: Callable[[], Awaitable[int]]) -> None:
        self._clock = clock
        self._store = store
        self._markers = markers
        self._generate = generate
        self._max_timeout_ms = config.transaction_max_timeout_ms
        self._abort_interval_ms = config.transaction_abort_timed_out_transaction_cleanup_interval_ms
        self._forget_interval_ms = config.transaction_remove_expired_transaction_cleanup_interval_ms
        self._expiration_ms = config.transactional_id_expiration_ms
        self._request_timeout_ms = config.request_timeout_ms
        store.on_loaded = self._go_on

    # InitProducerId

    async def init_producer_id(self, transactional_id: str, timeout_ms: int, expected: Producer | None) -> Initialized:
        """The producer of a transactional id from now on: whoever was it before is fenced.

        `expected` (KIP-360): who asks has been that producer, and is refused with PRODUCER_FENCED where another one has taken its place.
        """
        if not transactional_id:
            return Initialized(ErrorCode.INVALID_REQUEST)
        if not 0 < timeout_ms <= self._max_timeout_ms:
            return Initialized(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        try:
            term = self._term(transactional_id)
            transaction = await self._get_or_create(term, transactional_id, timeout_ms)
            fresh_id = await self._generate() if transaction.is_epoch_exhausted else NO_PRODUCER_ID
            row = self._prepare_producer(transaction, timeout_ms, expected, fresh_id)
        except Refused as refused:
            return Initialized(refused.error)
        if row.state is TransactionState.PREPARE_EPOCH_FENCE:
            error = await self._end(transactional_id, Producer(row.producer_id, row.producer_epoch), commit=False, from_client=False)
            return Initialized(error or ErrorCode.CONCURRENT_TRANSACTIONS)
        error = await self._store.append(term, transaction, row)
        if error:
            return Initialized(error)
        log.info(
            "[TransactionCoordinator]: Initialized transactionalId %s with producerId %d and epoch %d", transactional_id, row.producer_id, row.producer_epoch
        )
        return Initialized(ErrorCode.NONE, Producer(row.producer_id, row.producer_epoch))

    async def _get_or_create(self, term: Term, transactional_id: str, timeout_ms: int) -> TransactionMetadata:
        transaction = term.transactions.get(transactional_id)
        if transaction is None:
            fresh = new_transaction(transactional_id, await self._generate(), timeout_ms, self._clock.now_ms())
            if not self._store.is_current(transactional_id, term):
                raise Refused(ErrorCode.NOT_COORDINATOR)
            transaction = term.transactions.setdefault(transactional_id, fresh)
        return transaction

    def _prepare_producer(self, transaction: TransactionMetadata, timeout_ms: int, expected: Producer | None, fresh_id: int) -> Row:
        if transaction.pending is not None or transaction.state in ENDING:
            raise Refused(ErrorCode.CONCURRENT_TRANSACTIONS)
        if expected is not None and not transaction.knows(*expected):
            raise Refused(ErrorCode.PRODUCER_FENCED)
        if transaction.state is TransactionState.ONGOING:
            return transaction.prepare_fence()
        now_ms = self._clock.now_ms()
        if transaction.is_epoch_exhausted:
            if expected is not None and expected.epoch != transaction.row.producer_epoch:
                raise Refused(ErrorCode.PRODUCER_FENCED)
            return transaction.prepare_new_producer_id(fresh_id, timeout_ms, now_ms, keep_last_epoch=expected is not None)
        try:
            return transaction.prepare_new_epoch(timeout_ms, None if expected is None else expected.epoch, now_ms)
        except ProducerFenced:
            raise Refused(ErrorCode.PRODUCER_FENCED) from None

    # AddPartitionsToTxn, AddOffsetsToTxn

    async def add_partitions(self, transactional_id: str, producer: Producer, partitions: frozenset[TopicPartition]) -> ErrorCode:
        """Partitions that the transaction is going to write to. NONE once that is stored."""
        try:
            term, transaction = self._of_producer(transactional_id, producer)
            if transaction.pending is not None or transaction.state in ENDING:
                raise Refused(ErrorCode.CONCURRENT_TRANSACTIONS)
        except Refused as refused:
            return refused.error
        if transaction.state is TransactionState.ONGOING and partitions <= transaction.row.partitions:
            return ErrorCode.NONE
        return await self._store.append(term, transaction, transaction.prepare_partitions(partitions, self._clock.now_ms()))

    # EndTxn

    async def end(self, transactional_id: str, producer: Producer, *, commit: bool) -> ErrorCode:
        """Commit or abort. NONE once the outcome is stored: the markers follow."""
        return await self._end(transactional_id, producer, commit=commit, from_client=True)

    async def _end(self, transactional_id: str, producer: Producer, *, commit: bool, from_client: bool) -> ErrorCode:
        try:
            term, transaction = self._of_producer(transactional_id, producer, any_later_epoch=not from_client)
            if self._is_ended(transaction, commit=commit):
                return ErrorCode.NONE
        except Refused as refused:
            return refused.error
        is_fence = transaction.pending is TransactionState.PREPARE_EPOCH_FENCE
        if is_fence:
            transaction.take_fence(producer.epoch)
        row = transaction.prepare_end(commit=commit, now_ms=self._clock.now_ms())
        error = await self._store.append(term, transaction, row)
        if error:
            transaction.has_failed_epoch_fence = transaction.has_failed_epoch_fence or is_fence
            return error
        self._complete(term, transaction)
        return ErrorCode.NONE

    def _is_ended(self, transaction: TransactionMetadata, *, commit: bool) -> bool:
        """True where it has ended so already: the answer was lost. False where it is to be ended. Raises Refused."""
        if transaction.pending not in (None, TransactionState.PREPARE_EPOCH_FENCE):
            raise Refused(ErrorCode.CONCURRENT_TRANSACTIONS)
        state = transaction.state
        if state is TransactionState.ONGOING:
            return False
        if state is (TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT):
            return True
        if state is (TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT):
            raise Refused(ErrorCode.CONCURRENT_TRANSACTIONS)
        log.warning("[TransactionCoordinator]: %s cannot %s in state %s", transaction.transactional_id, "commit" if commit else "abort", state.name)
        raise Refused(ErrorCode.INVALID_TXN_STATE)

    def _complete(self, term: Term, transaction: TransactionMetadata) -> None:
        commit = transaction.state is TransactionState.PREPARE_COMMIT
        self._markers.end(term, transaction, transaction.prepare_complete(self._clock.now_ms()), commit=commit)

    def _go_on(self, _: int, term: Term) -> None:
        """This broker leads a partition: what its transactions decided under another leader must still be told."""
        for transaction in list(term.transactions.values()):
            if transaction.state in ENDING:
                self._complete(term, transaction)

    # whose transaction is it

    def _term(self, transactional_id: str) -> Term:
        error = self._store.why_not_ours(transactional_id)
        if error:
            raise Refused(error)
        return self._store.term(transactional_id)

    def _of_producer(self, transactional_id: str, producer: Producer, *, any_later_epoch: bool = False) -> tuple[Term, TransactionMetadata]:
        if not transactional_id:
            raise Refused(ErrorCode.INVALID_REQUEST)
        term = self._term(transactional_id)
        transaction = term.transactions.get(transactional_id)
        if transaction is None or transaction.row.producer_id != producer.id:
            raise Refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        epoch = transaction.row.producer_epoch
        if producer.epoch < epoch or (producer.epoch > epoch and not any_later_epoch):
            raise Refused(ErrorCode.PRODUCER_FENCED)
        return term, transaction

    # transactions that nobody ends, ids that nobody uses

    def start(self) -> None:
        """Begin to look, for as long as the store is active."""
        self._every(self._abort_interval_ms, self._abort_timed_out)
        self._every(self._forget_interval_ms, self._forget_unused)

    def _every(self, interval_ms: int, look: Callable[[], Coroutine[Any, Any, None]]) -> None:
        def now() -> None:
            if self._store.active:
                spawn(look()).when_settled(looked)

        def looked(outcome: Promise[None]) -> None:
            _log_bug(outcome)
            self._clock.call_later(interval_ms, now)

        self._clock.call_later(interval_ms, now)

    async def _abort_timed_out(self) -> None:
        for number, (term, transaction) in enumerate(self._transactions()):
            if number % TURN_TRANSACTIONS == TURN_TRANSACTIONS - 1:
                await after(self._clock, 0)
            if self._is_timed_out(transaction) and self._store.is_current(transaction.transactional_id, term):
                spawn(self._roll_back(transaction)).when_settled(_log_bug)

    async def _roll_back(self, transaction: TransactionMetadata) -> None:
        transactional_id, row = transaction.transactional_id, transaction.prepare_fence()
        error = await self._end(transactional_id, Producer(row.producer_id, row.producer_epoch), commit=False, from_client=False)
        if error:
            log.warning(
                "[TransactionCoordinator]: Rollback of ongoing transaction for transactionalId %s due to timeout failed: %s", transactional_id, error.name
            )
        else:
            log.info("[TransactionCoordinator]: Completed rollback of ongoing transaction for transactionalId %s due to timeout", transactional_id)

    def _transactions(self) -> Iterator[tuple[Term, TransactionMetadata]]:
        for term in self._store.terms():
            for transaction in list(term.transactions.values()):
                yield term, transaction

    def _is_timed_out(self, transaction: TransactionMetadata) -> bool:
        row = transaction.row
        return transaction.pending is None and row.state is TransactionState.ONGOING and row.start_ms + row.timeout_ms < self._clock.now_ms()

    async def _forget_unused(self) -> None:
        self._store.forget_unused(expiration_ms=self._expiration_ms, timeout_ms=self._request_timeout_ms)
