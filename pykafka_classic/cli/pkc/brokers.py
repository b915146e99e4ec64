"""`pkc brokers`: the brokers that are alive, and those that partitions miss."""

from __future__ import annotations

import click

from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, json_option
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.tables import Screen


@click.command(name="brokers")
@cluster_options
@json_option
@click.pass_context
def brokers(ctx: click.Context, /, brokers: str | None, zookeeper: str | None, as_json: bool) -> None:
    """The brokers: address, rack, who is the controller, how many partitions each leads and holds, and how many of those are not in sync."""
    from pykafka_classic.cli.pkc import rows

    with Cluster(brokers, zookeeper).admin() as admin:
        names = list(admin.list_topics(internal=True))
        topics = admin.describe_topics(names).values_only().values() if names else ()
        found = rows.broker_rows(admin.describe_cluster(), topics)
    Screen(console_of(ctx), as_json=as_json).show(rows.BROKERS, found)
