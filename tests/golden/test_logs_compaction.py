"""Our cleaner and Apache's, given the same segments: golden/logs/compacted has what Apache's read (files that wait for their removal) and what it wrote.

compacted-txn is left out: several passes went over it, and what the first ones read is no more.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log import names
from pykafka_classic.log.cleaner_config import CleanerConfig
from pykafka_classic.log.log_cleaner import LogCleaner
from pykafka_classic.records.record_batch import iterate_batches
from tests.golden.log_data import Recording

ROOT = "data"
SETTINGS = {"log.segment.bytes": "2000", "log.index.interval.bytes": "300", "log.cleanup.policy": "compact", "log.cleaner.min.cleanable.ratio": "0.01"}
SAME_BYTES = ["compacted", "compacted-tombstones-gone", "compacted-lag", "compacted-m1"]
COMPRESSED = ["compacted-gzip", "compacted-m1-gzip", "compacted-m0-snappy"]  # by another library: the bytes may differ, what they unpack to may not


@pytest.mark.parametrize("topic", SAME_BYTES)
def test_our_cleaner_writes_the_bytes_that_apaches_wrote(topic: str) -> None:
    before, apaches, ours = cleaned(topic)
    assert before != apaches
    assert ours == apaches


@pytest.mark.parametrize("topic", COMPRESSED)
def test_our_cleaner_keeps_the_batches_and_records_that_apaches_kept(topic: str) -> None:
    before, apaches, ours = cleaned(topic)
    assert before.keys() == apaches.keys() == ours.keys()
    for name, data in apaches.items():
        assert list(rows(ours[name])) == list(rows(data))
    assert sum(map(len, ours.values())) < sum(map(len, before.values())) / 2


def rows(data: bytes) -> Iterator[tuple[object, ...]]:
    for batch in iterate_batches(data):
        records = [(record.offset, record.timestamp, record.key, record.value) for record in batch.records()]
        yield batch.base_offset, batch.last_offset, batch.magic, batch.codec, batch.timestamp_type, batch.max_timestamp, batch.is_valid(), records


def cleaned(topic: str) -> tuple[dict[str, bytes], dict[str, bytes], dict[str, bytes]]:
    """The .log files before, after Apache's cleaner, and after ours."""
    recording = Recording("compacted", ROOT)
    partition = TopicPartition(topic, 0)
    directory = f"{recording.log_dirs[0]}/{partition}"
    apaches = {name: data for name, data in recording.files(directory).items() if name.endswith(names.LOG)}
    before = {name: recording.files(directory).get(name + names.DELETED, data) for name, data in apaches.items()}
    for name, data in before.items():
        recording.file_system.write_atomically(f"{directory}/{name}", data)
    for name in recording.files(directory):
        if names.INDEX[1:] in name:  # they belong to the cleaned segments
            recording.file_system.remove(f"{directory}/{name}")
    format_version = {"m0": "0.8.2", "m1": "0.10.0"}.get(topic.split("-")[1] if "-" in topic else "", "2.8")
    manager = recording.load(**{"log.message.format.version": format_version}, **SETTINGS)
    log = manager.get_log(partition)
    assert log is not None
    log.update_high_watermark(log.log_end_offset)
    cleaner = LogCleaner(manager.services, CleanerConfig(), {partition: log})
    assert spawn(cleaner.clean_filthiest()).result()
    return before, apaches, {name: data for name, data in recording.files(directory).items() if name.endswith(names.LOG)}
