"""What is left after a stop, clean or not. Files are damaged as disks and dying brokers damage them; tests/golden has what Kafka itself did with its own."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.log.checkpoints import MalformedCheckpoint
from pykafka_classic.log.log import Log
from tests.unit.log.helpers import NOW_MS, Disk, batch, fill, message, offsets_of, read_all


@pytest.fixture
def disk() -> Disk:
    return Disk(segment_bytes=1000, index_interval_bytes=200)


def path(disk: Disk, name: str) -> str:
    return f"{disk.directory}/{name}"


def change(disk: Disk, name: str, position: int, data: bytes) -> None:
    file = disk.file_system.open(path(disk, name))
    file.write_at(position % file.size(), data)


def cut(disk: Disk, name: str, count: int) -> None:
    file = disk.file_system.open(path(disk, name))
    file.truncate(file.size() - count)


def written(disk: Disk, batches: int = 12, **options: int) -> Log:
    log = disk.open()
    fill(log, batches, **options)
    return log


LAST = "00000000000000000010"
MIDDLE = "00000000000000000005"


def test_after_a_clean_stop_everything_is_there_and_counts_as_flushed(disk: Disk) -> None:
    written(disk, leader_epoch=3).close()
    log = disk.open()
    assert offsets_of(read_all(log)) == list(range(12))
    assert (log.recovery_point, log.log_start_offset, log.leader_epoch_cache.entries) == (12, 0, [(3, 0)])


def test_a_clean_start_reads_little(disk: Disk) -> None:
    written(disk, 200).close()
    disk.file_system.reads = 0
    log = disk.open()
    assert len(log.segments) == 40
    assert disk.file_system.reads < 10


def test_after_a_kill_everything_written_is_there_but_does_not_count_as_flushed(disk: Disk) -> None:
    written(disk)
    disk.file_system.kill()
    log = disk.open(clean=False, recovery_point=5)
    assert offsets_of(read_all(log)) == list(range(12))
    assert log.recovery_point == 5


def test_a_new_directory_is_an_empty_log(disk: Disk) -> None:
    log = disk.open()
    assert (log.log_start_offset, log.log_end_offset, len(log.segments)) == (0, 0, 1)


def test_a_torn_last_batch_is_cut_off(disk: Disk) -> None:
    written(disk)
    cut(disk, f"{LAST}.log", 17)
    log = disk.open(clean=False)
    assert offsets_of(read_all(log)) == list(range(11))


@pytest.mark.parametrize("tail", [b"\x5a" * 100, bytes(200), batch()[:9], batch(base_offset=12)[:-1]])
def test_rubbish_at_the_end_is_cut_off(disk: Disk, tail: bytes) -> None:
    written(disk)
    disk.file_system.open(path(disk, f"{LAST}.log")).append([tail])
    log = disk.open(clean=False)
    assert log.log_end_offset == 12
    fill(log, 1)
    assert offsets_of(read_all(log)) == list(range(13))


def test_damage_in_a_middle_segment_ends_the_log_there(disk: Disk) -> None:
    written(disk)
    change(disk, f"{MIDDLE}.log", 450, b"\xff")
    log = disk.open(clean=False)
    assert offsets_of(read_all(log)) == list(range(7))
    assert f"{LAST}.log" not in disk.names()
    assert f"{LAST}.snapshot" not in disk.names()


def test_damage_below_the_recovery_point_is_not_looked_for(disk: Disk) -> None:
    written(disk)
    change(disk, f"{MIDDLE}.log", 450, b"\xff")
    assert disk.open(clean=False, recovery_point=11).log_end_offset == 12


def test_recovery_begins_with_the_segment_of_the_recovery_point(disk: Disk) -> None:
    written(disk)
    change(disk, f"{MIDDLE}.log", 450, b"\xff")
    assert disk.open(clean=False, recovery_point=7).log_end_offset == 7


def test_an_offset_that_goes_back_is_cut_together_with_the_gap_before_it(disk: Disk) -> None:
    disk = Disk()
    written(disk, 10)
    size = disk.file_system.size(path(disk, "00000000000000000000.log")) // 10
    change(disk, "00000000000000000000.log", 4 * size + 7, b"\x0c")  # the fifth batch says 12: a gap before it, and 5 goes back
    assert offsets_of(read_all(disk.open(clean=False))) == [0, 1, 2, 3]


def test_an_offset_below_its_predecessor_is_cut(disk: Disk) -> None:
    disk = Disk()
    written(disk, 10)
    size = disk.file_system.size(path(disk, "00000000000000000000.log")) // 10
    change(disk, "00000000000000000000.log", 4 * size + 7, b"\x01")
    assert offsets_of(read_all(disk.open(clean=False))) == [0, 1, 2, 3]


def test_an_absurd_offset_is_cut(disk: Disk) -> None:
    disk = Disk()
    written(disk, 10)
    size = disk.file_system.size(path(disk, "00000000000000000000.log")) // 10
    change(disk, "00000000000000000000.log", 4 * size, b"\x40")
    assert offsets_of(read_all(disk.open(clean=False))) == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["index", "timeindex"])
@pytest.mark.parametrize(("clean", "recovery_point"), [(True, 12), (False, 0), (False, 12)])
def test_missing_indexes_are_made_anew(disk: Disk, kind: str, clean: bool, recovery_point: int) -> None:
    written(disk).close()
    for name in [name for name in disk.names() if name.endswith(f".{kind}")]:
        disk.file_system.remove(path(disk, name))
    log = disk.open(clean=clean, recovery_point=recovery_point)
    assert offsets_of(read_all(log)) == list(range(12))
    assert log.offset_for_timestamp(1003).result() == (1003, 3, 0)
    assert f"{MIDDLE}.{kind}" in disk.names()


@pytest.mark.parametrize("content", [bytes(64), b"\xff" * 64, b"\1"])
def test_indexes_of_rubbish_lose_nothing_even_after_a_clean_stop(disk: Disk, content: bytes) -> None:
    written(disk).close()
    for name in [name for name in disk.names() if name.endswith("index")]:
        disk.file_system.write_atomically(path(disk, name), content)
    log = disk.open()
    assert offsets_of(read_all(log)) == list(range(12))
    assert log.offset_for_timestamp(1007).result() == (1007, 7, 0)


def test_recovery_makes_the_indexes_that_appending_made(disk: Disk) -> None:
    written(disk).close()
    before = {name: data for name, data in disk.file_system.files_under(disk.directory).items() if name.endswith("index")}
    disk.open(clean=False).close()
    after = {name: data for name, data in disk.file_system.files_under(disk.directory).items() if name.endswith("index")}
    assert after == before


def test_epochs_of_unflushed_batches_are_read_again(disk: Disk) -> None:
    written(disk, 3, leader_epoch=1)
    log = disk.open(clean=False)
    fill(log, 3, leader_epoch=4)
    disk.file_system.write_atomically(path(disk, "leader-epoch-checkpoint"), b"0\n1\n1 0\n")
    assert disk.open(clean=False).leader_epoch_cache.entries == [(1, 0), (4, 3)]


def test_epochs_beyond_the_end_are_dropped(disk: Disk) -> None:
    written(disk, 3, leader_epoch=1).close()
    disk.file_system.write_atomically(path(disk, "leader-epoch-checkpoint"), b"0\n2\n1 0\n7 3\n")
    assert disk.open().leader_epoch_cache.entries == [(1, 0)]


def test_an_epoch_file_that_cannot_be_understood_is_an_error(disk: Disk) -> None:
    written(disk, 3).close()
    disk.file_system.write_atomically(path(disk, "leader-epoch-checkpoint"), b"garbage\n")
    with pytest.raises(MalformedCheckpoint):
        disk.open()


def test_a_log_start_within_a_segment_is_kept(disk: Disk) -> None:
    written(disk).close()
    log = disk.open(log_start_offset=7)
    assert log.log_start_offset == 7
    assert offsets_of(read_all(log)) == list(range(7, 12))


def test_a_log_that_ends_before_its_start_is_emptied(disk: Disk) -> None:
    written(disk).close()
    log = disk.open(log_start_offset=50)
    assert (log.log_start_offset, log.log_end_offset, [segment.base_offset for segment in log.segments]) == (50, 50, [50])


def test_files_waiting_for_removal_are_removed(disk: Disk) -> None:
    log = written(disk)
    log.truncate_to(2)
    log.close()
    disk.open()
    assert not [name for name in disk.names() if "deleted" in name]


def test_an_index_without_log_is_removed(disk: Disk) -> None:
    written(disk).close()
    disk.file_system.remove(path(disk, f"{LAST}.log"))
    assert disk.open().log_end_offset == 10
    assert f"{LAST}.index" not in disk.names()


def rename(disk: Disk, base: str, suffix: str, kinds: tuple[str, ...] = ("log", "index", "timeindex")) -> None:
    for kind in kinds:
        disk.file_system.rename(path(disk, f"{base}.{kind}"), path(disk, f"{base}.{kind}.{suffix}"))


def compacted_file(disk: Disk, suffix: str) -> None:
    """A cleaned segment that replaces the first two: of the offsets 0 to 9 only 4 and 8 are left."""
    file = disk.file_system.open(path(disk, f"00000000000000000000.log.{suffix}"), create=True)
    file.append([batch(base_offset=4), batch(base_offset=8)])


def test_a_half_written_compaction_is_thrown_away(disk: Disk) -> None:
    written(disk).close()
    compacted_file(disk, "cleaned")
    assert offsets_of(read_all(disk.open())) == list(range(12))
    assert not [name for name in disk.names() if "cleaned" in name]


@pytest.mark.parametrize("clean", [True, False])
def test_a_complete_compaction_takes_the_place_of_its_sources(disk: Disk, clean: bool) -> None:
    written(disk).close()
    compacted_file(disk, "swap")
    log = disk.open(clean=clean)
    assert offsets_of(read_all(log)) == [4, 8, 10, 11]
    assert [segment.base_offset for segment in log.segments] == [0, 10]
    assert not [name for name in disk.names() if "swap" in name or "deleted" in name]


def test_a_compaction_whose_sources_are_gone_already_is_completed(disk: Disk) -> None:
    written(disk).close()
    compacted_file(disk, "swap")
    for base in ("00000000000000000000", MIDDLE):
        rename(disk, base, "deleted")
    assert offsets_of(read_all(disk.open())) == [4, 8, 10, 11]


def test_a_swap_beside_a_half_written_part_of_the_same_work_is_thrown_away(disk: Disk) -> None:
    written(disk).close()
    compacted_file(disk, "swap")
    disk.file_system.open(path(disk, "00000000000000000000.log.cleaned"), create=True)
    assert offsets_of(read_all(disk.open())) == list(range(12))


def test_an_index_left_to_be_swapped_only_costs_a_rebuild(disk: Disk) -> None:
    written(disk).close()
    disk.file_system.open(path(disk, f"{MIDDLE}.index.swap"), create=True)
    assert offsets_of(read_all(disk.open())) == list(range(12))
    assert not [name for name in disk.names() if "swap" in name]


def test_a_log_of_old_messages_is_recovered_message_by_message() -> None:
    disk = Disk(message_format_version="0.10.0", index_interval_bytes=50)
    log = disk.open()
    log.append_as_follower(b"".join(message(b"v" * 20, offset=offset) for offset in range(10)))
    cut(disk, "00000000000000000000.log", 5)
    again = disk.open(clean=False)
    assert offsets_of(read_all(again)) == list(range(9))
    assert len(again.active_segment.offset_index) > 0


def test_after_an_upgrade_without_snapshots_nothing_is_scanned(disk: Disk) -> None:
    written(disk).close()
    for name in [name for name in disk.names() if name.endswith(".snapshot")]:
        disk.file_system.remove(path(disk, name))
    disk.open()
    assert [name for name in disk.names() if name.endswith(".snapshot")] == [f"{MIDDLE}.snapshot", f"{LAST}.snapshot", "00000000000000000012.snapshot"]


def test_producers_are_found_again_when_the_newest_snapshot_is_torn(disk: Disk) -> None:
    log = written(disk)
    log.append_as_leader(batch(producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0)
    log.close()
    disk.file_system.write_atomically(path(disk, "00000000000000000013.snapshot"), b"\0\1")
    assert disk.open().append_as_leader(batch(producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0).duplicate


def test_a_crash_during_recovery_does_no_harm(disk: Disk) -> None:
    written(disk)
    cut(disk, f"{LAST}.log", 17)
    disk.open(clean=False)
    assert offsets_of(read_all(disk.open(clean=False))) == list(range(11))


@pytest.mark.parametrize("seed", range(20))
def test_a_loss_of_power_loses_nothing_below_the_recovery_point(seed: int) -> None:
    disk = Disk(segment_bytes=1000, index_interval_bytes=200)
    log = disk.open()
    chance = random.Random(seed)
    for _ in range(chance.randrange(1, 6)):
        fill(log, chance.randrange(1, 8))
        if chance.randrange(2):
            log.flush()
    flushed, end = log.recovery_point, log.log_end_offset
    disk.file_system.crash(random.Random(seed))
    again = disk.open(clean=False, recovery_point=flushed)
    offsets = offsets_of(read_all(again))
    assert offsets == list(range(again.log_end_offset))
    assert flushed <= again.log_end_offset <= end


def test_the_format_of_the_topic_may_change_between_two_lives(disk: Disk) -> None:
    written(disk, 3, leader_epoch=2).close()
    disk.config = replace(disk.config, message_format_version="0.10.0")
    log = disk.open()
    assert log.leader_epoch_cache.entries == []
    assert "leader-epoch-checkpoint" not in disk.names()
    assert offsets_of(read_all(log)) == [0, 1, 2]


@pytest.mark.parametrize("clean", [True, False])
def test_all_batches_that_a_producer_may_have_in_flight_are_known_after_a_restart(clean: bool) -> None:
    disk = Disk(segment_bytes=250, index_interval_bytes=0)  # two batches a segment: they reach back over several
    log = disk.open()
    disk.file_system.now_ms = NOW_MS
    for sequence in range(7):
        log.append_as_leader(batch(producer=(7, 0, sequence), timestamp=NOW_MS), leader_epoch=0)
    assert len(log.segments) == 3
    if clean:
        log.close()
    again = disk.open(clean=clean)
    sent_again = [again.append_as_leader(batch(producer=(7, 0, sequence), timestamp=NOW_MS), leader_epoch=0) for sequence in range(2, 7)]
    assert [(info.duplicate, info.first_offset) for info in sent_again] == [(True, offset) for offset in range(2, 7)]
    with pytest.raises(KafkaError, match="Out of order"):
        again.append_as_leader(batch(producer=(7, 0, 1), timestamp=NOW_MS), leader_epoch=0)
    assert not again.append_as_leader(batch(producer=(7, 0, 7), timestamp=NOW_MS), leader_epoch=0).duplicate


def test_batches_in_flight_are_known_after_a_truncation_to_a_segments_start() -> None:
    disk = Disk(segment_bytes=250, index_interval_bytes=0)
    log = disk.open()
    disk.file_system.now_ms = NOW_MS
    for sequence in range(7):
        log.append_as_leader(batch(producer=(7, 0, sequence), timestamp=NOW_MS), leader_epoch=0)
    log.truncate_to(list(log.segments)[2].base_offset)
    last = log.log_end_offset - 1
    assert last >= 2
    assert log.append_as_leader(batch(producer=(7, 0, last - 1), timestamp=NOW_MS), leader_epoch=0).duplicate


def test_a_quiet_log_is_not_searched_for_batches_in_flight(disk: Disk) -> None:
    log = disk.open()
    disk.file_system.now_ms = NOW_MS
    for sequence in range(200):
        log.append_as_leader(batch(producer=(7, 0, sequence), timestamp=NOW_MS), leader_epoch=0)
    log.close()
    disk.file_system.reads = 0
    disk.clock.advance(3_600_000)
    disk.open()
    assert disk.file_system.reads < 10


def test_the_zeros_of_a_preallocated_segment_end_the_data_after_a_kill() -> None:
    disk = Disk(segment_bytes=3000, preallocate=True)
    log = disk.open()
    fill(log, 30)
    assert disk.file_system.size(log.segments.active.path(".log")) == 3000
    disk.file_system.kill()
    again = disk.open(clean=False)
    assert read_all(again) == read_all(log)
    fill(again, 30)
    assert again.log_end_offset == 60


def test_batches_in_flight_are_looked_for_further_back_where_others_wrote_since() -> None:
    disk = Disk(index_interval_bytes=1000)
    log = disk.open()
    disk.file_system.now_ms = NOW_MS
    for sequence in range(5):
        log.append_as_leader(batch(producer=(7, 0, sequence), timestamp=NOW_MS), leader_epoch=0)
    for _ in range(10):
        log.append_as_leader(batch([(None, b"v" * 30_000)], timestamp=NOW_MS), leader_epoch=0)
    log.close()
    assert disk.open().append_as_leader(batch(producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0).duplicate


def test_the_search_for_batches_in_flight_is_bounded(disk: Disk) -> None:
    disk = Disk(index_interval_bytes=1000)
    log = disk.open()
    disk.file_system.now_ms = NOW_MS
    log.append_as_leader(batch(producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0)
    for _ in range(5000):
        log.append_as_leader(batch(timestamp=NOW_MS), leader_epoch=0)
    log.close()
    disk.file_system.reads = 0
    disk.open()
    assert disk.file_system.reads < 30  # of 8 KiB each
