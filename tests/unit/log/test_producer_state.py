"""Producers: sequences, epochs, transactions, snapshots."""

from __future__ import annotations

import struct

import crc32c as crc32c_library
import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.batch_header import parse_header
from pykafka_classic.log.producer_entry import BatchMetadata, CompletedTransaction, ProducerStateEntry
from pykafka_classic.log.producer_snapshot import CorruptSnapshot, decode_snapshot, encode_snapshot
from pykafka_classic.log.producer_state import ProducerStateManager
from tests.fakes.file_system import FakeFileSystem
from tests.unit.log.helpers import batch, marker

DAY_MS = 86_400_000


@pytest.fixture
def file_system() -> FakeFileSystem:
    file_system = FakeFileSystem()
    file_system.make_directory("/data/flights-0")
    return file_system


def manager(file_system: FakeFileSystem, snapshots: list[int] | None = None) -> ProducerStateManager:
    producers = ProducerStateManager(file_system, "/data/flights-0", TopicPartition("flights", 0), 7 * DAY_MS)
    producers.find_snapshots(snapshots or [])
    return producers


def replay(producers: ProducerStateManager, data: bytes) -> CompletedTransaction | None:
    return producers.replay(parse_header(data, 0, 0), memoryview(data))


def transactional(producer_id: int, offset: int, sequence: int = 0) -> bytes:
    return batch(base_offset=offset, producer=(producer_id, 0, sequence), attributes=0x10, timestamp=1000)


def test_a_snapshot_has_version_checksum_count_and_an_entry_per_producer() -> None:
    entry = ProducerStateEntry(7, 3, 2, 5000, 40)
    entry.batches.append(BatchMetadata(9, 50, 4, 5000))
    body = struct.pack(">i", 1) + struct.pack(">qhiqiqiq", 7, 3, 9, 50, 4, 5000, 2, 40)
    assert encode_snapshot([entry]) == struct.pack(">hI", 1, crc32c_library.crc32c(body)) + body


def test_what_is_not_there_is_minus_one_in_a_snapshot() -> None:
    data = encode_snapshot([ProducerStateEntry(7, 3, -1, 5000)])
    assert data[10:] == struct.pack(">qhiqiqiq", 7, 3, -1, -1, 0, 5000, -1, -1)
    assert decode_snapshot(data) == [ProducerStateEntry(7, 3, -1, 5000)]


def test_an_empty_snapshot_is_ten_bytes() -> None:
    assert len(encode_snapshot([])) == 10


@pytest.mark.parametrize("damage", [lambda d: b"", lambda d: d[:-1], lambda d: d[:12] + b"\xff" + d[13:], lambda d: b"\0\2" + d[2:], lambda d: d + b"\0"])
def test_a_damaged_snapshot_is_recognised(damage: object) -> None:
    data = encode_snapshot([ProducerStateEntry(7, 3, -1, 5000)])
    with pytest.raises(CorruptSnapshot):
        decode_snapshot(damage(data))  # type: ignore[operator]


