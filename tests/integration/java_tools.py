"""Main classes of Apache Kafka's tools, run as processes."""

from __future__ import annotations

import subprocess
from typing import Final

from pykafka_classic.edges.processes import require_java

RUN_S: Final = 90
JVM_FLAGS: Final = ("-Xmx192m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


class JavaTools:
    """The tools of one release."""

    def __init__(self, class_path: str) -> None:
        self._class_path = class_path

    def attempt(self, main_class: str, *arguments: str, stdin: str | None = None) -> tuple[int, str]:
        """Exit status, and what it printed: standard output, then standard error."""
        command = [require_java(), *JVM_FLAGS, "-cp", self._class_path, main_class, *arguments]
        done = subprocess.run(command, input=stdin or "", capture_output=True, text=True, timeout=RUN_S, check=False)
        return done.returncode, done.stdout + done.stderr
