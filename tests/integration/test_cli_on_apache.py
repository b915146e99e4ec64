"""Our command-line tools on Apache's own brokers: the recorded cases once more, on a cluster of Apache Kafka 2.8.2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.cli_recordings import play

# Those whose output does not hang on how our own brokers do something; the others are played on our brokers in test_cli_recordings.
RECORDINGS = (
    "kafka-configs",
    "kafka-configs-zookeeper",
    "kafka-console-consumer",
    "kafka-console-producer",
    "kafka-consumer-groups",
    "kafka-delete-records",
    "kafka-get-offsets",
    "kafka-leader-election",
    "kafka-log-dirs",
    "kafka-preferred-replica-election",
    "kafka-reassign-partitions",
    "kafka-reassign-partitions-zookeeper",
    "kafka-topics",
    "kafka-verifiable-producer",
)


@pytest.mark.parametrize("name", RECORDINGS)
def test_tools_say_the_same_on_apaches_brokers(name: str, tmp_path: Path) -> None:
    played = play(name, tmp_path, "2.8.2")
    assert played
    assert {case: outcome.found for case, outcome in played.items()} == {case: outcome.wanted for case, outcome in played.items()}
