"""Idempotence: a producer id and epoch from a broker, and for each partition the sequence number of the next record.

A leader appends a batch only if its sequence follows the last one, and knows the last five again: so a batch may be sent twice and stands in the log once.
When a batch is lost for good, the sequence has a gap that the leader will never accept. Then the partition begins a new epoch at sequence 0:

| what happened | what follows |
|---|---|
| a batch was refused for good | gap: when nothing is in flight, a new epoch; what waits to be sent again is numbered anew (none of it was written) |
| UNKNOWN_PRODUCER_ID: retention took the last record, and with it the leader's memory | the same |
| OUT_OF_ORDER_SEQUENCE_NUMBER, of the oldest batch on its way | the same |
| ... of another | it is sent again, behind the one before it |
| a batch timed out that may have been written | unresolved: the batches behind it go out as numbered; success shows that it was written |

The epoch is raised without asking a broker, as leaders accept any higher one from sequence 0 on; after 32,767 a new id is asked for. Other partitions go over
to the new epoch when nothing of theirs is on its way. The first batch of an epoch goes alone.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/producer/internals/TransactionManager.java (canRetry, bumpIdempotentProducerEpoch).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, TypeAlias

from pykafka_classic.client.cluster_client import ClusterClient
from pykafka_classic.client.producing.delivery import Batch
from pykafka_classic.common.clock import after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import spawn
from pykafka_classic.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.records.layout import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, add_to_sequence

log = logging.getLogger("kafka.clients.producer.Sender")

ProducerId: TypeAlias = tuple[int, int]  # id, epoch

NONE: Final = (NO_PRODUCER_ID, NO_PRODUCER_EPOCH)
EPOCH_MAX: Final = 32_767 - 1  # 32,767 itself is what a broker fences with


class ProducerIdentity:
    """The id and epoch that new batches get; NONE where a broker has to be asked first."""

    def __init__(self) -> None:
        self.current: ProducerId = NONE

    def raise_above(self, old: ProducerId) -> None:
        """A partition needs an epoch above this one."""
        if old == self.current and old != NONE:
            producer_id, epoch = old
            self.current = NONE if epoch >= EPOCH_MAX else (producer_id, epoch + 1)


async def ask_producer_id(cluster: ClusterClient, pause_ms: float, still_wanted: Callable[[], bool]) -> ProducerId | None:
    """A new producer id, of any broker, however often that takes; None where it is not wanted any more. KafkaError: there will be none."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=2**31 - 1)
    while True:
        try:
            response = await cluster.ask_any(lambda node: spawn(node.send(request)))
            assert isinstance(response, InitProducerIdResponse)
            if response.error_code == ErrorCode.NONE:
                return response.producer_id, response.producer_epoch
            code = ErrorCode(response.error_code)
            if not code.retriable:
                raise KafkaError(code, f"no producer id: {code.message}")
        except Disconnected as error:
            log.warning("No producer id yet: %s", error)
        await after(cluster.seams.clock, pause_ms)
        if not still_wanted():
            return None


class PartitionSequences:
    """One partition's numbers."""

    def __init__(self) -> None:
        self.producer: ProducerId = NONE
        self.next_sequence = 0
        self.last_acked_offset = -1
        self.has_gap = False  # nothing behind what is in flight can succeed in this epoch
        self.unresolved = False  # a batch that may have been written was given up
        self.confirmed = False  # the leader knows this epoch: one that does not would accept any sequence, so also the second batch without the first

    @property
    def must_wait(self) -> bool:
        """Whether new batches must wait until nothing is in flight."""
        return self.has_gap or self.unresolved or (self.producer != NONE and not self.confirmed)

    def number(self, batch: Batch) -> None:
        """Give a new batch the next numbers."""
        batch.producer, batch.base_sequence = self.producer, self.next_sequence
        self.next_sequence = add_to_sequence(self.next_sequence, len(batch.records))

    def settle(self, identity: ProducerIdentity, again: list[Batch]) -> bool:
        """With nothing in flight: a new epoch where needed or possible, with `again` numbered anew. False where a broker must give an id."""
        if self.has_gap or (self.unresolved and not again):
            identity.raise_above(self.producer)
        elif again or self.producer == identity.current:
            return self.producer != NONE
        if identity.current == NONE:
            return False
        self.producer, self.next_sequence = identity.current, 0
        self.has_gap = self.unresolved = self.confirmed = False
        for batch in again:
            self.number(batch)
        return True
