"""Transaction markers."""

from __future__ import annotations

import pytest

from pykafka_classic.records.record_batch import (
    ControlType,
    EndTransactionMarker,
    InvalidRecord,
    Record,
    build_batch,
    build_end_transaction_marker,
    iterate_batches,
    read_end_transaction_marker,
    stamp_partition_leader_epoch,
)
from tests.unit.records.vectors import COMMIT_MARKER


def test_the_worked_example_is_read() -> None:
    [batch] = iterate_batches(COMMIT_MARKER)
    assert batch.is_valid()
    assert batch.is_control
    assert batch.is_transactional
    assert read_end_transaction_marker(batch) == EndTransactionMarker(commit=True, coordinator_epoch=7)


def test_the_worked_example_is_written() -> None:
    data = bytearray(build_end_transaction_marker(EndTransactionMarker(True, 7), timestamp=2000, producer_id=9, producer_epoch=3, offset=5))
    stamp_partition_leader_epoch(data, 0)
    assert data == COMMIT_MARKER


def test_an_abort_marker_is_read_back() -> None:
    marker = EndTransactionMarker(commit=False, coordinator_epoch=0)
    [batch] = iterate_batches(build_end_transaction_marker(marker, timestamp=1, producer_id=1, producer_epoch=0))
    assert read_end_transaction_marker(batch) == marker


@pytest.mark.parametrize("key", [None, b"\0\0\0", b"\xff\xff\0\0", b"\0\0\0\3", b"\0\0\x12\x34"])
def test_what_ends_no_transaction_is_no_marker(key: bytes | None) -> None:
    [batch] = iterate_batches(build_batch([Record(0, 0, key, bytes(6))], is_control=True))
    with pytest.raises(InvalidRecord):
        read_end_transaction_marker(batch)


def test_a_type_from_later_versions_is_unknown() -> None:
    assert ControlType.of(b"\0\0\0\7") is ControlType.UNKNOWN


def test_a_control_batch_emptied_by_compaction_has_no_marker() -> None:
    [batch] = iterate_batches(build_batch([], base_offset=5, is_control=True))
    with pytest.raises(InvalidRecord, match="without its record"):
        read_end_transaction_marker(batch)
