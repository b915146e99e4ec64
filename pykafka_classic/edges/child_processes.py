"""Child processes that cannot outlive their parent, their logs, and free ports for them.

A child dies with its parent in three ways: `stop`; at the parent's normal end (atexit); and where the parent is killed outright, by the kernel (Linux:
PR_SET_PDEATHSIG, set by a few lines of Python that then become the child by exec). Linux sends that signal when the *thread* that started the child ends, so
one thread that lives as long as the process starts all.
"""

from __future__ import annotations

import atexit
import errno
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

# Below the range from which the kernel takes ports for outgoing connections, so that a port found free stays free.
FREE_PORTS: Final = range(15_000, 32_000)
POLL_S: Final = 0.01  # between two looks; longer where a look itself takes long, see wait_until
POLL_MAX_S: Final = 0.1

_DIE_WITH_PARENT: Final = (
    "import ctypes, os, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGKILL); "
    "os.getppid() == int(sys.argv[1]) or sys.exit('the parent is gone'); os.execvp(sys.argv[2], sys.argv[2:])"
)

_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starts-children")
_children: weakref.WeakSet[ChildProcess] = weakref.WeakSet()


class StartFailed(Exception):
    """A child ended or stayed silent before it was ready; the text ends with its last lines."""


class ChildProcess:
    """A process in a group of its own whose output goes to a file. `start` may follow `stop` or `kill`: another life of the same thing."""

    def __init__(self, command: Sequence[str], *, log_path: Path, environment: Mapping[str, str] | None = None) -> None:
        self._command = list(command)
        self._log_path = log_path
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0  # where the output of this life begins in the log

    @property
    def pid(self) -> int:
        """Of the running process."""
        assert self._process is not None, "not started"
        return self._process.pid

    @property
    def running(self) -> bool:
        """True from `start` until the process has ended (paused counts as running)."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process; does not wait until it is ready."""
        assert not self.running, "runs already"
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        self._process = _starter.submit(self._spawn).result()
        _children.add(self)

    def _spawn(self) -> subprocess.Popen[bytes]:
        launcher = [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT, str(os.getpid())] if sys.platform == "linux" else []
        with self._log_path.open("ab") as output:
            self._log_start = output.tell()
            return subprocess.Popen(
                [*launcher, *self._command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True, env=self._environment
            )

    def wait_ready(self, ready: Callable[[], bool], *, seconds: float = 30.0) -> None:
        """Wait until `ready()`; StartFailed, with the end of the log, if the process ends first or time is up."""
        try:
            wait_until(lambda: not self.running or ready(), seconds=seconds)
        except TimeoutError:
            raise StartFailed(f"{self._command[0]} not ready within {seconds:g} s:\n{self.log_tail()}") from None
        if not self.running:
            raise StartFailed(f"{self._command[0]} ended with code {self.wait()}:\n{self.log_tail()}")

    def output(self) -> str:
        """What this life of the process has written so far."""
        with self._log_path.open("rb") as log_file:
            log_file.seek(self._log_start)
            return log_file.read().decode(errors="replace")

    def log_tail(self, lines: int = 15) -> str:
        """The last lines of `output`."""
        return "\n".join(self.output().splitlines()[-lines:])

    def signal(self, number: int) -> None:
        """Send a signal to the whole group; nothing where it has ended."""
        if self.running:
            os.killpg(self.pid, number)

    def pause(self) -> None:
        """SIGSTOP, and wait until it has taken effect: it hangs, its connections stay."""
        self.signal(signal.SIGSTOP)
        if self.running:
            os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        """SIGCONT."""
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        self.signal(signal.SIGKILL)
        self.wait()

    def stop(self, *, seconds: float = 30.0) -> int:
        """SIGTERM, and wait for the end; SIGKILL if it takes longer. The exit code (minus the signal that ended it)."""
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)  # a paused process hears nothing
        try:
            return self.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.wait()

    def wait(self, seconds: float | None = None) -> int:
        """Wait for the end; the exit code. subprocess.TimeoutExpired if it goes on."""
        assert self._process is not None, "not started"
        return self._process.wait(seconds)


@atexit.register
def _kill_all() -> None:
    for child in list(_children):
        child.signal(signal.SIGKILL)


def wait_until(condition: Callable[[], bool], *, seconds: float) -> None:
    """Look again and again; TimeoutError when time is up.

    A look that asks a server takes its time from what is waited for: no more than a third of the time is spent looking.
    """
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        if condition():
            return
        ended = time.monotonic()
        if ended > deadline:
            raise TimeoutError(f"not within {seconds:g} s")
        time.sleep(min(max(POLL_S, 2 * (ended - began)), POLL_MAX_S))


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Ports that nobody listens on just now."""
    found: list[int] = []
    for port in random.SystemRandom().sample(FREE_PORTS, len(FREE_PORTS)):
        if len(found) == count:
            return found
        if not port_taken(port, host):
            found.append(port)
    raise OSError(errno.EADDRINUSE, f"no {count} free ports on {host}")


def port_taken(port: int, host: str = "127.0.0.1") -> str | None:
    """A sentence that says who holds the port, or None where it is free."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            holder = _holder(port)
            return f"Port {port} of {host} is taken{f' by {holder}' if holder else ''}: stop that first, or choose another port."
    return None


def _holder(port: int) -> str:
    """Name and pid of the process that listens on a port, as far as /proc tells us; else the empty string."""
    inodes = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if table.exists():
            inodes |= set(re.findall(rf"^ *\d+: \w+:{port:04X} \w+:\w+ 0A (?:\S+ +){{5}}(\d+)", table.read_text(), re.MULTILINE))
    for descriptor in Path("/proc").glob("[0-9]*/fd/*") if inodes else ():
        try:
            target = descriptor.readlink()
        except OSError:
            continue  # it ended meanwhile, or is not ours to see
        if str(target)[8:-1] in inodes and str(target).startswith("socket:["):
            pid = descriptor.parts[2]
            return f"{Path('/proc', pid, 'comm').read_text().strip()} (process {pid})"
    return ""
