"""`pkc offsets GROUP --to kafka|zookeeper [--execute]`: carry a group's offsets from one store to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.pkc import rows
from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, group_names, json_option
from pykafka_classic.cli.pkc.groups import known_groups
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.tables import Screen
from pykafka_classic.client.group_offsets.values import GroupIsAlive, Migration, OffsetsUnavailable, Store

if TYPE_CHECKING:
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from pykafka_classic.edges.admin import Admin

STORES: Final = [store.value for store in Store]


@click.command()
@click.argument("group", shell_complete=group_names)
@click.option("--to", "target", type=click.Choice(STORES), required=True, help="The store that gets the offsets; they are taken from the other one.")
@click.option("--execute", is_flag=True, help="Do it; without this option it is only told what would be done.")
@click.option("--force", is_flag=True, help="Although the group has living members, and although the target is newer.")
@cluster_options
@json_option
@click.pass_context
def offsets(ctx: click.Context, /, group: str, brokers: str | None, zookeeper: str | None, **given: Any) -> None:
    """Carry a group's offsets from ZooKeeper to Kafka, or back: those that are newer than what the other store holds.

    Nothing is written without --execute. It may be repeated: what was carried over is passed over. The group's members must have been stopped.
    """
    screen = Screen(console_of(ctx), as_json=bool(given["as_json"]))
    cluster, target = Cluster(brokers, zookeeper), Store(given["target"])
    with cluster.admin() as admin, cluster.zookeeper(admin) as zk:
        done = _migrate(admin, zk, group, {"source": target.other, "force": given["force"], "dry_run": not given["execute"]})
        if not done.steps:
            _refuse_unknown(admin, zk, group)
        if done.steps or screen.as_json:
            screen.show(rows.MIGRATION, rows.migration_rows(done))
        if not screen.as_json:
            screen.say_all([rows.migration_summary(done)])
    if done.failed:
        raise CommandFailed(f"{len(done.failed)} of the offsets could not be written; the command may be run again.")


def _migrate(admin: Admin, zk: ZooKeeperSession, group: str, how: dict[str, Any]) -> Migration:
    from pykafka_classic.client.group_offsets.group_offsets import GroupOffsetsCore
    from pykafka_classic.common.zookeeper import SessionExpired
    from pykafka_classic.edges.group_offsets import WaitingZooKeeper

    core = GroupOffsetsCore(admin.core, WaitingZooKeeper(zk.adapter))
    try:
        return admin.run(core.migrate(group, **how))
    except GroupIsAlive as error:
        text = str(error)
        raise CommandFailed(f"{text[:1].upper()}{text[1:]} (--force)") from error
    except (OffsetsUnavailable, SessionExpired) as error:
        raise CommandFailed(str(error) or f"The session with ZooKeeper at {zk.connect} has ended; the command may be run again.") from error


def _refuse_unknown(admin: Admin, zk: ZooKeeperSession, group: str) -> None:
    from pykafka_classic.cli.suggestions import did_you_mean

    names = known_groups(admin, zk)
    if group not in names:
        raise CommandFailed(f"There is no group {group!r}.{did_you_mean(group, names)}")
