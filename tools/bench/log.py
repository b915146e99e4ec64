"""What the log takes: appending, reading, opening, recovering, compacting, each beside the bare system calls. `log.py [part ...]`.

Files lie in a temporary folder (TMPDIR). Best of several rounds where that makes sense: other processes only ever make it slower.
"""

from __future__ import annotations

import logging
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.crc32c import crc32c
from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.disk import DiskFileSystem
from pykafka_classic.log.cleaner_config import CleanerConfig
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_cleaner import LogCleaner
from pykafka_classic.log.log_loader import LoadRequest, load_log
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.log_services import LogSeams, LogServices
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import build_batch

T = TypeVar("T")

MB: Final = 1_000_000
ROUNDS: Final = 5
BATCH_RECORDS: Final = 16  # of a kilobyte: a producer's default batch.size
TOTAL_BYTES: Final = 256 * MB
READ_BYTES: Final = 1 << 20
PARTITIONS: Final = 2_000
PARTITION: Final = TopicPartition("bench", 0)


class Now:
    """The `Background` seam without threads: what is measured is the work."""

    def run(self, work: Callable[[], T]) -> Promise[T]:
        """Run it at once."""
        promise: Promise[T] = Promise()
        try:
            promise.resolve(work())
        except OSError as error:
            promise.fail(error)
        return promise


class WallClock:
    """The `Clock` seam without timers."""

    def now_ms(self) -> int:
        """The system's."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> float:
        """The system's."""
        return time.monotonic() * 1000

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> WallClock:  # noqa: ARG002  # nothing here is due before the end
        """Never calls."""
        return self

    def cancel(self) -> None:
        """Nothing to forget."""


def services() -> LogServices:
    """Those of a new process."""
    return LogServices(DiskFileSystem(), WallClock(), Now(), random.Random(1))


def open_log(directory: Path, config: LogConfig, *, clean: bool = True) -> Log:
    """The log in `directory/bench-0`, made if need be."""
    path = directory / str(PARTITION)
    is_new = not path.exists()
    path.mkdir(exist_ok=True)
    own = services()
    request = LoadRequest(str(path), PARTITION, config, clean=clean, recovery_point=0, log_start_offset=0, is_new=is_new)
    return Log(own, str(path), PARTITION, config, load_log(own, request))


def a_batch(number: int = 0, *, keys: int = 0) -> bytes:
    """16 records of a kilobyte; `keys`: so many different ones, in no order."""
    noise = os.urandom(900)
    key = (lambda index: b"key-%08d" % ((number * BATCH_RECORDS + index) * 7919 % keys)) if keys else (lambda _: None)
    return build_batch([Record(index, 1_600_000_000_000 + index, key(index), noise + b"x" * 85) for index in range(BATCH_RECORDS)])


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def processor_seconds(work: Callable[[], object]) -> float:
    """What one call takes of a processor, in Python and in the kernel: for comparing two ways to the page cache on a machine that has other work too."""
    began = time.process_time()
    work()
    return time.process_time() - began


def in_new_directory(work: Callable[[Path], float]) -> float:
    """What `work` measures in an empty folder, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="pykafka-bench-") as directory:
        return work(Path(directory))


def best(work: Callable[[Path], float]) -> float:
    """The shortest of several rounds, each with files of its own."""
    return min(in_new_directory(work) for _ in range(ROUNDS))


def bench_append() -> None:
    """A leader's append, from the producer's bytes to the file, against checksum and `os.write` of the same bytes."""
    batch = a_batch()
    count = TOTAL_BYTES // len(batch)

    def ours(directory: Path) -> float:
        log, view = open_log(directory, LogConfig()), memoryview(batch)

        def append_all() -> None:
            for _ in range(count):
                log.append_as_leader(view, leader_epoch=1)

        return processor_seconds(append_all)

    def bare(directory: Path) -> float:
        descriptor = os.open(directory / "bare", os.O_WRONLY | os.O_CREAT)

        def write_all() -> None:
            for _ in range(count):
                crc32c(batch)
                os.write(descriptor, batch)

        try:
            return processor_seconds(write_all)
        finally:
            os.close(descriptor)

    took, least = best(ours), best(bare)
    size = count * len(batch) / MB
    print(
        f"append of {len(batch)} byte batches: {size / took:.0f} MB/s, {took / count * 1e6:.1f} us each; os.write with CRC: {size / least:.0f} MB/s, "
        f"{least / count * 1e6:.1f} us; {took / least:.2f} times as long (aim: within 2)"
    )


def bench_read() -> None:
    """Reading everything from start to end, a megabyte at a time, against `os.pread` of the same file."""
    batch = a_batch()
    count = TOTAL_BYTES // len(batch)

    def compare(directory: Path) -> float:
        log = open_log(directory, LogConfig())
        for _ in range(count):
            log.append_as_leader(batch, leader_epoch=1)
        log.close()
        log = open_log(directory, LogConfig())

        def read_all() -> None:
            offset = 0
            while offset < log.log_end_offset:
                info = log.read(offset, max_length=READ_BYTES, max_offset=log.log_end_offset, min_one_message=True)
                assert info.records is not None
                data = info.records.read()
                offset += len(data) // len(batch) * BATCH_RECORDS

        def pread_all() -> None:
            descriptor = os.open(log.active_segment.path(".log"), os.O_RDONLY)
            for position in range(0, log.size, READ_BYTES // len(batch) * len(batch)):
                os.pread(descriptor, READ_BYTES, position)
            os.close(descriptor)

        took, least = (min(processor_seconds(work) for _ in range(ROUNDS)) for work in (read_all, pread_all))
        size = log.size / MB
        print(f"read: {size / took:.0f} MB/s; os.pread: {size / least:.0f} MB/s; {took / least:.2f} times as long (aim: within 1.5)")
        return took

    in_new_directory(compare)


def broker_config(directory: Path) -> KafkaConfig:
    """A broker's with one log dir."""
    return KafkaConfig.from_properties({"zookeeper.connect": "none:1", "broker.id": "0", "log.dirs": str(directory), "log.retention.ms": "-1"})