def test_a_snapshot_is_named_after_the_offset_up_to_which_it_is_true(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    replay(producers, batch(base_offset=4, producer=(7, 0, 0)))
    producers.take_snapshot()
    assert file_system.list("/data/flights-0") == ["00000000000000000005.snapshot"]


def test_nothing_new_makes_no_new_snapshot(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    producers.skip_to(5)
    syncs = file_system.files_under("/data")
    producers.take_snapshot()
    assert file_system.files_under("/data") == syncs


def test_state_is_loaded_from_the_newest_snapshot_within_the_log(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    for offset in (0, 1, 2):
        replay(producers, batch(base_offset=offset, producer=(7, 0, offset), timestamp=1000))
        producers.take_snapshot()
    again = manager(file_system, [1, 2, 3])
    again.truncate_and_reload(0, 2, 1000)
    assert (again.map_end_offset, again.producers[7].last_sequence) == (2, 1)
    assert again.snapshots == [1, 2]


def test_a_corrupt_snapshot_is_removed_and_an_older_one_used(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    for offset in (0, 1):
        replay(producers, batch(base_offset=offset, producer=(7, 0, offset), timestamp=1000))
        producers.take_snapshot()
    file_system.write_atomically("/data/flights-0/00000000000000000002.snapshot", b"torn")
    again = manager(file_system, [1, 2])
    again.truncate_and_reload(0, 2, 1000)
    assert again.map_end_offset == 1
    assert file_system.list("/data/flights-0") == ["00000000000000000001.snapshot"]


def test_an_idle_producer_is_not_loaded_but_one_with_an_open_transaction_is(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    replay(producers, batch(base_offset=0, producer=(7, 0, 0), timestamp=1000))
    replay(producers, transactional(8, 1))
    producers.take_snapshot()
    again = manager(file_system, [2])
    again.truncate_and_reload(0, 2, 1000 + 7 * DAY_MS)
    assert list(again.producers) == [8]
    assert again.first_unstable_offset == 1


def test_an_open_transaction_holds_back_until_its_marker_is_below_the_high_watermark(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    replay(producers, transactional(7, 0))
    replay(producers, transactional(8, 1))
    assert producers.first_unstable_offset == 0
    completed = replay(producers, marker(producer_id=7, producer_epoch=0, commit=False, base_offset=2))
    assert completed == (7, 0, 2, True)
    assert producers.last_stable_offset_after(completed) == 1
    producers.complete(completed)
    assert producers.first_undecided_offset == 1
    assert producers.first_unstable_offset == 0
    producers.on_high_watermark_updated(2)
    assert producers.first_unstable_offset == 0
    producers.on_high_watermark_updated(3)
    assert producers.first_unstable_offset == 1


def test_without_another_transaction_the_stable_offset_is_behind_the_marker(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    replay(producers, transactional(7, 0))
    completed = replay(producers, marker(producer_id=7, producer_epoch=0, commit=True, base_offset=1))
    assert completed is not None
    assert producers.last_stable_offset_after(completed) == 2


def test_a_marker_emptied_by_compaction_changes_nothing(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    replay(producers, transactional(7, 0))
    empty = batch([], base_offset=1, producer=(7, 0, -1), attributes=0x30)
    assert replay(producers, empty) is None


def test_only_the_newest_stray_snapshot_above_the_last_segment_stays(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    for offset in (5, 10, 12, 20, 25, 30):
        producers.skip_to(offset)
    producers.find_snapshots(producers.snapshots, [0, 10, 20])
    assert producers.snapshots == [10, 20, 30]


def test_stray_snapshots_below_the_last_segment_all_go(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    for offset in (5, 10, 12):
        producers.skip_to(offset)
    producers.find_snapshots(producers.snapshots, [0, 10, 20])
    assert producers.snapshots == [10]


def test_expired_producers_are_forgotten(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    replay(producers, batch(base_offset=0, producer=(7, 0, 0), timestamp=1000))
    replay(producers, batch(base_offset=1, producer=(8, 0, 0), timestamp=2000))
    producers.remove_expired(1000 + 7 * DAY_MS)
    assert list(producers.producers) == [8]


def test_truncating_fully_forgets_everything(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    replay(producers, transactional(7, 0))
    producers.take_snapshot()
    producers.truncate_fully_and_start_at(50)
    assert (producers.producers, producers.first_unstable_offset, producers.map_end_offset) == ({}, None, 50)
    assert file_system.list("/data/flights-0") == []


def test_an_append_counts_only_after_update(file_system: FakeFileSystem) -> None:
    producers = manager(file_system)
    info = producers.prepare(7, AppendOrigin.CLIENT)
    info.append_data(parse_header(transactional(7, 0), 0, 0))
    assert not producers.producers and producers.first_unstable_offset is None
    producers.update(info)
    assert producers.producers[7].last_sequence == 0
    assert producers.first_unstable_offset == 0
