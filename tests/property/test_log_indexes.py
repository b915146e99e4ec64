"""An index lookup finds what a walk over all batches finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pykafka_classic.log.batch_header import BatchHeader, iterate_headers
from pykafka_classic.log.log_segment import LogSegment
from pykafka_classic.log.offset_index import OffsetIndex
from pykafka_classic.log.segment_times import first_batch_not_before
from pykafka_classic.log.time_index import TimestampOffset
from tests.fakes.file_system import FakeFileSystem
from tests.unit.log.helpers import LOG_DIR, Disk, batch

BASE = 1000

# gap before the batch, records in it, size of a value, timestamp
BATCHES = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(0, 200), st.integers(0, 500)), min_size=1, max_size=40)


def filled(batches: list[tuple[int, int, int, int]], interval: int) -> tuple[LogSegment, list[BatchHeader]]:
    disk = Disk(index_interval_bytes=interval)
    segment = LogSegment.create(disk.services, LOG_DIR, BASE, disk.config)
    offset, position, written = BASE, 0, []
    for gap, count, size, timestamp in batches:
        offset += gap
        data = batch([(None, b"v" * size)] * count, base_offset=offset, timestamp=timestamp)
        (header,) = iterate_headers(data)
        segment.append([data], [header], TimestampOffset(timestamp, header.last_offset))
        written.append(header._replace(position=position))
        offset, position = offset + count, position + len(data)
    segment.close()
    again = LogSegment.load(disk.services, LOG_DIR, BASE, disk.config)
    return again, written


@settings(max_examples=100)
@given(BATCHES, st.integers(0, 1000))
def test_every_offset_is_translated_as_a_linear_walk_would(batches: list[tuple[int, int, int, int]], interval: int) -> None:
    segment, written = filled(batches, interval)
    for offset in range(BASE, written[-1].last_offset + 2):
        expected = next((header for header in written if header.last_offset >= offset), None)
        found = segment.translate_offset(offset)
        assert (found and (found.last_offset, found.position, found.size)) == (expected and (expected.last_offset, expected.position, expected.size))


@settings(max_examples=100)
@given(BATCHES, st.integers(0, 1000), st.integers(0, 510))
def test_a_time_is_found_as_a_linear_walk_would(batches: list[tuple[int, int, int, int]], interval: int, timestamp: int) -> None:
    segment, written = filled(batches, interval)
    expected = next((header for header in written if header.max_timestamp >= timestamp), None)
    found = first_batch_not_before(segment, timestamp, BASE)
    assert (found and found.base_offset) == (expected and expected.base_offset)


@settings(max_examples=100)
@given(st.sets(st.integers(0, 1000), max_size=50), st.integers(-5, 1100))
def test_the_greatest_entry_not_above_is_found(relative_offsets: set[int], target: int) -> None:
    file_system = FakeFileSystem()
    file_system.make_directory("/data")
    index = OffsetIndex(file_system, "/data/00000000000000001000.index", BASE, 1 << 20)
    index.reset()
    entries = [(BASE + relative, 10 * (number + 1)) for number, relative in enumerate(sorted(relative_offsets))]
    for offset, position in entries:
        index.append(offset, position)
    expected = max((entry for entry in entries if entry[0] <= BASE + target), default=(BASE, 0))
    assert index.lookup(BASE + target) == expected
    index.write_pending()
    index.unload()
    assert index.lookup(BASE + target) == expected
