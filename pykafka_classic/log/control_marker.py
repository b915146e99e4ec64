"""The one record of a control batch, as producer state needs it: how a transaction ended, and when."""

from __future__ import annotations

from pykafka_classic.log.producer_entry import TransactionMarker
from pykafka_classic.records.control import read_end_transaction_marker
from pykafka_classic.records.layout import InvalidRecord
from pykafka_classic.records.record_batch import RecordBatch


def read_marker(batch: bytes | bytearray | memoryview) -> TransactionMarker | None:
    """The marker in a control batch; None where compaction has emptied it, or it ends no transaction."""
    view = RecordBatch(memoryview(batch))
    try:
        marker = read_end_transaction_marker(view)
    except InvalidRecord:
        return None
    return TransactionMarker(not marker.commit, marker.coordinator_epoch, view.records()[0].timestamp)
