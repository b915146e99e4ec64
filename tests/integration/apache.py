"""Brokers of Apache Kafka as processes, and clusters of theirs and ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pykafka_classic.edges.child_processes import ChildProcess
from pykafka_classic.edges.processes import require_java
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration import java_tools

# Each release with the newest Scala that it was published for.
SCALA: Final = {"2.8.2": "2.13", "2.4.1": "2.13", "1.1.1": "2.12", "0.10.2.2": "2.12"}
STARTED_LINE: Final = re.compile(r"\[Kafka ?Server (id=)?\d+\],? started")
HEAP: Final = ("-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")

LOGGING: Final = """log4j.rootLogger=INFO, out
log4j.logger.kafka.controller=DEBUG
log4j.logger.state.change.logger=INFO
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


def class_path(version: str) -> str:
    """The jars of a release's brokers; skips the test where they cannot be had."""
    return java_tools.class_path(f"kafka-broker-{version}", "broker-pom.xml", version, SCALA[version])


class ApacheBroker(ChildProcess):
    """One broker of Apache Kafka; to be used as our own BrokerProcess is."""

    def __init__(self, version: str, directory: Path, properties: Mapping[str, str]) -> None:
        self.directory = directory
        self._properties = dict(properties)
        logging = f"-Dlog4j.configuration=file:{directory / 'log4j.properties'}"
        command = [require_java(), *HEAP, logging, "-cp", class_path(version), "kafka.Kafka", str(directory / "server.properties")]
        super().__init__(command, log_path=directory / "server.log")

    def start(self) -> None:
        """Write server.properties and start."""
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "log4j.properties").write_text(LOGGING)
        (self.directory / "server.properties").write_text("".join(f"{key}={value}\n" for key, value in self._properties.items()))
        super().start()

    def wait_started(self, *, seconds: float = 60.0) -> None:
        """Wait until it serves requests; StartFailed with the last lines of its log."""
        self.wait_ready(lambda: STARTED_LINE.search(self.output()) is not None, seconds=seconds)


OURS: Final = "ours"


class MixedCluster(LocalCluster):
    """A cluster whose broker N is ours or a release of Apache's, as `kinds` says: ["ours", "2.8.2", "2.8.2"]."""

    def __init__(self, directory: Path, kinds: Sequence[str], *, overrides: Mapping[str, str] | None = None) -> None:
        super().__init__(directory, brokers=len(kinds), overrides=overrides)
        self.kinds = list(kinds)
        for number, kind in enumerate(kinds):
            if kind != OURS:
                properties = self._properties(directory, number, overrides or {})
                self.brokers[number] = ApacheBroker(kind, directory / f"broker-{number}", properties)  # type: ignore[call-overload]  # used in the same way

    def of_kind(self, ours: bool) -> list[int]:
        """Numbers of our brokers, or of Apache's."""
        return [number for number, kind in enumerate(self.kinds) if (kind == OURS) == ours]
