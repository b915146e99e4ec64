"""Control batches: the marker that ends a transaction in a partition.

One record, uncompressed, in a batch with the transactional and the control bit and the producer's id and epoch:

```
key:   version i16 (0), type i16: 0 ABORT, 1 COMMIT (others belong to raft; readers skip them)
value: version i16 (0), coordinator_epoch i32
```

Source: facts/storage.md 1.2; 2.8 ControlRecordType.java, EndTransactionMarker.java.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final, Protocol

from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.layout import InvalidRecord
from pykafka_classic.records.record import Record

_KEY: Final = Struct(">hh")
_VALUE: Final = Struct(">hi")
_VERSION: Final = 0


class ControlType(IntEnum):
    """Kinds of control records. Those of raft count as unknown."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1

    @staticmethod
    def of(key: bytes | None) -> ControlType:
        """The type in a control record's key. Raises InvalidRecord for one too short."""
        if key is None or len(key) < _KEY.size:
            raise InvalidRecord("a control record whose key is too short")
        version, kind = _KEY.unpack_from(key)
        if version < 0:
            raise InvalidRecord(f"a control record of version {version}")
        return ControlType(kind) if kind in _KNOWN else ControlType.UNKNOWN


_KNOWN: Final = frozenset(kind.value for kind in ControlType)


@dataclass(frozen=True, slots=True)
class EndTransactionMarker:
    """How a transaction ended, and under which epoch of its coordinator."""

    commit: bool
    coordinator_epoch: int


class HasRecords(Protocol):
    """A batch."""

    def records(self) -> list[Record]:
        """Its records."""
        ...


def build_end_transaction_marker(marker: EndTransactionMarker, *, timestamp: int, producer_id: int, producer_epoch: int, offset: int = 0) -> bytes:
    """The batch that writes a marker; `timestamp` in ms."""
    key = _KEY.pack(_VERSION, ControlType.COMMIT if marker.commit else ControlType.ABORT)
    record = Record(offset, timestamp, key, _VALUE.pack(_VERSION, marker.coordinator_epoch))
    fields = BatchFields(producer_id=producer_id, producer_epoch=producer_epoch, is_transactional=True, is_control=True)
    return build_batch([record], fields)


def read_end_transaction_marker(batch: HasRecords) -> EndTransactionMarker:
    """The marker in a control batch. Raises InvalidRecord where there is none (another type, or emptied by compaction)."""
    records = batch.records()
    if not records:
        raise InvalidRecord("a control batch without its record")
    kind, value = ControlType.of(records[0].key), records[0].value
    if kind not in (ControlType.ABORT, ControlType.COMMIT):
        raise InvalidRecord(f"a control record of type {kind.name} ends no transaction")
    if value is None or len(value) < _VALUE.size:
        raise InvalidRecord("an end transaction marker whose value is too short")
    _, coordinator_epoch = _VALUE.unpack_from(value)
    return EndTransactionMarker(kind == ControlType.COMMIT, coordinator_epoch)
