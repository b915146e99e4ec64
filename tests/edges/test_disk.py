"""The real disk against what the seam promises."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pykafka_classic.edges.disk import BUFFERS_PER_WRITE, DiskFileSystem

LOCK_AND_WAIT = """
import sys
from pykafka_classic.edges.disk import DiskFileSystem
file_system = DiskFileSystem()
file_system.lock(sys.argv[1])
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def disk() -> DiskFileSystem:
    return DiskFileSystem()


@contextmanager
def file_size_limit(limit: int) -> Iterator[None]:
    """Let the kernel refuse what would make a file larger than this, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)


def test_append_tells_the_position_of_its_first_byte(disk: DiskFileSystem, tmp_path: Path) -> None:
    file = disk.open(f"{tmp_path}/log", create=True)
    assert [file.append([b"abc", memoryview(b"de")]), file.append([bytearray(b"fg")]), file.append([])] == [0, 5, 7]
    assert (tmp_path / "log").read_bytes() == b"abcdefg"
    assert file.size() == 7


def test_append_takes_more_buffers_than_the_kernel_does(disk: DiskFileSystem, tmp_path: Path) -> None:
    file = disk.open(f"{tmp_path}/log", create=True)
    file.append([b"%06d" % number for number in range(BUFFERS_PER_WRITE + 7)])
    assert file.size() == 6 * (BUFFERS_PER_WRITE + 7) == disk.size(f"{tmp_path}/log")
    assert file.read_at(6 * (BUFFERS_PER_WRITE + 6), 100) == b"%06d" % (BUFFERS_PER_WRITE + 6)


def test_a_write_cut_short_leaves_the_file_as_it_was(disk: DiskFileSystem, tmp_path: Path) -> None:
    file = disk.open(f"{tmp_path}/log", create=True)
    file.append([b"x" * 4000])
    with file_size_limit(4096), pytest.raises(OSError):
        file.append([b"y" * 50, b"y" * 100])
    assert (file.size(), disk.size(f"{tmp_path}/log")) == (4000, 4000)
    assert file.append([b"z"]) == 4000


def test_read_at_ends_at_the_end_of_the_file(disk: DiskFileSystem, tmp_path: Path) -> None:
    file = disk.open(f"{tmp_path}/log", create=True)
    file.append([b"0123456789"])
    assert (file.read_at(4, 3), file.read_at(8, 100), file.read_at(10, 1)) == (b"456", b"89", b"")


def test_write_at_and_truncate_keep_the_size_in_step(disk: DiskFileSystem, tmp_path: Path) -> None:
    file = disk.open(f"{tmp_path}/index", create=True)
    file.truncate(8)
    file.write_at(6, b"abcd")
    assert (file.size(), file.read_at(0, 20)) == (10, bytes(6) + b"abcd")
    file.truncate(3)
    assert (file.size(), disk.size(f"{tmp_path}/index")) == (3, 3)


def test_reopened_file_knows_its_size(disk: DiskFileSystem, tmp_path: Path) -> None:
    disk.open(f"{tmp_path}/log", create=True).append([b"abc"])
    file = disk.open(f"{tmp_path}/log")
    assert (file.size(), file.append([b"d"])) == (3, 3)


def test_closed_and_deleted_file_is_readable_by_those_who_hold_it(disk: DiskFileSystem, tmp_path: Path) -> None:
    file = disk.open(f"{tmp_path}/log", create=True)
    file.append([b"abc"])
    file.close()
    disk.remove(f"{tmp_path}/log")
    assert file.read_at(0, 3) == b"abc"
    with pytest.raises(ValueError):
        file.append([b"d"])


def test_descriptor_is_given_back_with_the_last_reference(disk: DiskFileSystem, tmp_path: Path) -> None:
    file = disk.open(f"{tmp_path}/log", create=True)
    descriptor = file.fileno()
    file.close()
    os.fstat(descriptor)
    del file
    with pytest.raises(OSError):
        os.fstat(descriptor)


def test_opening_an_absent_file_fails_unless_it_may_be_created(disk: DiskFileSystem, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        disk.open(f"{tmp_path}/absent")


def test_write_atomically_replaces_and_leaves_nothing_else(disk: DiskFileSystem, tmp_path: Path) -> None:
    for content in (b"old and longer", b"new"):
        disk.write_atomically(f"{tmp_path}/checkpoint", content)
    assert (disk.read(f"{tmp_path}/checkpoint"), disk.list(str(tmp_path))) == (b"new", ["checkpoint"])


def test_directories_are_made_listed_renamed_and_removed(disk: DiskFileSystem, tmp_path: Path) -> None:
    disk.make_directory(f"{tmp_path}/a/b")
    disk.make_directory(f"{tmp_path}/a/b")
    disk.open(f"{tmp_path}/a/z", create=True)
    assert disk.list(f"{tmp_path}/a") == ["b", "z"]
    assert (disk.is_directory(f"{tmp_path}/a/b"), disk.is_directory(f"{tmp_path}/a/z"), disk.exists(f"{tmp_path}/no")) == (True, False, False)
    disk.rename(f"{tmp_path}/a", f"{tmp_path}/c")
    disk.sync_directory(f"{tmp_path}/c")
    disk.remove_tree(f"{tmp_path}/c")
    disk.remove_tree(f"{tmp_path}/c")
    assert disk.list(str(tmp_path)) == []


def test_a_directory_is_removed_while_a_file_in_it_takes_its_real_name(disk: DiskFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer of small files is another thread than the one that removes a deleted log."""
    disk.make_directory(f"{tmp_path}/a")
    Path(tmp_path, "a", "x.tmp").touch()
    unlink = os.unlink

    def renamed_first(name: str, *, dir_fd: int | None = None) -> None:
        if name == "x.tmp":
            os.replace(f"{tmp_path}/a/x.tmp", f"{tmp_path}/a/x")
        unlink(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", renamed_first)
    disk.remove_tree(f"{tmp_path}/a")
    assert disk.list(str(tmp_path)) == []


def test_a_directory_is_removed_although_a_file_comes_late(disk: DiskFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.make_directory(f"{tmp_path}/a")
    rmdir, late = os.rmdir, [Path(tmp_path, "a", "late")]

    def written_first(name: str, *, dir_fd: int | None = None) -> None:
        if late:
            late.pop().touch()
        rmdir(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", written_first)
    disk.remove_tree(f"{tmp_path}/a")
    assert disk.list(str(tmp_path)) == []


def test_a_directory_that_cannot_be_removed_is_told(disk: DiskFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.make_directory(f"{tmp_path}/a")

    def refuse(_: str, *, dir_fd: int | None = None) -> None:
        raise OSError(errno.EIO, "a dead disk")

    monkeypatch.setattr(os, "rmdir", refuse)
    with pytest.raises(OSError, match="a dead disk"):
        disk.remove_tree(f"{tmp_path}/a")


def test_modification_time_is_set_to_the_millisecond(disk: DiskFileSystem, tmp_path: Path) -> None:
    disk.open(f"{tmp_path}/log", create=True)
    disk.set_modified_ms(f"{tmp_path}/log", 1_577_836_800_123)
    assert disk.modified_ms(f"{tmp_path}/log") == 1_577_836_800_123


def test_lock_of_another_process_is_told_at_once(disk: DiskFileSystem, tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", LOCK_AND_WAIT, f"{tmp_path}/.lock"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with holder:
        assert holder.stdin is not None and holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(BlockingIOError, match="locked by another process"):
            disk.lock(f"{tmp_path}/.lock")
        holder.stdin.close()
        holder.wait(10)
    disk.lock(f"{tmp_path}/.lock")
    disk.unlock_all()


@pytest.mark.parametrize("all_at_once", [False, True])
def test_many_files_are_written_and_the_ones_that_cannot_be_are_told(tmp_path: Path, all_at_once: bool) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "old").write_bytes(b"before")
    files = {f"{tmp_path}/{name}": name.encode() for name in ("a/old", "a/new", "b/new", "missing/new")}
    failures = DiskFileSystem().write_all_atomically(files, all_at_once=all_at_once)
    assert [(path, type(error)) for path, error in failures] == [(f"{tmp_path}/missing/new", FileNotFoundError)]
    assert [(tmp_path / name).read_text() for name in ("a/old", "a/new", "b/new")] == ["a/old", "a/new", "b/new"]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["new", "new", "old"]
