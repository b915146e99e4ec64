"""The time index: entries, look-ups, corruption."""

from __future__ import annotations

import struct

import pytest

from pykafka_classic.log.time_index import TimeIndex
from tests.fakes.file_system import FakeFileSystem

PATH = "/data/00000000000000000040.timeindex"


@pytest.fixture
def file_system() -> FakeFileSystem:
    file_system = FakeFileSystem()
    file_system.make_directory("/data")
    return file_system


def new_index(file_system: FakeFileSystem, entries: list[tuple[int, int]] | None = None, bytes_max: int = 4096) -> TimeIndex:
    index = TimeIndex(file_system, PATH, 40, bytes_max)
    index.reset()
    for timestamp, offset in entries or []:
        index.maybe_append(timestamp, offset)
    return index


def reloaded(file_system: FakeFileSystem) -> TimeIndex:
    return TimeIndex(file_system, PATH, 40, 4096)


def test_an_empty_index_has_no_timestamp(file_system: FakeFileSystem) -> None:
    index = new_index(file_system)
    assert index.last_entry == (-1, 40)
    assert index.lookup(1000) == (-1, 40)


@pytest.mark.parametrize(("timestamp", "found"), [(99, (-1, 40)), (100, (100, 45)), (199, (100, 45)), (200, (200, 50)), (999, (200, 50))])
def test_a_lookup_finds_the_greatest_timestamp_not_above(file_system: FakeFileSystem, timestamp: int, found: tuple[int, int]) -> None:
    assert new_index(file_system, [(100, 45), (200, 50)]).lookup(timestamp) == found


@pytest.mark.parametrize("entry", [(200, 55), (150, 55), (-1, 55), (300, 44)])
def test_an_entry_that_is_not_younger_is_left_out(file_system: FakeFileSystem, entry: tuple[int, int]) -> None:
    index = new_index(file_system, [(100, 45), (200, 50)])
    index.maybe_append(*entry)
    assert index.entries == [(100, 45), (200, 50)]


def test_an_entry_is_a_timestamp_and_a_relative_offset_big_endian(file_system: FakeFileSystem) -> None:
    index = new_index(file_system, [(100, 45)])
    index.write_pending()
    assert file_system.read(PATH) == struct.pack(">qi", 100, 5)


def test_truncating_drops_the_entries_from_the_offset_on(file_system: FakeFileSystem) -> None:
    index = new_index(file_system, [(100, 45), (200, 50)])
    index.write_pending()
    index.truncate_to(50)
    assert reloaded(file_system).entries == [(100, 45)]


def test_the_last_slot_is_kept_for_the_roll(file_system: FakeFileSystem) -> None:
    index = new_index(file_system, [(100, 45)], bytes_max=24)
    assert index.is_full
    index.maybe_append(200, 50)
    assert index.last_entry == (100, 45)
    index.maybe_append(200, 50, at_roll=True)
    assert index.last_entry == (200, 50)


@pytest.mark.parametrize("tail", [bytes(24), struct.pack(">qi", 90, 60), struct.pack(">qi", 300, 1), b"\0" * 7])
def test_rubbish_behind_the_last_good_entry_is_not_used(file_system: FakeFileSystem, tail: bytes) -> None:
    file_system.write_atomically(PATH, struct.pack(">qiqi", 100, 5, 200, 10) + tail)
    assert reloaded(file_system).entries == [(100, 45), (200, 50)]


def test_zeros_count_as_an_empty_index(file_system: FakeFileSystem) -> None:
    file_system.write_atomically(PATH, bytes(120))
    assert reloaded(file_system).entries == []
