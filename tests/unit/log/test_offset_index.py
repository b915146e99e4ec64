"""The offset index: entries, look-ups, corruption."""

from __future__ import annotations

import struct

import pytest

from pykafka_classic.log.offset_index import PENDING_ENTRIES_MAX, OffsetIndex
from tests.fakes.file_system import FakeFileSystem

PATH = "/data/00000000000000000040.index"


@pytest.fixture
def file_system() -> FakeFileSystem:
    file_system = FakeFileSystem()
    file_system.make_directory("/data")
    return file_system


def new_index(file_system: FakeFileSystem, entries: list[tuple[int, int]] | None = None, bytes_max: int = 4096) -> OffsetIndex:
    index = OffsetIndex(file_system, PATH, 40, bytes_max)
    index.reset()
    for offset, position in entries or []:
        index.append(offset, position)
    return index


def reloaded(file_system: FakeFileSystem) -> OffsetIndex:
    return OffsetIndex(file_system, PATH, 40, 4096)


def test_an_empty_index_points_to_the_segments_start(file_system: FakeFileSystem) -> None:
    index = new_index(file_system)
    assert index.lookup(1000) == (40, 0)
    assert index.last_offset == 40


@pytest.mark.parametrize(("offset", "found"), [(40, (40, 0)), (44, (40, 0)), (45, (45, 100)), (49, (45, 100)), (50, (50, 200)), (5000, (50, 200))])
def test_a_lookup_finds_the_greatest_entry_not_above(file_system: FakeFileSystem, offset: int, found: tuple[int, int]) -> None:
    assert new_index(file_system, [(45, 100), (50, 200)]).lookup(offset) == found


@pytest.mark.parametrize(("position", "offset"), [(0, 45), (100, 45), (101, 50), (200, 50), (201, None)])
def test_the_first_entry_from_a_position_on_is_found(file_system: FakeFileSystem, position: int, offset: int | None) -> None:
    assert new_index(file_system, [(45, 100), (50, 200)]).offset_at_or_after(position) == offset


def test_an_entry_is_a_relative_offset_and_a_position_big_endian(file_system: FakeFileSystem) -> None:
    index = new_index(file_system, [(45, 100), (50, 200)])
    index.write_pending()
    assert file_system.read(PATH) == struct.pack(">iiii", 5, 100, 10, 200)


def test_entries_wait_in_memory_and_are_written_together(file_system: FakeFileSystem) -> None:
    index = new_index(file_system, bytes_max=1 << 20)
    for number in range(1, PENDING_ENTRIES_MAX):
        index.append(40 + number, number)
    assert file_system.size(PATH) == 0
    index.append(40 + PENDING_ENTRIES_MAX, PENDING_ENTRIES_MAX)
    assert file_system.size(PATH) == 8 * PENDING_ENTRIES_MAX


def test_a_loaded_index_answers_like_the_one_that_was_written(file_system: FakeFileSystem) -> None:
    new_index(file_system, [(45, 100), (50, 200)]).write_pending()
    assert reloaded(file_system).entries == [(45, 100), (50, 200)]


def test_appending_to_a_loaded_index_extends_the_file(file_system: FakeFileSystem) -> None:
    new_index(file_system, [(45, 100)]).write_pending()
    index = reloaded(file_system)
    index.append(50, 200)
    index.write_pending()
    assert reloaded(file_system).entries == [(45, 100), (50, 200)]


def test_truncating_drops_the_entries_from_the_offset_on(file_system: FakeFileSystem) -> None:
    index = new_index(file_system, [(45, 100), (50, 200), (55, 300)])
    index.write_pending()
    index.truncate_to(50)
    assert index.entries == [(45, 100)]
    assert reloaded(file_system).entries == [(45, 100)]


def test_truncating_entries_that_were_not_written_leaves_the_file(file_system: FakeFileSystem) -> None:
    index = new_index(file_system, [(45, 100)])
    index.write_pending()
    index.append(50, 200)
    index.truncate_to(50)
    index.append(51, 210)
    index.write_pending()
    assert reloaded(file_system).entries == [(45, 100), (51, 210)]


@pytest.mark.parametrize("tail", [bytes(80), b"\xff" * 16, struct.pack(">ii", 3, 300), struct.pack(">ii", 90, 50), b"\0\0\0"])
def test_rubbish_behind_the_last_good_entry_is_not_used(file_system: FakeFileSystem, tail: bytes) -> None:
    file_system.write_atomically(PATH, struct.pack(">iiii", 5, 100, 10, 200) + tail)
    assert reloaded(file_system).entries == [(45, 100), (50, 200)]


@pytest.mark.parametrize("data", [bytes(80), b"\xff" * 80])
def test_an_index_of_rubbish_counts_as_empty(file_system: FakeFileSystem, data: bytes) -> None:
    file_system.write_atomically(PATH, data)
    assert reloaded(file_system).entries == []


def test_new_entries_overwrite_rubbish(file_system: FakeFileSystem) -> None:
    file_system.write_atomically(PATH, struct.pack(">ii", 5, 100) + bytes(80))
    index = reloaded(file_system)
    index.append(50, 200)
    index.write_pending()
    assert file_system.read(PATH) == struct.pack(">iiii", 5, 100, 10, 200)


def test_an_index_is_full_when_its_bytes_are_used_up(file_system: FakeFileSystem) -> None:
    index = new_index(file_system, [(45, 100)], bytes_max=17)
    assert not index.is_full
    index.append(50, 200)
    assert index.is_full


def test_unloading_gives_the_same_entries_back(file_system: FakeFileSystem) -> None:
    index = new_index(file_system, [(45, 100)])
    index.write_pending()
    index.unload()
    assert index.entries == [(45, 100)]


def test_an_absent_file_is_an_empty_index(file_system: FakeFileSystem) -> None:
    assert reloaded(file_system).entries == []
