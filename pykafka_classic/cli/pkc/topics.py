"""`pkc topics [NAME...]`: what topics there are; with names, their partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, json_option, topic_names
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.tables import Screen

if TYPE_CHECKING:
    from pykafka_classic.client.admin.topics import TopicDescription
    from pykafka_classic.common.topic_partition import TopicPartition
    from pykafka_classic.edges.admin import Admin


@click.command()
@click.argument("names", nargs=-1, metavar="[TOPIC]...", shell_complete=topic_names)
@click.option("-a", "--all", "internal", is_flag=True, help="The brokers' own topics too (__consumer_offsets).")
@cluster_options
@json_option
@click.pass_context
def topics(ctx: click.Context, /, names: tuple[str, ...], brokers: str | None, zookeeper: str | None, **given: bool) -> None:
    """The topics; with names: their partitions, with the offsets of the first record and of the next one."""
    from pykafka_classic.cli.pkc import rows

    screen = Screen(console_of(ctx), as_json=given["as_json"])
    with Cluster(brokers, zookeeper).admin() as admin:
        if not names:
            listed = sorted(admin.list_topics(internal=given["internal"]))
            described = admin.describe_topics(listed).values_only() if listed else {}
            screen.show(rows.TOPICS, [rows.topic_row(described[name]) for name in listed if name in described])
            return
        found = existing_topics(admin, names)
        first, following = ends_of(admin, found)
    screen.show(rows.PARTITIONS, [row for topic in found for row in rows.partition_rows(topic, first, following)])


def existing_topics(admin: Admin, names: Sequence[str]) -> list[TopicDescription]:
    """The topics of these names. CommandFailed where one is not there."""
    from pykafka_classic.cli.suggestions import did_you_mean

    described = admin.describe_topics(names)
    for name, error in described.errors().items():
        if error.code.name == "UNKNOWN_TOPIC_OR_PARTITION":
            raise CommandFailed(f"There is no topic {name!r}.{did_you_mean(name, admin.list_topics(internal=True))}")
        raise CommandFailed(f"Topic {name!r}: {error}")
    found = described.values_only()
    return [found[name] for name in dict.fromkeys(names)]


def ends_of(admin: Admin, topics: Sequence[TopicDescription]) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """First and next offsets, of the partitions that have a leader."""
    from pykafka_classic.client.admin.offsets import EARLIEST, LATEST
    from pykafka_classic.common.topic_partition import TopicPartition

    led = [TopicPartition(topic.name, each.partition) for topic in topics for each in topic.partitions if each.leader is not None]
    if not led:
        return {}, {}
    first, following = (admin.list_offsets(dict.fromkeys(led, end)).values_only() for end in (EARLIEST, LATEST))
    return {name: each.offset for name, each in first.items()}, {name: each.offset for name, each in following.items()}
