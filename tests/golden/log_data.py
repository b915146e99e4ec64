"""Kafka's own data directories on a fake file system, loaded by our log manager."""

from __future__ import annotations

import base64
import json
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.log_services import LogSeams
from pykafka_classic.records.record_batch import AnyBatch, iterate_batches
from tests.fakes.clock import FakeBackground, FakeClock, SeededRandom
from tests.fakes.file_system import FakeFileSystem

DATA = Path(__file__).parent / "data" / "logs"
RECORDED_MS = 1_795_240_000_000  # shortly after the recordings of November 2026, whose records are of September 2020

SETTINGS = {
    "zookeeper.connect": "none",
    "log.retention.ms": "-1",
    "log.index.size.max.bytes": "4096",
    "log.segment.bytes": "3000",
    "log.index.interval.bytes": "200",
}


class ReadRecord(NamedTuple):
    """A record as a consumer gets it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@cache
def members(scenario: str) -> dict[str, bytes]:
    """All files of a recording by path."""
    with tarfile.open(DATA / f"{scenario}.tar.gz") as archive:
        return {member.name.partition("/")[2]: archive.extractfile(member).read() for member in archive if member.isfile()}  # type: ignore[union-attr]


def directories(scenario: str) -> list[str]:
    """Directories of a recording, empty ones too."""
    with tarfile.open(DATA / f"{scenario}.tar.gz") as archive:
        return [member.name.partition("/")[2] for member in archive if member.isdir()]


def json_of(scenario: str, name: str) -> Any:
    """A JSON file of a recording."""
    return json.loads(members(scenario)[name])


class Recording:
    """A copy of one recorded broker's directories."""

    def __init__(self, scenario: str, root: str, log_dirs: tuple[str, ...] = ("",)) -> None:
        self.scenario = scenario
        self.file_system = FakeFileSystem()
        self.clock = FakeClock(RECORDED_MS)
        self.log_dirs = [f"/{root}/{log_dir}".rstrip("/") for log_dir in log_dirs]
        for name in directories(scenario):
            self.file_system.make_directory(f"/{name}".rstrip("/") or "/")
        for name, data in members(scenario).items():
            if name.startswith(f"{root}/"):
                self.file_system.write_atomically(f"/{name}", data)

    def load(self, **properties: str) -> LogManager:
        """A new broker's log manager over it, loaded."""
        config = KafkaConfig.from_properties({**SETTINGS, **{key.replace("_", "."): value for key, value in properties.items()}})
        manager = LogManager(self.log_dirs, LogSeams(self.file_system, self.clock, FakeBackground(), SeededRandom()), config)
        manager.load().result()
        return manager

    def files(self, directory: str) -> dict[str, bytes]:
        """The files of one directory."""
        return {name.rpartition("/")[2]: data for name, data in self.file_system.files_under(directory).items()}


def batches_of(log: Log) -> Iterator[AnyBatch]:
    """All batches, through the log's reads."""
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        info = log.read(offset, max_length=1 << 20, max_offset=log.log_end_offset, min_one_message=True)
        if info.records is None:
            return
        for batch in iterate_batches(info.records.read()):
            yield batch
            offset = batch.last_offset + 1


def records_of(log: Log) -> list[ReadRecord]:
    """What a read_uncommitted consumer gets."""
    return [
        ReadRecord(record.offset, record.timestamp, record.key, record.value, tuple((header.key, header.value) for header in record.headers))
        for batch in batches_of(log)
        if not batch.is_control
        for record in batch.records()
        if record.offset >= log.log_start_offset
    ]


def expected_records(scenario: str, name: str) -> dict[TopicPartition, list[ReadRecord]]:
    """What Kafka's consumer got."""
    expected: dict[TopicPartition, list[ReadRecord]] = defaultdict(list)
    for line in members(scenario)[name].splitlines():
        fields = json.loads(line)
        headers = tuple((key, _bytes(value)) for key, value in (h.values() if isinstance(h, dict) else h for h in fields["headers"]))
        record = ReadRecord(fields["offset"], fields["timestamp"], _bytes(fields["key"]), _bytes(fields["value"]), headers)
        expected[TopicPartition(fields["topic"], fields["partition"])].append(record)
    return {partition: sorted(records) for partition, records in expected.items()}


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
