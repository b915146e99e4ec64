"""Records, logs and seams for the tests of `log/`. The bytes are made here, field by field from the format's table, not by the code under test."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import crc32c as crc32c_library

from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_loader import LoadRequest, load_log
from pykafka_classic.log.log_services import LogServices
from tests.fakes.clock import FakeBackground, FakeClock, SeededRandom
from tests.fakes.file_system import FakeFileSystem

LOG_DIR = "/data"
PARTITION = TopicPartition("flights", 0)
NOW_MS = 1_700_000_000_000


def varint(value: int) -> bytes:
    """Zig-zag."""
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def record(delta: int, key: bytes | None, value: bytes | None, timestamp_delta: int = 0) -> bytes:
    """One record of a magic 2 batch."""
    body = b"\0" + varint(timestamp_delta) + varint(delta)
    for field in (key, value):
        body += varint(-1) if field is None else varint(len(field)) + field
    body += varint(0)
    return varint(len(body)) + body


def batch(
    records: Sequence[tuple[bytes | None, bytes | None]] = ((None, b"value"),),
    *,
    base_offset: int = 0,
    timestamp: int = 1000,
    leader_epoch: int = -1,
    producer: tuple[int, int, int] = (-1, -1, -1),
    attributes: int = 0,
) -> bytes:
    """A magic 2 batch; all records have the same timestamp. `producer`: id, epoch, base sequence."""
    body = b"".join(record(index, key, value) for index, (key, value) in enumerate(records))
    tail = struct.pack(">hiqqqhii", attributes, len(records) - 1, timestamp, timestamp, *producer, len(records)) + body
    crc = crc32c_library.crc32c(tail)
    return struct.pack(">qiibI", base_offset, 9 + len(tail), leader_epoch, 2, crc) + tail


def marker(
    *, producer_id: int, producer_epoch: int, commit: bool, coordinator_epoch: int = 0, base_offset: int = 0, leader_epoch: int = -1, timestamp: int = 1000
) -> bytes:
    """A control batch that ends a transaction."""
    key, value = struct.pack(">hh", 0, int(commit)), struct.pack(">hi", 0, coordinator_epoch)
    producer = (producer_id, producer_epoch, -1)
    return batch([(key, value)], base_offset=base_offset, timestamp=timestamp, leader_epoch=leader_epoch, producer=producer, attributes=0x30)


def message(value: bytes | None, *, offset: int = 0, timestamp: int | None = 1000, key: bytes | None = None) -> bytes:
    """A magic 1 message, or magic 0 with `timestamp=None`."""
    body = struct.pack(">bb", 0, 0) if timestamp is None else struct.pack(">bbq", 1, 0, timestamp)
    for field in (key, value):
        body += struct.pack(">i", -1) if field is None else struct.pack(">i", len(field)) + field
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


class Disk:
    """A log directory on a fake file system, and logs in it that can be closed, killed and opened again."""

    def __init__(self, **config: object) -> None:
        self.file_system = FakeFileSystem()
        self.file_system.make_directory(LOG_DIR)
        self.clock = FakeClock(NOW_MS)
        self.background = FakeBackground()
        self.config = replace(LogConfig(), **config)  # type: ignore[arg-type]
        self.storage_errors: list[tuple[str, OSError]] = []
        self.services = self.new_services()

    def new_services(self) -> LogServices:
        """Those of a new process."""
        return LogServices(
            self.file_system, self.clock, self.background, SeededRandom(1), on_storage_error=lambda path, error: self.storage_errors.append((path, error))
        )

    @property
    def directory(self) -> str:
        """Of the partition."""
        return f"{LOG_DIR}/{PARTITION}"

    def open(self, *, clean: bool = True, recovery_point: int = 0, log_start_offset: int = 0) -> Log:
        """Load the log as a new process would."""
        self.services = self.new_services()
        is_new = not self.file_system.is_directory(self.directory)
        self.file_system.make_directory(self.directory)
        request = LoadRequest(
            self.directory, PARTITION, self.config, clean=clean, recovery_point=recovery_point, log_start_offset=log_start_offset, is_new=is_new
        )
        return Log(self.services, self.directory, PARTITION, self.config, load_log(self.services, request))

    def names(self) -> list[str]:
        """Files of the partition."""
        return self.file_system.list(self.directory)


def fill(log: Log, count: int, *, size: int = 100, timestamp: int = 1000, leader_epoch: int = 0, records: int = 1) -> None:
    """Append `count` batches of `records` records each, timestamps rising by one."""
    for number in range(count):
        log.append_as_leader(batch([(b"key", b"v" * size)] * records, timestamp=timestamp + number), leader_epoch=leader_epoch)
    log.update_high_watermark(log.log_end_offset)


def read_all(log: Log, *, start: int | None = None) -> bytes:
    """Every byte from an offset to the end."""
    offset = log.log_start_offset if start is None else start
    data = b""
    while offset < log.log_end_offset:
        info = log.read(offset, max_length=1 << 20, max_offset=log.log_end_offset, min_one_message=True)
        if info.records is None:
            break
        part = info.records.read()
        data += part
        offset = offsets_of(part)[-1] + 1
    return data


def offsets_of(data: bytes) -> list[int]:
    """The last offset of each batch in a buffer, read from the bytes."""
    offsets, position = [], 0
    while position + 17 <= len(data):
        offset, size = struct.unpack_from(">qi", data, position)
        if data[position + 16] == 2:
            offset += struct.unpack_from(">i", data, position + 23)[0]
        offsets.append(offset)
        position += 12 + size
    return offsets


def sizes(files: Mapping[str, bytes]) -> dict[str, int]:
    """Name to size."""
    return {name.rpartition("/")[2]: len(data) for name, data in files.items()}
