"""Transactions as their producer sees them (KIP-98, KIP-360, KIP-447).

| state | `send` | what may follow |
|---|---|---|
| NEW | refused | `initialize` |
| READY | refused | `begin` |
| OPEN | goes out once its partition is registered with the coordinator | `end` |
| ENDING | refused | `end` again, when its time was up |
| BROKEN: a record or an offset could not be written | refused | `end` without success: abort |
| FENCED: another producer has taken the transactional id, or something as final | refused | nothing: close |

An abort after something broke asks for the next epoch of our producer id, so that the sequences of all partitions begin anew and nothing of the old epoch that
is still on its way can be written.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/producer/internals/TransactionManager.java.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final, TypeVar

from pykafka_classic.client.client_errors import ClientTimeout, IllegalState
from pykafka_classic.client.cluster_client import ClusterClient
from pykafka_classic.client.coordinator_link import CoordinatorLink
from pykafka_classic.client.group_metadata import GroupMetadata
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.producing.producer_identity import NONE, ProducerIdentity
from pykafka_classic.client.producing.producer_settings import ProducerSettings
from pykafka_classic.common.clock import after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition, by_topic
from pykafka_classic.protocol.api_keys import ApiKey, CoordinatorType
from pykafka_classic.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from pykafka_classic.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnTopic
from pykafka_classic.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from pykafka_classic.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from pykafka_classic.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Message

M = TypeVar("M", bound=Message)

log = logging.getLogger("kafka.clients.producer.TransactionManager")

CONCURRENT_RETRY_MS: Final = 20  # markers of the transaction before are on their way: soon over

_PASSES: Final = frozenset({ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE})
_BREAKS: Final = frozenset(
    {
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.OFFSET_METADATA_TOO_LARGE,
    }
)


class State(Enum):
    """See the module."""

    NEW = auto()
    READY = auto()
    OPEN = auto()
    ENDING = auto()
    BROKEN = auto()
    FENCED = auto()


class ProducerTransactions:
    """See the module.

    `wake`: called when a batch that had to wait may go. `give_up`: fails what has not been sent. Invariant: `_wanted` and `_registered` share nothing.
    """

    def __init__(self, cluster: ClusterClient, settings: ProducerSettings, wake: Callable[[], None], give_up: Callable[[Exception], None]) -> None:
        assert settings.transactional_id is not None
        self.id = settings.transactional_id
        self.identity = ProducerIdentity()
        self.state = State.NEW
        self.error: Exception | None = None  # why it is BROKEN or FENCED
        self._settings = settings
        self._clock = cluster.seams.clock
        self._cluster = cluster
        self._link = CoordinatorLink(cluster, self.id, key_type=CoordinatorType.TRANSACTION)
        self._wake = wake
        self._give_up = give_up
        self._wanted: set[TopicPartition] = set()
        self._registered: set[TopicPartition] = set()
        self._has_offsets = False
        self._registering = False
        self._commit: bool | None = None  # how it is to end, once that was begun
        self._needs_epoch = False  # something broke in this one

    # What the user asks

    async def initialize(self) -> None:
        """Become the producer of the transactional id: whoever was it before is fenced, what it left open is aborted. KafkaError, ClientTimeout."""
        self._expect(State.NEW)
        await self._initialize(self._deadline())
        self.state = State.READY

    def begin(self) -> None:
        """Open a transaction. IllegalState."""
        self._expect(State.READY)
        self.state = State.OPEN

    async def send_offsets(self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: GroupMetadata) -> None:
        """Commit offsets of a group when, and if, this transaction commits. KafkaError: abort. ClientTimeout."""
        self._expect(State.OPEN)
        if not offsets:
            return
        try:
            deadline_ms = self._deadline()
            await self._add_offsets(group.group_id, deadline_ms)
            await self._commit_offsets(offsets, group, deadline_ms)
        except KafkaError as error:
            self.failed(error)
            raise

    async def end(self, *, commit: bool, settled: Callable[[], Promise[None]]) -> None:
        """Commit or abort. `settled`: when no record waits or is on its way. KafkaError, IllegalState; ClientTimeout: ask again."""
        self._expect(State.OPEN, State.ENDING, *(() if commit else (State.BROKEN,)))
        if self._commit is not None and self._commit is not commit:
            raise IllegalState(f"the transaction is being {'committed' if self._commit else 'aborted'} already")
        deadline_ms = self._deadline()
        if not commit:
            self.state, self._commit = State.ENDING, False
            self._give_up(IllegalState("the transaction was aborted before this was sent"))
        await settled()
        if commit:
            self._expect(State.OPEN, State.ENDING)  # a record may have failed meanwhile
            self.state, self._commit = State.ENDING, True
        if self._registered or self._wanted or self._has_offsets:
            await self._end(commit, deadline_ms)
        if self._needs_epoch:
            await self._initialize(deadline_ms)
        self._registered.clear()
        self._wanted.clear()
        self.state, self.error, self._has_offsets, self._commit = State.READY, None, False, None

    # What the sender asks

    def why_not(self) -> Exception | None:
        """Why a record cannot be sent now."""
        if self.state is State.OPEN:
            return None
        if self.error is not None:
            return self.error
        return IllegalState(f"no transaction of {self.id!r} is open: call begin_transaction first")

    def admits(self, partition: TopicPartition) -> bool:
        """Whether the partition belongs to the transaction already; if not, it is registered, and `wake` called."""
        if partition in self._registered:
            return True
        if self.state is State.OPEN:
            self._wanted.add(partition)
            if not self._registering:
                self._registering = True
                # Not at once: partitions of the same moment go together.
                self._clock.call_later(0, lambda: spawn(self._register()).when_settled(self._register_ended))
        return False

    def failed(self, error: Exception) -> None:
        """A batch, or a request of the transaction, has failed for good: it can only be aborted."""
        if self.state in (State.OPEN, State.ENDING, State.BROKEN) and self._commit is not False:
            log.info("Transaction of %s is broken: %s", self.id, error)
            self.state, self.error, self._commit, self._needs_epoch = State.BROKEN, error, None, True
            self._give_up(error)

    # Requests

    async def _initialize(self, deadline_ms: float) -> None:
        producer_id, epoch = self.identity.current

        def build(version: int) -> Message:
            request = InitProducerIdRequest(transactional_id=self.id, transaction_timeout_ms=self._settings.transaction_timeout_ms)
            if version >= 3 and self.identity.current != NONE:
                request.producer_id, request.producer_epoch = producer_id, epoch
            return request

        response = await self._ask(self._link, InitProducerIdResponse, build, lambda answer: answer.error_code, deadline_ms)
        self.identity.current = (response.producer_id, response.producer_epoch)
        self._needs_epoch = False

    async def _register(self) -> None:
        while self._wanted and self.state is State.OPEN:
            some = frozenset(self._wanted)
            topics = [AddPartitionsToTxnTopic(*each) for each in by_topic(some).items()]
            producer_id, epoch = self.identity.current

            def build(_: int, topics: list[AddPartitionsToTxnTopic] = topics, producer_id: int = producer_id, epoch: int = epoch) -> Message:
                return AddPartitionsToTxnRequest(transactional_id=self.id, producer_id=producer_id, producer_epoch=epoch, topics=topics)

            await self._ask(self._link, AddPartitionsToTxnResponse, build, _partition_error, self._deadline())
            self._wanted -= some
            if self.state is State.OPEN:
                self._registered |= some

    def _register_ended(self, outcome: Promise[None]) -> None:
        self._registering = False
        error = outcome.error()
        if isinstance(error, Exception):
            self.failed(error)
        self._wake()

    async def _add_offsets(self, group_id: str, deadline_ms: float) -> None:
        producer_id, epoch = self.identity.current

        def build(_: int) -> Message:
            return AddOffsetsToTxnRequest(transactional_id=self.id, producer_id=producer_id, producer_epoch=epoch, group_id=group_id)

        self._has_offsets = True  # whatever the answer: it may have been carried out
        await self._ask(self._link, AddOffsetsToTxnResponse, build, lambda answer: answer.error_code, deadline_ms)

    async def _commit_offsets(self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: GroupMetadata, deadline_ms: float) -> None:
        producer_id, epoch = self.identity.current

        def build(version: int) -> Message:
            topics = [
                TxnOffsetCommitRequestTopic(topic, [_committed(number, offsets[TopicPartition(topic, number)]) for number in numbers])
                for topic, numbers in by_topic(offsets).items()
            ]
            request = TxnOffsetCommitRequest(transactional_id=self.id, group_id=group.group_id, producer_id=producer_id, producer_epoch=epoch, topics=topics)
            if version >= 3:
                request.generation_id, request.member_id, request.group_instance_id = group.generation_id, group.member_id, group.group_instance_id
            return request

        await self._ask(CoordinatorLink(self._cluster, group.group_id), TxnOffsetCommitResponse, build, _offset_error, deadline_ms)

    async def _end(self, commit: bool, deadline_ms: float) -> None:
        producer_id, epoch = self.identity.current

        def build(_: int) -> Message:
            return EndTxnRequest(transactional_id=self.id, producer_id=producer_id, producer_epoch=epoch, committed=commit)

        try:
            await self._ask(self._link, EndTxnResponse, build, lambda answer: answer.error_code, deadline_ms)
        except KafkaError as error:
            if commit or self.state is State.FENCED:
                self.failed(error)
                raise
            # The coordinator has forgotten us, or ended it by itself: the next epoch is asked for, and refused where we are fenced.
            log.info("The abort of %s was refused: %s", self.id, error)
            self._needs_epoch = True

    async def _ask(self, link: CoordinatorLink, kind: type[M], build: Callable[[int], Message], error_of: Callable[[M], int], deadline_ms: float) -> M:
        """The answer without error, however often it takes. KafkaError: for good, and where it is final the state is FENCED. ClientTimeout."""
        api = ApiKey(kind.API_KEY)
        while True:
            wait_ms = self._settings.retry_backoff_ms
            try:
                response = await link.ask(api, build)
                assert isinstance(response, kind)
                link.check(error_of(response), api.name)
                return response
            except KafkaError as error:
                if not (error.code.retriable or error.code in _PASSES):
                    self._refused(error)
                    raise
                last: Exception = error
                wait_ms = CONCURRENT_RETRY_MS if error.code is ErrorCode.CONCURRENT_TRANSACTIONS else wait_ms
            except Disconnected as error:
                last = error
                self._cluster.update_soon()
            if self._clock.monotonic_ms() + wait_ms > deadline_ms:
                raise ClientTimeout(f"{api.name} of {self.id!r}: no success within {self._settings.max_block_ms} ms; the last error: {last}") from last
            await after(self._clock, wait_ms)

    def _refused(self, error: KafkaError) -> None:
        if error.code not in _BREAKS and self.state is not State.NEW:
            self.state, self.error = State.FENCED, error
            self._give_up(error)

    def _deadline(self) -> float:
        return self._clock.monotonic_ms() + self._settings.max_block_ms

    def _expect(self, *states: State) -> None:
        if self.state in states:
            return
        if self.error is not None:
            raise self.error
        raise IllegalState(f"the transactions of {self.id!r} are in state {self.state.name}: {_ADVICE[self.state]}")


_ADVICE: Final = {
    State.NEW: "call init_transactions first",
    State.READY: "call begin_transaction first; init_transactions is called once",
    State.OPEN: "commit or abort the one that is open first",
    State.ENDING: "commit_transaction or abort_transaction must be called again, as its time was up",
    State.BROKEN: "abort it",
    State.FENCED: "close the producer",
}


def _partition_error(answer: AddPartitionsToTxnResponse) -> int:
    """The error that matters: others say no more than that one failed."""
    codes = [each.error_code for topic in answer.results for each in topic.results if each.error_code]
    return next((code for code in codes if code != ErrorCode.OPERATION_NOT_ATTEMPTED), codes[0] if codes else ErrorCode.NONE)


def _offset_error(answer: TxnOffsetCommitResponse) -> int:
    return next((each.error_code for topic in answer.topics for each in topic.partitions if each.error_code), ErrorCode.NONE)


def _committed(partition: int, offset: OffsetAndMetadata) -> TxnOffsetCommitRequestPartition:
    return TxnOffsetCommitRequestPartition(
        partition_index=partition,
        committed_offset=offset.offset,
        committed_metadata=offset.metadata,
        committed_leader_epoch=offset.leader_epoch,
    )
