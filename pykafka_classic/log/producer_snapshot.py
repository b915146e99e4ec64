"""`N.snapshot`: the producers of a log as they were before offset N.

```
version i16 (1),  crc u32 (CRC-32C of all that follows),  count i32,  then per producer:
producer_id i64,  producer_epoch i16,  last_sequence i32,  last_offset i64,  offset_delta i32,  timestamp i64,  coordinator_epoch i32,
current_txn_first_offset i64
```
-1 stands for what is not there. Only the last batch of each producer is written: after a restart a duplicate is recognised only where it is that one.
Because of its checksum the file needs no fsync: where it is torn, an older one and the batches behind it give the same state.

Source: facts/storage.md 6; ProducerStateManager.scala (companion object).
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct, error
from typing import Final

from pykafka_classic.common.crc32c import crc32c
from pykafka_classic.log.producer_entry import BatchMetadata, ProducerStateEntry

VERSION: Final = 1

_HEADER: Final = Struct(">hI")
_COUNT: Final = Struct(">i")
_ENTRY: Final = Struct(">qhiqiqiq")
assert _HEADER.size == 6 and _ENTRY.size == 46


class CorruptSnapshot(Exception):
    """A snapshot that was not written to its end, or by something else."""


def encode_snapshot(entries: Iterable[ProducerStateEntry]) -> bytes:
    """The file's content."""
    packed = [_encode_entry(entry) for entry in entries]
    body = b"".join([_COUNT.pack(len(packed)), *packed])
    return _HEADER.pack(VERSION, crc32c(body)) + body


def decode_snapshot(data: bytes) -> list[ProducerStateEntry]:
    """The producers in a file's content. Raises CorruptSnapshot."""
    try:
        version, crc = _HEADER.unpack_from(data)
        (count,) = _COUNT.unpack_from(data, _HEADER.size)
    except error as problem:
        raise CorruptSnapshot(f"Snapshot failed schema validation: only {len(data)} bytes") from problem
    if version != VERSION:
        raise CorruptSnapshot(f"Snapshot contained an unknown file version {version}")
    if not 0 <= count * _ENTRY.size <= len(data) - _HEADER.size - _COUNT.size:
        raise CorruptSnapshot(f"Snapshot failed schema validation: {count} producers in {len(data)} bytes")
    computed = crc32c(data[_HEADER.size :])
    if computed != crc:
        raise CorruptSnapshot(f"Snapshot is corrupt (CRC is no longer valid). Stored crc: {crc}. Computed crc: {computed}")
    if len(data) != _HEADER.size + _COUNT.size + count * _ENTRY.size:
        raise CorruptSnapshot(f"Snapshot failed schema validation: bytes behind the last of {count} producers")
    return [_decode_entry(fields) for fields in _ENTRY.iter_unpack(data[_HEADER.size + _COUNT.size :])]


def _encode_entry(entry: ProducerStateEntry) -> bytes:
    last = entry.batches[-1] if entry.batches else BatchMetadata(-1, -1, 0, -1)
    first_offset = -1 if entry.first_offset_of_transaction is None else entry.first_offset_of_transaction
    return _ENTRY.pack(
        entry.producer_id,
        entry.producer_epoch,
        last.last_sequence,
        last.last_offset,
        last.offset_delta,
        entry.last_timestamp,
        entry.coordinator_epoch,
        first_offset,
    )


def _decode_entry(fields: tuple[int, ...]) -> ProducerStateEntry:
    producer_id, producer_epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch, first_offset = fields
    entry = ProducerStateEntry(producer_id, producer_epoch, coordinator_epoch, timestamp, first_offset if first_offset >= 0 else None)
    if last_offset >= 0:
        entry.batches.append(BatchMetadata(last_sequence, last_offset, offset_delta, timestamp))
    return entry
