"""Apache Kafka's jars, fetched once with Maven into a folder of the user's cache, and the main classes of its tools run as processes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.edges.processes import require_java
from pykafka_classic.testing.apache import JarsNotFetched, fetched_jars
from pykafka_classic.testing.class_archive import ClassArchive
from tests.integration.warm_java import WITHOUT_STATE, warm_java

POMS: Final = Path(__file__).parent / "java"
RUN_S: Final = 90
JVM_FLAGS: Final = ("-Xmx192m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")

needs_maven = pytest.mark.skipif(shutil.which("mvn") is None, reason="`mvn` is not installed: Apache Kafka's jars cannot be fetched")


def class_path(folder: str, pom: Path, kafka_version: str, scala_version: str) -> str:
    """The dependencies of `pom`, in a folder of that name; skips the test where they cannot be had (no Maven, no network)."""
    try:
        return fetched_jars(folder, pom, kafka_version, scala_version)
    except JarsNotFetched as why:
        pytest.skip(str(why))


def tools_class_path(version: str) -> str:
    """The console tools and clients of a release: 2.8.2, or one of 0.8.2 to 0.10.2."""
    if version == "2.8.2":
        return class_path(f"kafka-{version}-jars", POMS / "pom.xml", version, "2.13")
    return class_path(f"kafka-{version}-jars", POMS / "old.pom.xml", version, "2.11")


class JavaTools:
    """The tools of one release."""

    def __init__(self, jars: str) -> None:
        self._class_path = jars

    def command(self, main_class: str, *arguments: str) -> list[str]:
        """How a main class is started."""
        return self._command(ClassArchive(main_class, self._class_path).flags(makes=False), main_class, *arguments)

    def _command(self, flags: Sequence[str], main_class: str, *arguments: str) -> list[str]:
        return [require_java(), *JVM_FLAGS, *flags, "-cp", self._class_path, main_class, *arguments]

    def attempt(self, main_class: str, *arguments: str, stdin: str | None = None) -> tuple[int, str]:
        """Exit status, and what it printed: standard output, then standard error."""
        done = self._run(main_class, *arguments, stdin=stdin or "")
        return done.returncode, done.stdout + done.stderr

    def run(self, main_class: str, *arguments: str, stdin: str = "") -> str:
        """Standard output; AssertionError with all that it wrote where it fails."""
        done = self._run(main_class, *arguments, stdin=stdin)
        assert done.returncode == 0, f"{main_class} {' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def topics(self, *arguments: str) -> str:
        """kafka-topics."""
        return self.run("kafka.admin.TopicCommand", *arguments)

    def _run(self, main_class: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        warm = warm_java(require_java(), JVM_FLAGS, self._class_path) if main_class in WITHOUT_STATE else None
        if warm is not None:
            return subprocess.CompletedProcess([main_class, *arguments], *warm.run([main_class, *arguments], stdin, seconds=RUN_S))
        archive = ClassArchive(main_class, self._class_path)
        command = self._command(archive.flags(), main_class, *arguments)
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=RUN_S, check=False)
        archive.ended()
        return done
