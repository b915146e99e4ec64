"""SIGKILL at every step of a compaction, for real: a process on a real disk. What it leaves is looked at as in tests/unit/log/test_log_cleaner_crash.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.source_tree import ROOT
from tests.unit.log.helpers import LOG_DIR, PARTITION, Disk
from tests.unit.log.test_log_cleaner_crash import check_what_is_left, fill, make_disk, undisturbed

SECONDS = 120


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What each of the killed processes left."""
    root = tmp_path_factory.mktemp("killed")
    disk = make_disk()
    log = disk.open()
    fill(log)
    log.close()
    folder = root / "prepared" / str(PARTITION)
    folder.mkdir(parents=True)
    for path, data in disk.file_system.files_under(disk.directory).items():
        file = folder / path.rpartition("/")[2]
        file.write_bytes(data)
        seconds = disk.file_system.modified_ms(path) / 1000
        os.utime(file, (seconds, seconds))
    command = [sys.executable, "-m", "tests.edges.compaction_victim", str(root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [root / str(number) for number in range(int(done.stdout) + 1)]  # the last one came to its end


def loaded(life: Path) -> Disk:
    """A copy in memory of what is on the disk."""
    disk = make_disk()
    disk.file_system.make_directory(disk.directory)
    for file in (life / str(PARTITION)).iterdir():
        path = f"{LOG_DIR}/{PARTITION}/{file.name}"
        disk.file_system.write_atomically(path, file.read_bytes())
        disk.file_system.set_modified_ms(path, file.stat().st_mtime_ns // 1_000_000)
    return disk


@pytest.mark.parametrize("recovered_from", ["the recovery point", "the start"])
def test_a_process_killed_at_any_step_of_a_compaction_loses_nothing(lives: list[Path], recovered_from: str) -> None:
    assert len(lives) > 40
    for life in lives:
        check_what_is_left(loaded(life), recovery_point=0 if recovered_from == "the start" else undisturbed()[1])


def test_the_deaths_left_all_sorts_of_files(lives: list[Path]) -> None:
    suffixes = [{path.suffix for path in (life / str(PARTITION)).iterdir()} for life in lives]
    for suffix in (".cleaned", ".swap", ".deleted"):
        assert any(suffix in found for found in suffixes)
    assert not {".cleaned", ".swap", ".deleted"} & suffixes[-1]
