"""A log dir with a log of every kind, written by our log on a real disk without a broker, and what a client must find in it.

What is expected comes from what was put in, not from what our log reads.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.disk import DiskFileSystem
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.cleaner_config import CleanerConfig
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_cleaner import LogCleaner
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.log_services import LogSeams
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.message_set import build_message_set
from pykafka_classic.records.record import Header, Record
from tests.fakes.clock import FakeBackground, FakeClock, SeededRandom

CODECS: Final = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
FORMATS: Final = {0: "0.9.0", 1: "0.10.0", 2: "2.8"}
SMALL: Final = {"segment.bytes": "2500", "index.interval.bytes": "300"}
COMPACT: Final = {**SMALL, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.bytes": "1500"}
KEYS: Final = 7
TRANSACTIONAL: Final = (2000, 2001)  # producer ids

Row = tuple[int, int, bytes | None, bytes | None]  # offset, timestamp (0 where there is none, as librdkafka says), key, value


@dataclass
class Topic:
    """One partition, and what is in it."""

    name: str
    config: Mapping[str, str]
    uncommitted: list[Row] = field(default_factory=list)  # what read_uncommitted consumers must find
    hidden: set[int] = field(default_factory=set)  # offsets of aborted records, and of open ones
    end: int = 0

    @property
    def compacted(self) -> bool:
        """Older records of a key may be gone."""
        return "compact" in self.config.get("cleanup.policy", "")

    @property
    def committed(self) -> list[Row]:
        """What read_committed consumers must find."""
        return [row for row in self.uncommitted if row[0] not in self.hidden]

    def newest(self) -> dict[bytes | None, Row]:
        """By key, of what is committed."""
        return {row[2]: row for row in self.committed}


class Directory:
    """The log dir in the making."""

    def __init__(self, path: Path, topics: Iterable[Topic] = ()) -> None:
        self.path = path
        self.now_ms = time.time_ns() // 1_000_000
        self.topics: dict[str, Topic] = {topic.name: topic for topic in topics}
        self._file_system = DiskFileSystem()
        overrides = {topic.name: topic.config for topic in self.topics.values()}
        seams = LogSeams(self._file_system, FakeClock(self.now_ms), FakeBackground(), SeededRandom())
        self.manager = LogManager([str(path)], seams, KafkaConfig.from_properties({"zookeeper.connect": "none"}), overrides)
        self.manager.load().result()
        self.settle()

    def log(self, name: str) -> Log:
        """A topic's log."""
        found = self.manager.get_log(TopicPartition(name, 0))
        assert found is not None
        return found

    def make(self, name: str, config: Mapping[str, str]) -> Topic:
        """A topic with one partition."""
        topic = self.topics[name] = Topic(name, config)
        self.manager.update_topic_config(name, config)
        self.manager.get_or_create_log(TopicPartition(name, 0)).leader_epoch_cache.assign(0, 0)
        return topic

    def put(self, topic: Topic, batch: bytes, records: Sequence[Record], *, hidden: bool = False, told_time: bool = True) -> None:
        """Append a batch; its records are expected at the offsets that follow."""
        self.log(topic.name).append_as_leader(batch, leader_epoch=0)
        for record in records:
            topic.uncommitted.append((topic.end, record.timestamp if told_time else 0, record.key, record.value))
            if hidden:
                topic.hidden.add(topic.end)
            topic.end += 1

    def end_transaction(self, topic: Topic, producer_id: int, *, commit: bool) -> None:
        """Append a marker."""
        record = Record(0, self.now_ms, struct.pack(">hh", 0, int(commit)), struct.pack(">hi", 0, 0))
        marker = build_batch([record], BatchFields(producer_id=producer_id, producer_epoch=0, is_transactional=True, is_control=True))
        self.log(topic.name).append_as_leader(marker, leader_epoch=0, origin=AppendOrigin.COORDINATOR)
        topic.end += 1

    def settle(self) -> None:
        """All of it is replicated: there are no other replicas."""
        for one in self.manager.all_logs():
            one.update_high_watermark(one.log_end_offset)

    def compact(self) -> None:
        """Clean all that may be cleaned."""
        logs = {one.topic_partition: one for one in self.manager.all_logs() if one.config.compact}
        cleaner = LogCleaner(self.manager.services, CleanerConfig(), logs)
        cleaner._clean_offsets[str(self.path)] = cleaner._read_checkpoint(str(self.path))
        while spawn(cleaner.clean_filthiest()).result():
            pass
        assert not cleaner._uncleanable

    def stop(self) -> None:
        """A clean end."""
        self.manager.shutdown().result()
        self._file_system.unlock_all()

    def kill(self) -> None:
        """The end of the process: checkpoints that lag behind, no marker, index entries that were never written."""
        self._file_system.unlock_all()


