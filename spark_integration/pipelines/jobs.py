"""The two jobs as processes of their own, as spark-submit would start them; what they print comes through line by line."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from pykafka_classic.edges.child_processes import POLL_S, ChildProcess, StartFailed

# What Spark says for itself goes to a file beside; "$0" is the first argument behind the script.
_WITH_LOG: Final = ("/bin/sh", "-c", 'exec "$@" 2>>"$0"')


class Job:
    """One run of a job.

    Args:
        name: of its module here: delays or totals.
        arguments: its options.
        directory: where its output and Spark's log go.
    """

    def __init__(self, name: str, arguments: Sequence[str], directory: Path) -> None:
        self.spark_log = directory / f"{name}.spark.log"
        command = [sys.executable, "-u", "-m", f"spark_integration.pipelines.{name}", *arguments]
        self._process = ChildProcess([*_WITH_LOG, str(self.spark_log), *command], log_path=directory / f"{name}.log")
        self._told = 0  # lines

    def follow(self, told: Callable[[str], None], until: Callable[[], bool] = lambda: False) -> bool:
        """Start, and tell each line, until the end, or until `until()`. Whether it has ended by itself. StartFailed where it failed."""
        self._process.start()
        while True:
            running = self._process.running
            self._tell(told)
            if not running:
                self._check()
                return True
            if until():
                return False
            time.sleep(POLL_S)

    def kill(self) -> None:
        """SIGKILL: to the driver's program, to its JVM, and to all workers, at once."""
        self._process.kill()

    def _tell(self, told: Callable[[str], None]) -> None:
        *lines, _ = self._process.output().split("\n")
        for line in lines[self._told :]:
            told(line)
        self._told = len(lines)

    def _check(self) -> None:
        if self._process.wait():
            last = "\n".join(self.spark_log.read_text(errors="replace").splitlines()[-30:])
            raise StartFailed(f"{self.spark_log.name} ends with:\n{last}\nThe job failed with status {self._process.wait()}; all of it: {self.spark_log}")
