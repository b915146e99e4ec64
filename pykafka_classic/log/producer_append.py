"""Producer checks over all batches of one append.

Source: facts/storage.md 6; Log.scala (analyzeAndValidateProducerState, updateProducers).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.batch_header import BatchHeader
from pykafka_classic.log.control_marker import read_marker
from pykafka_classic.log.log_append import Incoming
from pykafka_classic.log.producer_entry import BatchMetadata, CompletedTransaction, ProducerAppendInfo
from pykafka_classic.log.producer_state import ProducerStateManager


@dataclass(slots=True)
class ProducerUpdates:
    """What an append changes about producers, once it is written; or the batch that it repeats, and then nothing is written."""

    infos: dict[int, ProducerAppendInfo] = field(default_factory=dict)
    completed: list[CompletedTransaction] = field(default_factory=list)
    duplicate: BatchMetadata | None = None


def check_producers(producers: ProducerStateManager, incoming: Incoming, origin: AppendOrigin) -> ProducerUpdates | None:
    """Check sequence numbers, epochs and transactions; None where no batch has a producer id. Raises KafkaError (see ProducerAppendInfo)."""
    updates: ProducerUpdates | None = None
    for batch in incoming.batches:
        if batch.producer_id < 0:
            continue
        if updates is None:
            updates = ProducerUpdates()
        if origin is AppendOrigin.CLIENT:
            known = producers.producers.get(batch.producer_id)
            updates.duplicate = known.find_duplicate(batch) if known is not None else None
            if updates.duplicate is not None:
                return updates
        _account(producers, updates, incoming, batch, origin)
    return updates


def _account(producers: ProducerStateManager, updates: ProducerUpdates, incoming: Incoming, batch: BatchHeader, origin: AppendOrigin) -> None:
    info = updates.infos.get(batch.producer_id)
    if info is None:
        info = updates.infos[batch.producer_id] = producers.prepare(batch.producer_id, origin)
    if not batch.is_control:
        info.append_data(batch)
        return
    whole = b"".join(incoming.buffers) if len(incoming.buffers) > 1 else incoming.buffers[0]
    marker = read_marker(memoryview(whole)[batch.position : batch.position + batch.size])
    completed = info.append_marker(batch, marker) if marker is not None else None
    if completed is not None:
        updates.completed.append(completed)
