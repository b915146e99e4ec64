"""kafka-consumer-groups, Apache's and ours, side by side on one cluster of ours: many partitions, several groups, static members; word for word."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from pykafka_classic.cli.command import execute
from pykafka_classic.cli.consumer_groups import TOOL
from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration import cli_masks
from tests.integration.apache import class_path
from tests.integration.cli_recordings import run
from tests.integration.foreign import Sent, send
from tests.integration.java_tools import JavaTools

TOPICS = {"wide": 12, "narrow": 3, "a.b_c": 7}
RECORDS = 5
OURS = functools.partial(execute, TOOL)


@pytest.fixture(scope="module")
def populated(single_broker: LocalCluster) -> Iterator[LocalCluster]:
    """Groups "one" (everything), "two" (a part), "three" (nothing), and "alive" with a static member and another."""
    with Admin(single_broker.bootstrap) as admin:
        admin.create_topics([NewTopic(name, count, 1) for name, count in TOPICS.items()]).check()
        wait_until(lambda: len(admin.describe_topics(list(TOPICS)).values_only()) == len(TOPICS), seconds=20)
        for name, count in TOPICS.items():
            for number in range(count):
                send(single_broker.bootstrap, name, [Sent(None, b"v", timestamp_ms=1_600_000_000_000 + each) for each in range(RECORDS)], partition=number)
        every = {TopicPartition(name, number): number % (RECORDS + 1) for name, count in TOPICS.items() for number in range(count)}
        admin.alter_group_offsets("one", every).check()
        admin.alter_group_offsets("two", {each: 1 for each in every if each.partition % 2}).check()
        members = [_member(single_broker, {"group.instance.id": "static-1", "client.id": "first"}), _member(single_broker, {"client.id": "second"})]
        wait_until(lambda: _all_assigned(members), seconds=60)
        yield single_broker
        for each in members:
            each.close()


def _all_assigned(members: list[Consumer]) -> bool:
    """Each is asked, for a member that is not is thrown out."""
    for each in members:
        assert each.poll(0.2) is None
    return sum(len(each.assignment()) for each in members) == sum(TOPICS.values()) and all(each.assignment() for each in members)


def _member(cluster: LocalCluster, settings: dict[str, str]) -> Consumer:
    common = {"bootstrap.servers": cluster.bootstrap, "group.id": "alive", "enable.auto.commit": False, "auto.offset.reset": "latest", "log_level": 2}
    consumer = Consumer(common | settings)
    consumer.subscribe(["wide", "narrow", "a.b_c"])
    return consumer


def both(cluster: LocalCluster, *words: str) -> tuple[str, str]:
    """What ours printed and what Apache's printed; stdout, then stderr."""
    arguments = ["--bootstrap-server", cluster.bootstrap, *words]
    _, out, errors = run(OURS, arguments)
    _, theirs = JavaTools(class_path("2.8.2")).attempt("kafka.admin.ConsumerGroupCommand", *arguments)
    return cli_masks.of_ours(cli_masks.alike(out + errors, {})), cli_masks.of_java(cli_masks.alike(theirs, {}))


