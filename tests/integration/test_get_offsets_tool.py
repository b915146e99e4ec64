"""kafka-get-offsets in the form of Kafka 3, which no tool of 2.8 has: what it prints is checked against what was written."""

from __future__ import annotations

import functools

import pytest

from pykafka_classic.cli.command import execute
from pykafka_classic.cli.get_offsets import TOOL
from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.cli_recordings import run
from tests.integration.foreign import Sent, send


@pytest.fixture(scope="module")
def bootstrap(single_broker: LocalCluster) -> str:
    """Topics one (2 partitions; the second has 3 records) and two (1, 1 record)."""
    with Admin(single_broker.bootstrap) as admin:
        admin.create_topics([NewTopic("one", 2, 1), NewTopic("two", 1, 1)]).check()
        wait_until(lambda: len(admin.describe_topics(["one", "two"]).values_only()) == 2, seconds=20)
    send(single_broker.bootstrap, "one", [Sent(None, b"v", timestamp_ms=1_600_000_000_000 + each) for each in range(3)], partition=1)
    send(single_broker.bootstrap, "two", [Sent(None, b"v", timestamp_ms=1_600_000_000_000)], partition=0)
    return single_broker.bootstrap


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["--exclude-internal-topics"], ["one:0:0", "one:1:3", "two:0:1"]),
        (["--topic", "o.*"], ["one:0:0", "one:1:3"]),
        (["--topic", "one|two", "--partitions", "0", "--time", "earliest"], ["one:0:0", "two:0:0"]),
        (["--topic-partitions", "one:1-,two"], ["one:1:3", "two:0:1"]),
        (["--topic", "one", "--time", "1600000000001"], ["one:1:1"]),  # no line where no record is as late
    ],
)
def test_partitions_by_patterns(bootstrap: str, words: list[str], lines: list[str]) -> None:
    assert run(functools.partial(execute, TOOL), ["--bootstrap-server", bootstrap, *words]) == (0, "".join(f"{line}\n" for line in lines), "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--topic", "nothing"], "Error occurred: Could not match any topic-partitions with the specified filters\n"),
        (["--topic", "one", "--topic-partitions", "one"], "Error occurred: --topic-partitions cannot be used with --topic or --partitions\n"),
        (["--topic-partitions", "one:x"], "Error occurred: Invalid rule specification: one:x\n"),
    ],
)
def test_what_cannot_be_told(bootstrap: str, words: list[str], sentence: str) -> None:
    assert run(functools.partial(execute, TOOL), ["--bootstrap-server", bootstrap, *words]) == (1, "", sentence)
