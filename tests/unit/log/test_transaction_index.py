"""Cases after TransactionIndexTest."""

from __future__ import annotations

import struct

import pytest

from pykafka_classic.log.transaction_index import AbortedTransaction, CorruptIndex, TransactionIndex
from tests.fakes.file_system import FakeFileSystem

PATH = "/data/00000000000000000000.txnindex"
TRANSACTIONS = [AbortedTransaction(0, 0, 10, 11), AbortedTransaction(1, 5, 15, 13), AbortedTransaction(2, 18, 35, 25), AbortedTransaction(3, 32, 50, 40)]


@pytest.fixture
def file_system() -> FakeFileSystem:
    file_system = FakeFileSystem()
    file_system.make_directory("/data")
    return file_system


@pytest.fixture
def index(file_system: FakeFileSystem) -> TransactionIndex:
    index = TransactionIndex(file_system, PATH, 0)
    for transaction in TRANSACTIONS:
        index.append(transaction)
    return index


def test_there_is_no_file_before_something_was_aborted(file_system: FakeFileSystem) -> None:
    TransactionIndex(file_system, PATH, 0).reset()
    assert not file_system.exists(PATH)


def test_an_entry_has_version_producer_first_last_and_stable_offset(file_system: FakeFileSystem) -> None:
    TransactionIndex(file_system, PATH, 0).append(AbortedTransaction(9, 5, 15, 13))
    assert file_system.read(PATH) == struct.pack(">hqqqq", 0, 9, 5, 15, 13)


def test_what_was_appended_is_loaded(file_system: FakeFileSystem, index: TransactionIndex) -> None:
    assert TransactionIndex(file_system, PATH, 0).entries == TRANSACTIONS


@pytest.mark.parametrize(
    ("fetch", "bound", "count", "complete"),
    [(0, 100, (0, 4), False), (0, 32, (0, 3), True), (0, 35, (0, 4), True), (10, 35, (0, 4), True), (11, 35, (1, 4), True), (20, 41, (2, 4), False)],
)
def test_overlapping_transactions_are_collected(index: TransactionIndex, fetch: int, bound: int, count: tuple[int, int], complete: bool) -> None:
    assert index.collect(fetch, bound) == (TRANSACTIONS[slice(*count)], complete)


@pytest.mark.parametrize(("offset", "left"), [(51, 4), (50, 3), (49, 3), (34, 2), (10, 0)])
def test_truncating_drops_transactions_whose_marker_is_gone(file_system: FakeFileSystem, index: TransactionIndex, offset: int, left: int) -> None:
    index.truncate_to(offset)
    assert TransactionIndex(file_system, PATH, 0).entries == TRANSACTIONS[:left]


def test_an_entry_of_another_segment_is_corruption(file_system: FakeFileSystem, index: TransactionIndex) -> None:
    with pytest.raises(CorruptIndex):
        _ = TransactionIndex(file_system, PATH, 11).entries


def test_a_torn_last_entry_is_not_used(file_system: FakeFileSystem, index: TransactionIndex) -> None:
    file_system.write_atomically(PATH, file_system.read(PATH)[:-1])
    assert TransactionIndex(file_system, PATH, 0).entries == TRANSACTIONS[:3]
