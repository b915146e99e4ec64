"""A process that compacts a log on a real disk and kills itself in the midst of it, again and again: one life for each change that a compaction makes.

    python -m tests.edges.compaction_victim DIRECTORY      (DIRECTORY/prepared/flights-0: the log; the lives leave DIRECTORY/0, DIRECTORY/1, ...)

A life is a fork that SIGKILL ends before its n-th change of the disk, or in the middle of it where that is an append. Prints how many there were.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from pykafka_classic.common.promise import spawn
from pykafka_classic.edges.disk import Buffer, DiskFile, DiskFileSystem
from pykafka_classic.log.cleaner_config import CleanerConfig
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_cleaner import LogCleaner
from pykafka_classic.log.log_loader import LoadRequest, load_log
from pykafka_classic.log.log_services import LogServices
from tests.fakes.clock import FakeBackground, FakeClock, SeededRandom
from tests.unit.log.helpers import NOW_MS, PARTITION
from tests.unit.log.test_log_cleaner_crash import DELETE_DELAY_MS, make_disk


class Mortal:
    """Counts changes, and dies at one of them."""

    def __init__(self) -> None:
        self.left = -1  # changes that may still happen; below 0: all

    def changing(self) -> None:
        """A change is about to happen."""
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


class MortalFile(DiskFile):
    """A file whose process dies."""

    def __init__(self, file_system: MortalFileSystem, mortal: Mortal, path: str, *, create: bool = False) -> None:
        super().__init__(file_system, path, create=create)
        self._mortal = mortal

    def append(self, buffers: Sequence[Buffer]) -> int:
        if self._mortal.left == 0:
            data = b"".join(buffers)
            super().append([data[: len(data) // 2]])
        self._mortal.changing()
        return super().append(buffers)

    def write_at(self, position: int, data: bytes) -> None:
        self._mortal.changing()
        super().write_at(position, data)

    def truncate(self, size: int) -> None:
        self._mortal.changing()
        super().truncate(size)


class MortalFileSystem(DiskFileSystem):
    """A disk whose process dies."""

    def __init__(self, mortal: Mortal) -> None:
        super().__init__()
        self._mortal = mortal

    def open(self, path: str, *, create: bool = False) -> MortalFile:
        if create and not os.path.exists(path):
            self._mortal.changing()
        return MortalFile(self, self._mortal, path, create=create)

    def write_atomically(self, path: str, data: bytes) -> None:
        self._mortal.changing()
        super().write_atomically(path, data)

    def write_all_atomically(self, files: Mapping[str, bytes], *, all_at_once: bool = False) -> list[tuple[str, OSError]]:
        self._mortal.changing()
        return super().write_all_atomically(files, all_at_once=all_at_once)

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        self._mortal.changing()
        super().set_modified_ms(path, modified_ms)

    def rename(self, old: str, new: str) -> None:
        self._mortal.changing()
        super().rename(old, new)

    def remove(self, path: str) -> None:
        self._mortal.changing()
        super().remove(path)


def compact(log_dir: Path, dies_at: int) -> None:
    """One life: a compaction, and the removal of the old files."""
    mortal, clock = Mortal(), FakeClock(NOW_MS)
    services = LogServices(MortalFileSystem(mortal), clock, FakeBackground(), SeededRandom(1))
    config, directory = make_disk().config, str(log_dir / str(PARTITION))
    log = Log(services, directory, PARTITION, config, load_log(services, LoadRequest(directory, PARTITION, config)))
    log.update_high_watermark(log.log_end_offset)
    cleaner = LogCleaner(services, CleanerConfig(), {PARTITION: log})
    cleaner._clean_offsets[str(log_dir)] = {}
    mortal.left = dies_at
    assert spawn(cleaner.clean_filthiest()).result()
    assert not cleaner._uncleanable
    clock.advance(DELETE_DELAY_MS)


def main() -> None:
    root = Path(sys.argv[1])
    for life in count():
        shutil.copytree(root / "prepared", root / str(life), copy_function=shutil.copy2)
        child = os.fork()
        if child == 0:
            compact(root / str(life), life)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, "a life ended otherwise than by SIGKILL"
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
    print(life)


if __name__ == "__main__":
    main()
