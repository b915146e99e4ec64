"""`pkc groups [NAME...]`: the groups at the brokers and in ZooKeeper; with names, their members."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.pkc import rows
from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, group_names, json_option
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.tables import Row, Screen

if TYPE_CHECKING:
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from pykafka_classic.common.topic_partition import TopicPartition
    from pykafka_classic.edges.admin import Admin

DEAD = "Dead"  # the state of a group that its coordinator does not know


@click.command()
@click.argument("names", nargs=-1, metavar="[GROUP]...", shell_complete=group_names)
@cluster_options
@json_option
@click.pass_context
def groups(ctx: click.Context, /, names: tuple[str, ...], brokers: str | None, zookeeper: str | None, **given: bool) -> None:
    """The groups of consumers, those that brokers coordinate and those that keep themselves in ZooKeeper; with names: their members."""
    screen = Screen(console_of(ctx), as_json=given["as_json"])
    cluster = Cluster(brokers, zookeeper)
    with ExitStack() as stack:
        admin = stack.enter_context(cluster.admin())
        zk = zookeeper_or_note(cluster, admin, screen)
        if zk is not None:
            stack.enter_context(zk)
        if names:
            found = {name: _members(admin, zk, name) for name in dict.fromkeys(names)}
            screen.show(rows.MEMBERS, [row for name in found for row in found[name]])
            for name in (name for name in found if not found[name]):
                screen.note(f"Group {name} has no members now.")
        else:
            screen.show(rows.GROUPS, _all(admin, zk))


def zookeeper_or_note(cluster: Cluster, admin: Admin, screen: Screen) -> ZooKeeperSession | None:
    """ZooKeeper; None, and a note, where it cannot be reached and nobody has said where it is. CommandFailed where somebody has."""
    try:
        return cluster.zookeeper(admin)
    except CommandFailed as error:
        if cluster.names_zookeeper:
            raise
        screen.note(f"Without what is in ZooKeeper: {error}")
        return None


def known_groups(admin: Admin, zk: ZooKeeperSession | None) -> set[str]:
    """The names of all groups."""
    return {*admin.list_groups(), *(_zookeeper_groups(zk) if zk is not None else ())}


def _zookeeper_groups(zk: ZooKeeperSession) -> list[str]:
    from zk_schema import consumers

    return sorted(zk.children(consumers.PATH))


def _all(admin: Admin, zk: ZooKeeperSession | None) -> list[Row]:
    from zk_schema import consumers

    listed = admin.list_groups()
    described = admin.describe_groups(listed).values_only()
    found = [rows.kafka_group_row(listed[name], described.get(name)) for name in sorted(listed)]
    if zk is not None:
        found += [rows.zookeeper_group_row(name, zk.children(consumers.ids_path(name))) for name in _zookeeper_groups(zk)]
    return found


def _members(admin: Admin, zk: ZooKeeperSession | None, name: str) -> list[Row]:
    from pykafka_classic.cli.suggestions import did_you_mean

    described = admin.describe_groups([name]).check()[name]
    in_zookeeper = zk is not None and name in _zookeeper_groups(zk)
    if described.state == DEAD and not in_zookeeper:
        raise CommandFailed(f"There is no group {name!r}.{did_you_mean(name, known_groups(admin, zk))}")
    found = rows.kafka_member_rows(described)
    if zk is not None and in_zookeeper:
        from zk_schema import consumers

        found += rows.zookeeper_member_rows(name, zk.children(consumers.ids_path(name)), _owners(zk, name))
    return found


def _owners(zk: ZooKeeperSession, group: str) -> dict[TopicPartition, str]:
    from pykafka_classic.common.topic_partition import TopicPartition
    from zk_schema import consumers

    topics = zk.children(f"{consumers.group_path(group)}/owners")
    partitions = [TopicPartition(topic, int(child)) for topic in topics for child in zk.children(consumers.owners_path(group, topic)) if child.isdecimal()]
    told = zk.data_of(consumers.owner_path(group, *each) for each in partitions)
    return {partition: (result.data or b"").decode(errors="replace") for partition, result in zip(partitions, told, strict=True) if result.ok}
