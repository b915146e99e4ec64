"""Pid files, and what is found by them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykafka_classic.cli import daemons
from pykafka_classic.cli.daemons import Daemon
from pykafka_classic.edges.child_processes import wait_until

TOY = Daemon(name="toy", marker="toy-marker", title="toy server", output="toy.out")


@pytest.fixture(autouse=True)
def log_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """$LOG_DIR of this test."""
    monkeypatch.setenv("LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.delenv("SIGNAL", raising=False)
    return tmp_path / "logs"


@pytest.fixture
def toy() -> Iterator[subprocess.Popen[bytes]]:
    """A process whose command line has the marker."""
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()", "toy-marker"], stdin=subprocess.PIPE) as process:
        wait_until(lambda: TOY.marker in daemons.command_line(process.pid), seconds=10)  # a process that is just being started has none
        yield process
        process.kill()


def test_an_installed_package_writes_into_a_folder_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert daemons.log_directory({}) == daemons.CHECKOUT / "logs"
    monkeypatch.setattr(daemons, "CHECKOUT", tmp_path / "site-packages")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert daemons.log_directory({}) == tmp_path / ".local" / "state" / "pykafka_classic"
    assert daemons.log_directory({"XDG_STATE_HOME": "/state"}) == Path("/state/pykafka_classic")
    assert daemons.log_directory({"LOG_DIR": "/logs"}) == Path("/logs")


def test_daemon_option_counts_only_as_the_first_argument() -> None:
    assert daemons.split_daemon_option(["-daemon", "a"]) == (True, ["a"])
    assert daemons.split_daemon_option(["a", "-daemon"]) == (False, ["a", "-daemon"])


def test_recorded_process_is_found_and_asked_to_end(toy: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    daemons.record(TOY, toy.pid)
    assert daemons.stop(TOY) == 0
    assert toy.wait(10) == -signal.SIGTERM
    assert capsys.readouterr().out == ""


def test_signal_may_be_chosen(toy: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNAL", "KILL")
    daemons.record(TOY, toy.pid)
    daemons.stop(TOY)
    assert toy.wait(10) == -signal.SIGKILL


def test_nothing_to_stop_is_said_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert daemons.stop(TOY) == 1
    assert capsys.readouterr().out == "No toy server to stop\n"


def test_foreign_process_under_a_stale_pid_is_left_alone(log_dir: Path) -> None:
    stale = daemons.record(TOY, os.getppid())
    assert list(daemons.running(TOY)) == []
    assert not stale.exists()
    assert log_dir.exists()


def test_process_in_the_background_writes_to_the_log_directory(log_dir: Path) -> None:
    pid = daemons.start_in_background(TOY, [sys.executable, "-c", "print('hello')", "toy-marker"])
    os.waitpid(pid, 0)
    assert (log_dir / "toy.out").read_text() == "hello\n"
    assert daemons.pid_file(TOY, pid).exists()
