"""Segments whose offsets lie too far apart for their indexes, as brokers before 2.0 could write them (KAFKA-6264). See tests/golden too."""

from __future__ import annotations

import random
import zlib

import pytest

from pykafka_classic.log.log import Log
from tests.unit.log.helpers import Disk, batch, message, offsets_of, read_all

FAR = 2**31
FIRST = "00000000000000000000"


@pytest.fixture
def disk() -> Disk:
    return Disk(index_interval_bytes=0)


def put(disk: Disk, base_offset: int, data: bytes, *, index: bool = True) -> None:
    """A segment that a broker left."""
    disk.file_system.make_directory(disk.directory)
    disk.file_system.write_atomically(f"{disk.directory}/{base_offset:020d}.log", data)
    if index:
        disk.file_system.write_atomically(f"{disk.directory}/{base_offset:020d}.index", b"")


def batches(*offsets: int) -> bytes:
    return b"".join(batch(base_offset=offset) for offset in offsets)


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def test_what_is_too_far_away_gets_a_segment_of_its_own_and_nothing_is_lost(disk: Disk) -> None:
    data = batches(0, 1, FAR, FAR + 1, 2 * FAR + 5, 2 * FAR + 6)
    put(disk, 0, data)
    log = disk.open(clean=False)
    assert (bases(log), read_all(log), log.log_end_offset) == ([0, FAR, 2 * FAR + 5], data, 2 * FAR + 7)
    assert all(segment.offset_index.entries for segment in log.segments)
    log.close()
    assert read_all(disk.open()) == data


def test_the_largest_offset_that_fits_is_not_split_off(disk: Disk) -> None:
    put(disk, 0, batches(0, FAR - 1))
    assert bases(disk.open(clean=False)) == [0]


def test_old_messages_are_split_too(disk: Disk) -> None:
    data = b"".join(message(b"v", offset=offset) for offset in (0, 1, FAR + 1, FAR + 2))
    put(disk, 0, data)
    log = disk.open(clean=False)
    assert (bases(log), read_all(log)) == ([0, FAR + 1], data)


def test_a_wrapper_that_cannot_be_unpacked_is_damage(disk: Disk) -> None:
    wrapper = bytearray(message(b"no gzip", offset=FAR + 1))
    wrapper[17] = 1  # the codec
    wrapper[12:16] = zlib.crc32(wrapper[16:]).to_bytes(4, "big")
    put(disk, 0, message(b"v", offset=0) + bytes(wrapper) + message(b"v", offset=FAR + 2))
    log = disk.open(clean=False)
    assert (bases(log), log.log_end_offset) == ([0], 1)


def test_a_missing_index_after_a_clean_stop_leads_to_it_too(disk: Disk) -> None:
    data = batches(0, 1, FAR, FAR + 1, 2 * FAR + 5, 2 * FAR + 6)
    put(disk, 0, data, index=False)
    log = disk.open()
    assert (bases(log), read_all(log)) == ([0, FAR, 2 * FAR + 5], data)


def test_a_torn_tail_behind_is_cut_and_the_rest_kept(disk: Disk) -> None:
    """Kafka 2.8.2 does not start with such a segment."""
    put(disk, 0, batches(0, FAR, FAR + 1, FAR + 2)[:-5])
    log = disk.open(clean=False)
    assert (bases(log), offsets_of(read_all(log))) == ([0, FAR], [0, FAR, FAR + 1])


def test_segments_behind_stay(disk: Disk) -> None:
    put(disk, 0, batches(0, FAR, FAR + 1))
    put(disk, FAR + 2, batches(FAR + 2, FAR + 3))
    log = disk.open(clean=False)
    assert (bases(log), offsets_of(read_all(log))) == ([0, FAR, FAR + 2], [0, FAR, FAR + 1, FAR + 2, FAR + 3])


@pytest.mark.parametrize("bit", [31, 40, 62])
def test_a_flipped_bit_in_the_last_offset_is_damage(disk: Disk, bit: int) -> None:
    put(disk, 0, batches(0, 1, 2 ^ (1 << bit)))
    log = disk.open(clean=False)
    assert (bases(log), log.log_end_offset) == ([0], 2)


def test_an_offset_beyond_the_next_segments_start_is_damage(disk: Disk) -> None:
    put(disk, 0, batches(0, 1, FAR + 7, FAR + 8))
    put(disk, 4, batches(4, 5))
    log = disk.open(clean=False)
    assert (bases(log), log.log_end_offset) == ([0], 2)


def test_a_crash_between_making_the_new_segment_and_cutting_the_old_one_is_repaired(disk: Disk) -> None:
    put(disk, 0, batches(0, 1, FAR, FAR + 1))
    put(disk, FAR, batches(FAR, FAR + 1))
    log = disk.open(clean=False)
    assert (bases(log), offsets_of(read_all(log))) == ([0, FAR], [0, 1, FAR, FAR + 1])
    assert disk.file_system.size(f"{disk.directory}/{FIRST}.log") == len(batches(0, 1))


@pytest.mark.parametrize("seed", range(20))
def test_a_loss_of_power_right_afterwards_loses_nothing(disk: Disk, seed: int) -> None:
    data = batches(0, 1, FAR, FAR + 1, 2 * FAR + 5, 2 * FAR + 6)
    put(disk, 0, data)
    disk.open(clean=False)
    disk.file_system.crash(random.Random(seed))
    assert read_all(disk.open(clean=False)) == data