@pytest.mark.parametrize(
    "words",
    [
        ["--list"],
        ["--list", "--state"],
        ["--describe", "--group", "one"],
        ["--describe", "--all-groups"],
        ["--describe", "--group", "two", "--group", "alive", "--group", "missing"],
        ["--describe", "--all-groups", "--members"],
        ["--describe", "--group", "alive", "--members", "--verbose"],
        ["--describe", "--all-groups", "--state"],
        ["--reset-offsets", "--dry-run", "--group", "one", "--all-topics", "--to-earliest"],
        ["--reset-offsets", "--dry-run", "--group", "one", "--group", "two", "--all-topics", "--to-current"],
        ["--reset-offsets", "--dry-run", "--group", "two", "--topic", "wide", "--to-current"],
        ["--reset-offsets", "--dry-run", "--group", "one", "--topic", "wide", "--topic", "narrow:2,0", "--to-offset", "3"],
        ["--reset-offsets", "--dry-run", "--group", "one", "--topic", "wide", "--shift-by", "2"],
        ["--reset-offsets", "--dry-run", "--group", "three", "--topic", "narrow", "--shift-by", "2"],
        ["--reset-offsets", "--dry-run", "--group", "one", "--topic", "wide", "--to-datetime", "2020-09-13T12:26:40.002"],
        ["--reset-offsets", "--dry-run", "--group", "one", "--topic", "wide", "--to-datetime", "2020-09-13T14:26:40.002+02:00", "--export"],
        ["--reset-offsets", "--dry-run", "--group", "one", "--group", "two", "--all-topics", "--to-latest", "--export"],
        ["--reset-offsets", "--dry-run", "--group", "one", "--topic", "wide", "--by-duration", "P1DT2H"],
        ["--reset-offsets", "--dry-run", "--group", "one", "--topic", "wide", "--to-latest", "--to-earliest"],
        ["--reset-offsets", "--dry-run", "--execute", "--group", "one", "--topic", "wide", "--to-latest"],
        ["--reset-offsets", "--dry-run", "--group", "alive", "--group", "two", "--all-topics", "--to-latest"],
        ["--reset-offsets", "--group", "one", "--all-groups", "--topic", "wide", "--to-latest"],
        ["--members", "--group", "one"],
        ["--list", "--describe", "--group", "one"],
        ["--delete", "--group", "one", "--topic", "wide"],
        ["--delete-offsets", "--group", "one"],
        ["--delete-offsets", "--group", "missing", "--topic", "wide"],
        ["--delete", "--group", "alive", "--group", "missing", "--group", "another"],
        ["--describe", "--group", "one", "--state", "Stable"],
    ],
    ids=" ".join,
)
def test_both_say_the_same(populated: LocalCluster, words: list[str]) -> None:
    ours, theirs = both(populated, *words)
    assert _compared(ours) == _compared(theirs)


def _compared(text: str) -> list[str]:
    """Lines, but for the help (our own words), stack traces, and warnings: Apache's go to its log, which nobody has configured here."""
    lines = [line.rstrip() for line in text.rstrip().splitlines() if not line.startswith(("\tat ", "WARN"))]
    return lines[: next((index for index, line in enumerate(lines) if line.startswith(("Option  ", "{USAGE}"))), len(lines))]


def test_a_plan_that_ours_exported_is_executed_by_apaches_and_the_other_way_round(populated: LocalCluster, tmp_path: Path) -> None:
    tools, bootstrap = JavaTools(class_path("2.8.2")), ["--bootstrap-server", populated.bootstrap]
    plan, group = tmp_path / "plan.csv", ["--reset-offsets", "--group", "moved"]
    _, exported, _ = run(OURS, [*bootstrap, *group, "--topic", "wide", "--to-offset", "2", "--dry-run", "--export"])
    plan.write_text(exported.strip() + "\n")
    assert tools.attempt("kafka.admin.ConsumerGroupCommand", *bootstrap, *group, "--from-file", str(plan), "--execute")[0] == 0
    with Admin(populated.bootstrap) as admin:
        assert {position.offset for position in admin.list_group_offsets("moved").values()} == {2}
        _, exported = tools.attempt("kafka.admin.ConsumerGroupCommand", *bootstrap, *group, "--topic", "wide", "--to-offset", "4", "--dry-run", "--export")
        plan.write_text("".join(f"{line}\n" for line in exported.splitlines() if line.startswith("wide,")))
        run(OURS, [*bootstrap, *group, "--from-file", str(plan), "--execute"])
        moved = admin.list_group_offsets("moved")
    assert {each: position.offset for each, position in moved.items()} == {TopicPartition("wide", number): 4 for number in range(TOPICS["wide"])}
