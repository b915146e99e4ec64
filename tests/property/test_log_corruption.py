"""One byte of a log directory changes behind the log's back: it is noticed, or it does no harm.

"Noticed" is what a reader does: a follower that appends what it is given, or a consumer that compares checksums. Whatever they accept must be what was written.

What no checksum covers: of a batch its base offset and its leader epoch (storage.md 1.2). A wrong leader epoch is harmless to records; a base offset that goes
backwards is refused by followers and cut by recovery; one that jumps ahead in the last batch of all cannot be told from a gap by anybody, in Kafka neither.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.log.batch_header import iterate_headers
from pykafka_classic.log.log import Log
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.compression import GZIP, NONE
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import iterate_batches
from tests.unit.log.helpers import LOG_DIR, Disk, message, read_all

UNCOVERED = {*range(8), *range(12, 16)}  # of a magic 2 batch: base offset, leader epoch
LENGTH = range(8, 12)
LEGACY_UNCOVERED = {*range(8)}

Records = list[tuple[int, int, bytes | None, bytes | None]]


def written_log(magic: int) -> Disk:
    """Several segments of several batches, stopped cleanly. Timestamps rise, and are never the same."""
    disk = Disk(segment_bytes=900, index_interval_bytes=150, message_format_version={0: "0.9.0", 1: "0.10.0", 2: "2.8"}[magic])
    log = disk.open()
    for number in range(14):
        if magic == 2:
            records = [Record(index, 1000 + 10 * number + index, b"k%d" % number, bytes([65 + number]) * (20 * index + 30)) for index in range(3)]
            log.append_as_leader(build_batch(records, BatchFields(codec=GZIP if number % 3 == 1 else NONE)), leader_epoch=2)
        else:
            log.append_as_leader(message(b"%d " % number * 30, timestamp=None if magic == 0 else 1000 + 10 * number), leader_epoch=2)
    log.update_high_watermark(log.log_end_offset)
    log.close()
    return disk


WRITTEN = {magic: written_log(magic) for magic in (0, 1, 2)}


def decoded(data: bytes) -> Records:
    return [(record.offset, record.timestamp, record.key, record.value) for batch in iterate_batches(data) for record in batch.records()]


ORIGINAL = {magic: decoded(read_all(disk.open())) for magic, disk in WRITTEN.items()}
assert all(len(records) >= 14 for records in ORIGINAL.values())


def copy_of(magic: int) -> Disk:
    """The same directory again, to be damaged."""
    source, disk = WRITTEN[magic], Disk()
    disk.config = source.config
    disk.file_system.make_directory(disk.directory)
    for name, data in source.file_system.files_under(LOG_DIR).items():
        file = disk.file_system.open(f"{LOG_DIR}/{name.removeprefix(LOG_DIR).lstrip('/')}", create=True)
        file.append([data])
        file.sync()
    return disk


def flip(disk: Disk, suffix: str, pick: int, bits: int) -> tuple[str, int]:
    """Change a byte of a file of that kind; its name and position."""
    names = [name for name in disk.names() if name.endswith(suffix) and disk.file_system.size(f"{disk.directory}/{name}")]
    sizes = [disk.file_system.size(f"{disk.directory}/{name}") for name in names]
    pick %= sum(sizes)
    for name, size in zip(names, sizes, strict=True):
        if pick < size:
            file = disk.file_system.open(f"{disk.directory}/{name}")
            file.write_at(pick, bytes([file.read_at(pick, 1)[0] ^ bits]))
            return name, pick
        pick -= size
    raise AssertionError("not reached")


def place_in_batch(magic: int, name: str, position: int) -> int:
    """Which byte of its batch that is."""
    data = WRITTEN[magic].file_system.read(f"{WRITTEN[magic].directory}/{name}")
    return next(position - header.position for header in iterate_headers(data) if position < header.position + header.size)


def replicated(log: Log) -> Records:
    """What a follower has after it fetched as far as it could, batch by batch."""
    follower = Disk(segment_bytes=10_000).open()
    try:
        while follower.log_end_offset < log.log_end_offset:
            info = log.read(follower.log_end_offset, max_length=1, max_offset=log.log_end_offset, min_one_message=True)
            if info.records is None or not follower.append_as_follower(info.records.read()).size:
                break
    except KafkaError:
        return decoded(read_all(follower))
    return decoded(read_all(follower))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([0, 1, 2]), st.integers(0, 1 << 20), st.integers(1, 255))
def test_a_damaged_segment_gives_a_follower_nothing_wrong(magic: int, pick: int, bits: int) -> None:
    disk = copy_of(magic)
    name, position = flip(disk, ".log", pick, bits)
    log = disk.open()
    place = place_in_batch(magic, name, position)
    got, original = replicated(log), ORIGINAL[magic]
    if place in (LEGACY_UNCOVERED if magic < 2 else set(range(8))):
        assert [one[1:] for one in got] == [one[1:] for one in original[: len(got)]] or all(one[1:] in [each[1:] for each in original] for one in got)
    elif magic == 2 and place in UNCOVERED:
        assert got == original
    else:
        assert got == original[: len(got)]
        assert len(got) < len(original), "a damaged batch was taken"


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([0, 1, 2]), st.integers(0, 1 << 20), st.integers(1, 255))
def test_recovery_keeps_only_what_was_written(magic: int, pick: int, bits: int) -> None:
    disk = copy_of(magic)
    name, position = flip(disk, ".log", pick, bits)
    log = disk.open(clean=False)
    place = place_in_batch(magic, name, position)
    got, original = decoded(read_all(log)), ORIGINAL[magic]
    if place in range(8):
        assert [one[1:] for one in got] == [one[1:] for one in original[: len(got)]]
    elif magic == 2 and place in UNCOVERED:
        assert got == original
    else:
        assert got == original[: len(got)]
        assert len(got) < len(original)
    info = log.append_as_leader(message(b"next", timestamp=None if magic == 0 else 9000), leader_epoch=3)
    assert info.first_offset == log.log_end_offset - 1


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([1, 2]), st.sampled_from([".index", ".timeindex"]), st.integers(0, 1 << 20), st.integers(1, 255))
def test_a_damaged_index_hides_no_offset_and_invents_none(magic: int, suffix: str, pick: int, bits: int) -> None:
    disk = copy_of(magic)
    flip(disk, suffix, pick, bits)
    log = disk.open()
    assert decoded(read_all(log)) == ORIGINAL[magic]
    for offset in range(log.log_end_offset):
        info = log.read(offset, max_length=1, max_offset=log.log_end_offset, min_one_message=True)
        assert info.records is not None
        assert offset in [one[0] for one in decoded(info.records.read())]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([1, 2]), st.integers(0, 1 << 20), st.integers(1, 255))
def test_a_damaged_index_makes_no_lookup_by_time_skip_a_record(magic: int, pick: int, bits: int) -> None:
    disk = copy_of(magic)
    flip(disk, ".index", pick, bits)
    log = disk.open()
    for offset, timestamp, _, _ in ORIGINAL[magic]:
        assert log.offset_for_timestamp(timestamp).result() == (timestamp, offset, 2 if magic == 2 else None)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([1, 2]), st.integers(0, 1 << 20), st.integers(1, 255))
def test_a_damaged_time_index_makes_no_lookup_by_time_skip_a_record(magic: int, pick: int, bits: int) -> None:
    disk = copy_of(magic)
    flip(disk, ".timeindex", pick, bits)
    log = disk.open()
    for offset, timestamp, _, _ in ORIGINAL[magic]:
        assert log.offset_for_timestamp(timestamp).result() == (timestamp, offset, 2 if magic == 2 else None)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 20), st.integers(1, 255))
def test_a_damaged_producer_snapshot_changes_no_producer(pick: int, bits: int) -> None:
    disk = Disk(segment_bytes=600)
    log = disk.open()
    for number in range(9):
        records = [Record(0, disk.clock.now_ms(), b"k", b"v" * 100)]
        fields = BatchFields(producer_id=number % 2, producer_epoch=1, base_sequence=number // 2)
        log.append_as_leader(build_batch(records, fields), leader_epoch=0)
    known = {each.producer_id: (each.producer_epoch, each.last_sequence, each.last_offset) for each in log.producers.producers.values()}
    log.close()
    flip(disk, ".snapshot", pick, bits)
    again = disk.open()
    assert {each.producer_id: (each.producer_epoch, each.last_sequence, each.last_offset) for each in again.producers.producers.values()} == known
