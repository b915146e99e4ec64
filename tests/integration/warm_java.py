"""Tools of Apache's that run one after the other in one JVM, which stays: starting one takes ten times as long as what most tools do. See java/WarmTools.java.

Only tools are run so that keep nothing in statics between two runs, and leave nothing to a shutdown hook (the console producer sends its last records there).
Where a JVM cannot be made to survive System.exit (from Java 24 on), or there is no compiler, none is.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import signal
import struct
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

SOURCE: Final = Path(__file__).parent / "java" / "WarmTools.java"
WITHOUT_STATE: Final = frozenset(
    {
        "kafka.admin.BrokerApiVersionsCommand",
        "kafka.admin.ConfigCommand",
        "kafka.admin.ConsumerGroupCommand",
        "kafka.admin.DeleteRecordsCommand",
        "kafka.admin.LeaderElectionCommand",
        "kafka.admin.LogDirsCommand",
        "kafka.admin.PreferredReplicaLeaderElectionCommand",
        "kafka.admin.ReassignPartitionsCommand",
        "kafka.admin.TopicCommand",
        "kafka.tools.DumpLogSegments",
        "kafka.tools.GetOffsetShell",
    }
)


class WarmJava:
    """One JVM."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._folder = Path.cwd()

    @property
    def serves(self) -> bool:
        """Whether it runs, and in the folder where we are."""
        return self._process.poll() is None and self._folder == Path.cwd()

    def run(self, words: Sequence[str], stdin: str, *, seconds: float) -> tuple[int, str, str]:
        """Exit status, standard output, standard error. TimeoutExpired, and the JVM is gone, where it takes longer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        watchdog = threading.Timer(seconds, self._process.kill)
        watchdog.start()
        try:
            self._process.stdin.write(struct.pack(">i", len(words)) + b"".join(_text(word) for word in (*words, stdin)))
            self._process.stdin.flush()
            (status,) = struct.unpack(">i", _exactly(self._process.stdout, 4))
            output, errors = (_exactly(self._process.stdout, *struct.unpack(">i", _exactly(self._process.stdout, 4))).decode() for _ in range(2))
        except (EOFError, BrokenPipeError):
            raise subprocess.TimeoutExpired(list(words), seconds) from None
        finally:
            watchdog.cancel()
        return status, output, errors

    def end(self) -> None:
        """Nothing of it is left."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        self._process.wait()


@functools.cache
def _compiled(cache: Path) -> Path | None:
    """The folder with the class; None where it cannot be compiled. One of the test runs beside each other compiles, the others wait."""
    compiler = shutil.which("javac")
    if compiler is None:
        return None
    folder = cache / f"warm-tools-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "WarmTools.class").exists():
            done = subprocess.run([compiler, "-nowarn", "-d", str(folder), str(SOURCE)], capture_output=True, check=False, timeout=120)
            if done.returncode != 0:
                return None
    return folder


_running: Final[dict[tuple[str, ...], WarmJava]] = {}


def warm_java(java: str, flags: Sequence[str], class_path: str) -> WarmJava | None:
    """The JVM of this test process with these jars; None where there can be none."""
    folder = _compiled(Path(class_path).parent.parent)
    if folder is None:
        return None
    command = (java, *flags, "-Djava.security.manager=allow", "-cp", f"{folder}{os.pathsep}{class_path}", "WarmTools")
    found = _running.get(command)
    if found is None or not found.serves:
        if found is not None:
            found.end()
        found = _running[command] = WarmJava(command)
        atexit.register(found.end)
    return found


def _text(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogateescape")
    return struct.pack(">i", len(encoded)) + encoded


def _exactly(source: IO[bytes], size: int) -> bytes:
    found = source.read(size)
    if len(found) < size:
        raise EOFError
    return found
