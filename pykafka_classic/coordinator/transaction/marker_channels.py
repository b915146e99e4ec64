"""Markers of decided transactions, on their way to the leaders of the partitions (facts/coordination.md 6.2).

Every partition of a transaction gets a marker: whoever leads it is sent WriteTxnMarkers, one request at a time for each broker, with all that waits for it.
What fails and may pass is tried again, at whoever leads then; a partition that is gone needs none. When the last marker is confirmed the transaction's row
becomes Complete.

Nothing ends this but success, a newer coordinator, or the end of this broker's leadership: what was decided must reach every partition.

Mirrors kafka.coordinator.transaction.{TransactionMarkerChannelManager, TransactionMarkerRequestCompletionHandler}.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from pykafka_classic.common.api_version import KAFKA_2_8_IV0
from pykafka_classic.common.clock import Clock, after
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import bug_told, spawn
from pykafka_classic.common.topic_partition import TopicPartition, by_topic
from pykafka_classic.coordinator.transaction.transaction_metadata import Row, TransactionMetadata
from pykafka_classic.coordinator.transaction.transaction_store import Term, TransactionStore
from pykafka_classic.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from pykafka_classic.protocol.network import Channel, Disconnected, Network

log = logging.getLogger("kafka.coordinator.transaction.TransactionMarkerChannelManager")
_log_bug = bug_told(log, "[Transaction Marker Channel Manager]: Error due to a bug")

RETRY_MS: Final = 50

_WRITTEN: Final = frozenset({ErrorCode.NONE, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.UNSUPPORTED_VERSION})  # the last two: never will be
_FENCED: Final = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})


class Address(Protocol):
    """A broker's."""

    @property
    def id(self) -> int:
        """Which broker it is."""
        ...

    @property
    def host(self) -> str:
        """Its host."""
        ...

    @property
    def port(self) -> int:
        """Its port."""
        ...


class Leaders(Protocol):
    """What this broker knows of the cluster's partitions."""

    def exists(self, topic_partition: TopicPartition) -> bool:
        """Whether there is such a partition."""
        ...

    def leader(self, topic_partition: TopicPartition) -> Address | None:
        """Where its leader listens to other brokers; None where there is none at present."""
        ...


class Peers(NamedTuple):
    """The other brokers: who leads what, and how to reach them."""

    leaders: Leaders
    network: Network


@dataclass(eq=False, slots=True)
class Completion:
    """A decided transaction. `row`: what is to be written in the end, prepared."""

    term: Term
    transaction: TransactionMetadata
    row: Row
    commit: bool
    unmarked: set[TopicPartition]


@dataclass(slots=True)
class _Destination:
    """One broker. Invariant: `sending` is True while a request is under way."""

    address: Address
    channel: Channel
    waiting: dict[Completion, set[TopicPartition]] = field(default_factory=dict)
    sending: bool = False


