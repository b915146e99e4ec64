"""Clusters of Apache Kafka's brokers and ours; a test that needs jars which cannot be had is skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pykafka_classic.testing.apache import BROKER_POM, NEWEST_SCALA, SCALA, ApacheBroker
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration import java_tools

__all__ = ["OURS", "ApacheBroker", "MixedCluster", "class_path"]


def class_path(version: str) -> str:
    """The jars of a release's brokers; skips the test where they cannot be had."""
    return java_tools.class_path(f"kafka-broker-{version}", BROKER_POM, version, SCALA.get(version, NEWEST_SCALA))


OURS: Final = "ours"


class MixedCluster(LocalCluster):
    """A cluster whose broker N is ours or a release of Apache's, as `kinds` says: ["ours", "2.8.2", "2.8.2"]."""

    def __init__(self, directory: Path, kinds: Sequence[str], *, overrides: Mapping[str, str] | None = None) -> None:
        super().__init__(directory, brokers=len(kinds), overrides=overrides)
        self.kinds = list(kinds)
        for number, kind in enumerate(kinds):
            if kind != OURS:
                broker = ApacheBroker(class_path(kind), directory / f"broker-{number}", self._properties(directory, number, overrides or {}))
                self.brokers[number] = broker  # type: ignore[call-overload]  # used in the same way

    def of_kind(self, ours: bool) -> list[int]:
        """Numbers of our brokers, or of Apache's."""
        return [number for number, kind in enumerate(self.kinds) if (kind == OURS) == ours]
