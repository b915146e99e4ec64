"""Brokers of Apache Kafka as processes, to stand beside ours or to be measured against. Their jars are fetched once with Maven into the user's cache."""

from __future__ import annotations

import fcntl
import functools
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pykafka_classic.edges.child_processes import ChildProcess
from pykafka_classic.edges.processes import require_java
from pykafka_classic.testing.class_archive import ClassArchive, cache_folder

# Each release with the newest Scala that it was published for.
SCALA: Final = {"2.4.1": "2.13", "1.1.1": "2.12", "0.10.2.2": "2.12"}
NEWEST_SCALA: Final = "2.13"  # of every other release
STARTED_LINE: Final = re.compile(r"\[Kafka ?Server (id=)?\d+\],? started")
FETCH_S: Final = 600

SMALL_JVM: Final = ("-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")  # starts soon, takes little: for tests
# What kafka-server-start.sh and kafka-run-class.sh give it.
KAFKAS_JVM: Final = (
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)

LOGGING: Final = """log4j.rootLogger=INFO, out
log4j.logger.kafka.controller=DEBUG
log4j.logger.state.change.logger=INFO
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""

BROKER_POM: Final = Path(__file__).with_name("apache-broker-pom.xml")


class JarsNotFetched(Exception):
    """Apache Kafka's jars cannot be had; the text says why."""


@functools.cache
def fetched_jars(folder: str, pom: Path, kafka_version: str, scala_version: str) -> str:
    """The dependencies of `pom` as a class path, in a folder of that name in the user's cache. Raises JarsNotFetched.

    Processes beside each other share the folder: one fetches, the others wait for it.
    """
    if shutil.which("mvn") is None:
        raise JarsNotFetched("`mvn` is not installed: Apache Kafka's jars cannot be fetched")
    cache = cache_folder() / folder
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (cache / "complete").exists():
            settings = [f"-Dkafka.version={kafka_version}", f"-Dscala.version={scala_version}", f"-DoutputDirectory={cache}"]
            command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", *settings]
            fetched = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_S, check=False)
            if fetched.returncode != 0:
                raise JarsNotFetched(f"the jars of Apache Kafka {kafka_version} cannot be fetched: {fetched.stdout.strip()[-300:]}")
            (cache / "complete").touch()
    assert (cache / f"kafka_{scala_version}-{kafka_version}.jar").exists()
    return f"{cache}/*"


def broker_class_path(version: str) -> str:
    """The jars of a release's brokers. Raises JarsNotFetched."""
    return fetched_jars(f"kafka-broker-{version}", BROKER_POM, version, SCALA.get(version, NEWEST_SCALA))


class ApacheBroker(ChildProcess):
    """One broker of Apache Kafka; to be used as our own BrokerProcess is.

    Args:
        class_path: `broker_class_path` of its release.
        jvm: flags for java; with those of small JVMs it uses an archive of its classes.
    """

    def __init__(self, class_path: str, directory: Path, properties: Mapping[str, str], *, jvm: Sequence[str] = SMALL_JVM) -> None:
        self.directory = directory
        self._properties = dict(properties)
        self._archive = ClassArchive("broker", class_path) if jvm == SMALL_JVM else None
        self._jvm = jvm
        logging = f"-Dlog4j.configuration=file:{directory / 'log4j.properties'}"
        self._arguments = [logging, "-cp", class_path, "kafka.Kafka", str(directory / "server.properties")]
        super().__init__(self._java(), log_path=directory / "server.log")

    def _java(self) -> list[str]:
        archive = self._archive.flags() if self._archive is not None else ()
        return [require_java(), *self._jvm, *archive, *self._arguments]

    def start(self) -> None:
        """Write server.properties and start."""
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "log4j.properties").write_text(LOGGING)
        (self.directory / "server.properties").write_text("".join(f"{key}={value}\n" for key, value in self._properties.items()))
        self._command = self._java()
        super().start()

    def stop(self, *, seconds: float = 30.0) -> int:
        """As every child's; what it leaves of its classes is there for the next ones."""
        code = super().stop(seconds=seconds)
        if self._archive is not None and code >= 0:
            self._archive.ended()
        return code

    def wait_started(self, *, seconds: float = 60.0) -> None:
        """Wait until it serves requests; StartFailed with the last lines of its log."""
        self.wait_ready(lambda: STARTED_LINE.search(self.output()) is not None, seconds=seconds)