class MarkerChannels:
    """See the module.

    Invariant: a partition in a completion's `unmarked` waits at one destination, is under way, or waits for the next try.
    """

    def __init__(self, config: KafkaConfig, clock: Clock, peers: Peers, store: TransactionStore) -> None:
        self._clock = clock
        self._leaders, self._network = peers
        self._store = store
        self._client_id = f"broker-{config.broker_id}-txn-marker-sender"
        self._version = 1 if config.inter_broker_api_version >= KAFKA_2_8_IV0 else 0
        self._timeout_ms = config.request_timeout_ms
        self._destinations: dict[int, _Destination] = {}
        self._stopped = False

    def end(self, term: Term, transaction: TransactionMetadata, row: Row, *, commit: bool) -> None:
        """Send markers to all partitions of the transaction's row, and then write `row`."""
        completion = Completion(term, transaction, row, commit, set(transaction.row.partitions))
        self._send(completion, list(completion.unmarked))
        self._finish(completion)

    def shutdown(self) -> None:
        """Send nothing more."""
        self._stopped = True
        for destination in self._destinations.values():
            destination.channel.close()
        self._destinations.clear()

    # to whom

    def _is_current(self, completion: Completion) -> bool:
        return not self._stopped and self._store.is_current(completion.transaction.transactional_id, completion.term)

    def _send(self, completion: Completion, partitions: Iterable[TopicPartition]) -> None:
        homeless = []
        for each in partitions:
            if not self._leaders.exists(each):
                log.info("[Transaction Marker Channel Manager]: %s is gone: no marker for %s", each, completion.transaction.transactional_id)
                completion.unmarked.discard(each)
                continue
            address = self._leaders.leader(each)
            if address is None:
                homeless.append(each)
            else:
                self._queue(self._destination(address), completion, each)
        if homeless:
            self._try_again(completion, homeless)

    def _try_again(self, completion: Completion, partitions: Collection[TopicPartition]) -> None:
        def now() -> None:
            if self._is_current(completion):
                self._send(completion, partitions)
                self._finish(completion)

        self._clock.call_later(RETRY_MS, now)

    def _destination(self, address: Address) -> _Destination:
        known = self._destinations.get(address.id)
        if known is not None and (known.address.host, known.address.port) == (address.host, address.port):
            return known
        if known is not None:
            known.channel.close()
        channel = self._network.channel(address.host, address.port, client_id=self._client_id)
        fresh = self._destinations[address.id] = _Destination(address, channel)
        if known is not None:
            fresh.waiting, known.waiting = known.waiting, {}
        return fresh

    def _queue(self, destination: _Destination, completion: Completion, partition: TopicPartition) -> None:
        destination.waiting.setdefault(completion, set()).add(partition)
        if not destination.sending:
            destination.sending = True
            # Not at once: other partitions of this transaction, and other transactions, go along.
            self._clock.call_later(0, lambda: self._start(destination))

    # sending

    def _start(self, destination: _Destination) -> None:
        spawn(self._send_all(destination)).when_settled(_log_bug)

    async def _send_all(self, destination: _Destination) -> None:
        try:
            while destination.waiting and not self._stopped:
                sent, destination.waiting = destination.waiting, {}
                await self._send_one(destination, {each: partitions for each, partitions in sent.items() if self._is_current(each)})
        finally:
            destination.sending = False

    async def _send_one(self, destination: _Destination, sent: Mapping[Completion, set[TopicPartition]]) -> None:
        if not sent:
            return
        request = WriteTxnMarkersRequest(markers=[_marker(completion, partitions) for completion, partitions in sent.items()])
        try:
            response = await destination.channel.send(request, self._version, timeout_ms=self._timeout_ms)
        except Disconnected as error:
            if not self._stopped:
                log.info("[Transaction Marker Channel Manager]: Lost broker %d: %s", destination.address.id, error)
            for completion, partitions in sent.items():
                self._try_again(completion, partitions)
            await after(self._clock, RETRY_MS)
            return
        assert isinstance(response, WriteTxnMarkersResponse)
        answers = {
            (marker.producer_id, TopicPartition(topic.name, partition.partition_index)): ErrorCode(partition.error_code)
            for marker in response.markers
            for topic in marker.topics
            for partition in topic.partitions
        }
        for completion, partitions in sent.items():
            producer_id = completion.transaction.row.producer_id
            # What the answer does not name is asked again.
            self._answered(completion, {each: answers.get((producer_id, each), ErrorCode.REQUEST_TIMED_OUT) for each in partitions})

    def _answered(self, completion: Completion, errors: Mapping[TopicPartition, ErrorCode]) -> None:
        if not self._is_current(completion):
            return
        fenced = sorted(each for each, error in errors.items() if error in _FENCED)
        if fenced:
            log.info(
                "[Transaction Marker Channel Manager]: %s's markers are not sent any more: %s has seen a newer epoch of its producer or its coordinator",
                completion.transaction.transactional_id,
                ", ".join(map(str, fenced)),
            )
            return
        completion.unmarked.difference_update(each for each, error in errors.items() if error in _WRITTEN)
        again = [each for each, error in errors.items() if error not in _WRITTEN]
        if again:
            self._try_again(completion, again)
        self._finish(completion)

    # the end

    def _finish(self, completion: Completion) -> None:
        if not completion.unmarked and self._is_current(completion):
            spawn(self._complete(completion)).when_settled(_log_bug)

    async def _complete(self, completion: Completion) -> None:
        unavailable = ErrorCode.COORDINATOR_NOT_AVAILABLE
        while self._is_current(completion):
            error = await self._store.append(completion.term, completion.transaction, completion.row, keep_pending_on=(unavailable,))
            if error is not unavailable:
                return
            await after(self._clock, RETRY_MS)


def _marker(completion: Completion, partitions: Iterable[TopicPartition]) -> WritableTxnMarker:
    row = completion.transaction.row
    return WritableTxnMarker(
        producer_id=row.producer_id,
        producer_epoch=row.producer_epoch,
        transaction_result=completion.commit,
        topics=[WritableTxnMarkerTopic(name=name, partition_indexes=indexes) for name, indexes in by_topic(partitions).items()],
        coordinator_epoch=completion.term.epoch,
    )