def records(now_ms: int, start: int, count: int = 5, *, headers: bool = False) -> list[Record]:
    """Keys that come again, values that do not."""
    return [
        Record(index, now_ms + start + index, b"key-%d" % ((start + index) % KEYS), b"value %d of this topic" % (start + index), (Header("h", b"v"),) * headers)
        for index in range(count)
    ]


def write_all(path: Path, *, compacted: bool = True) -> Directory:
    """Every kind of log below `path`; the manager is still running. Not `compacted`: compacted topics are left as they were written."""
    directory = Directory(path)
    for topic_name, magic, codec in formats():
        write_format(directory, directory.make(topic_name, {**SMALL, "message.format.version": FORMATS[magic]}), magic, codec)
        directory.settle()
        directory.manager.checkpoint_high_watermarks().result()
    write_idempotent(directory)
    write_transactional(directory, directory.make("transactional", SMALL))
    write_deleted_records(directory)
    write_append_time(directory)
    directory.make("empty", SMALL)
    for topic_name, magic, codec in formats("compacted-"):
        write_format(directory, directory.make(topic_name, {**COMPACT, "message.format.version": FORMATS[magic]}), magic, codec)
    write_tombstones(directory)
    write_transactional(directory, directory.make("compacted-transactional", {**COMPACT, "delete.retention.ms": "0"}))
    directory.settle()
    if compacted:
        directory.compact()
    return directory


def formats(prefix: str = "") -> Iterator[tuple[str, int, int]]:
    """Topic name, magic and codec."""
    for magic in FORMATS:
        for name, codec in CODECS.items():
            if magic == 2 or name != "zstd":
                yield f"{prefix}magic-{magic}-{name}", magic, codec


def write_format(directory: Directory, topic: Topic, magic: int, codec: int) -> None:
    for start in range(0, 200, 5):
        some = records(directory.now_ms, start, headers=magic == 2)
        batch = build_batch(some, BatchFields(codec=codec)) if magic == 2 else build_message_set(magic, some, codec=codec)
        directory.put(topic, batch, some, told_time=magic > 0)


def write_idempotent(directory: Directory) -> None:
    topic = directory.make("idempotent", SMALL)
    for number in range(40):
        some = records(directory.now_ms, 5 * number)
        fields = BatchFields(codec=number % 5, producer_id=1000 + number % 3, producer_epoch=0, base_sequence=5 * (number // 3))
        directory.put(topic, build_batch(some, fields), some)


def write_more_compacted(directory: Directory) -> None:
    """New values for the keys of all compacted topics, and one of a producer without id behind its transactions."""
    for topic_name, magic, codec in formats("compacted-"):
        write_format(directory, directory.topics[topic_name], magic, codec)
    for name in ("compacted-tombstones", "compacted-transactional"):
        write_format(directory, directory.topics[name], 2, 0)
    directory.settle()


def write_transactional(directory: Directory, topic: Topic) -> None:
    """Interleaved transactions of two producers, every third aborted; in the end one that stays open, where the topic is not compacted."""
    for number in range(24 + (not topic.compacted)):
        is_open = number == 24
        for producer_id in TRANSACTIONAL:
            for each in range(2):
                some = records(directory.now_ms, 4 * number + producer_id, 3)
                fields = BatchFields(producer_id=producer_id, producer_epoch=0, base_sequence=6 * number + 3 * each, is_transactional=True)
                directory.put(topic, build_batch(some, fields), some, hidden=is_open or (number + producer_id) % 3 == 0)
        for producer_id in TRANSACTIONAL if not is_open else ():
            directory.end_transaction(topic, producer_id, commit=(number + producer_id) % 3 != 0)


def write_deleted_records(directory: Directory) -> None:
    topic = directory.make("deleted-records", SMALL)
    write_format(directory, topic, 2, 0)
    directory.settle()
    directory.log(topic.name).maybe_increment_log_start_offset(102)
    topic.uncommitted = [row for row in topic.uncommitted if row[0] >= 102]
    directory.manager.checkpoint_log_start_offsets().result()


def write_append_time(directory: Directory) -> None:
    topic = directory.make("append-time", {**SMALL, "message.timestamp.type": "LogAppendTime"})
    for start in range(0, 100, 5):
        some = records(5_000_000, start)
        directory.put(topic, build_batch(some, BatchFields(codec=start % 4)), [record._replace(timestamp=directory.now_ms) for record in some])


def write_tombstones(directory: Directory) -> None:
    topic = directory.make("compacted-tombstones", {**COMPACT, "delete.retention.ms": "0"})
    for start in range(0, 200, 5):
        some = [record._replace(value=None) if record.key == b"key-3" else record for record in records(directory.now_ms, start)]
        directory.put(topic, build_batch(some), some)