def manager_of(directory: Path, file_system: DiskFileSystem) -> LogManager:
    """A log manager that has loaded its log dir."""
    config = broker_config(directory)
    manager = LogManager(config.log_directories, LogSeams(file_system, WallClock(), Now(), random.Random(1)), config)
    manager.load().result()
    return manager


def bench_open() -> None:
    """Loading 2,000 partitions after a clean stop, in a process of its own: time, and memory of the whole process."""

    def measure(directory: Path) -> float:
        file_system = DiskFileSystem()
        manager = manager_of(directory, file_system)
        for number in range(PARTITIONS):
            log = manager.get_or_create_log(TopicPartition(f"topic-{number // 20}", number % 20), is_new=True)
            for _ in range(3):
                log.append_as_leader(a_batch(), leader_epoch=1)
        manager.shutdown().result()
        file_system.unlock_all()
        outcomes = []
        for _ in range(3):
            done = subprocess.run([sys.executable, __file__, "--load", str(directory)], stdout=subprocess.PIPE, text=True, check=True)
            outcomes.append(tuple(map(float, done.stdout.split())))
        took, memory = min(outcomes)
        print(f"opening {PARTITIONS:,} partitions after a clean stop: {took:.2f} s (aim: 3), process {memory:.0f} MB (aim: 150)")
        return took

    in_new_directory(measure)


def load_and_stop(directory: Path) -> None:
    """The child of `bench_open`: prints seconds and resident megabytes; stops cleanly, for the next."""
    began = time.perf_counter()
    manager = manager_of(directory, DiskFileSystem())
    took = time.perf_counter() - began
    assert len(manager.all_logs()) == PARTITIONS
    print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
    manager.shutdown().result()


def bench_recovery() -> None:
    """Opening a log without a clean stop: every batch is looked at, and both indexes are built anew."""

    def measure(directory: Path) -> float:
        config = replace(LogConfig(), segment_bytes=64 * MB)
        log = open_log(directory, config)
        batch = a_batch()
        for _ in range(TOTAL_BYTES // len(batch)):
            log.append_as_leader(batch, leader_epoch=1)
        size, end = log.size, log.log_end_offset
        log.close()
        took = min(seconds(lambda: open_log(directory, config, clean=False)) for _ in range(3))
        assert open_log(directory, config).log_end_offset == end
        print(f"recovery: {size / MB / took:.0f} MB/s (aim: above 100)")
        return took

    in_new_directory(measure)


def bench_compaction() -> None:
    """One pass over a log of uncompressed 1 KB records, each key four times: MB of log read by the pass, per second from its start to the swap."""

    def measure(directory: Path) -> float:
        config = replace(LogConfig(), segment_bytes=16 * MB, cleanup_policy=frozenset({"compact"}))
        log = open_log(directory, config)
        count = 128 * MB // len(a_batch(keys=1))
        for number in range(count):
            log.append_as_leader(a_batch(number, keys=count * BATCH_RECORDS // 4), leader_epoch=1)
        log.roll()
        log.update_high_watermark(log.log_end_offset)
        size = log.size
        cleaner = LogCleaner(log.services, CleanerConfig.of(broker_config(directory)), {PARTITION: log})
        took = seconds(lambda: spawn(cleaner.clean_filthiest()).result())
        assert log.size < size / 2, "nothing was compacted"
        print(f"compaction of 1 KB records: {size / MB / took:.0f} MB/s (aim: above 30)")
        return took

    in_new_directory(measure)


PARTS: Final = {"append": bench_append, "read": bench_read, "open": bench_open, "recovery": bench_recovery, "compaction": bench_compaction}


def main(arguments: list[str]) -> None:
    """The parts named, or all."""
    logging.disable(logging.WARNING)
    if arguments[:1] == ["--load"]:
        load_and_stop(Path(arguments[1]))
        return
    free = shutil.disk_usage(tempfile.gettempdir()).free
    assert free > 4 * TOTAL_BYTES, f"only {free // MB} MB free in {tempfile.gettempdir()}"
    for name in arguments or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
