"""`pkc lag GROUP [--watch]`: how far a group is behind, whichever store it commits to."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import click

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.pkc import rows
from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, group_names, json_option
from pykafka_classic.cli.pkc.groups import known_groups, zookeeper_or_note
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.tables import Connection, Screen, as_json, table
from pykafka_classic.common.zookeeper import Code, Request, Result, SessionEvent, WatchEvent

if TYPE_CHECKING:
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from pykafka_classic.client.group_offsets.group_offsets import GroupOffsetsCore
    from pykafka_classic.client.group_offsets.values import GroupSnapshot
    from pykafka_classic.common.promise import Promise
    from pykafka_classic.edges.admin import Admin

EVERY_S: Final = 2.0
SHORTEST_S: Final = 0.1


class EmptyZooKeeper:
    """The seam to a ZooKeeper in which there is nothing: for groups whose ZooKeeper cannot be reached."""

    session_id = 0

    def submit(self, requests: Sequence[Request]) -> Promise[list[Result]]:
        """No node, whatever is asked for."""
        from pykafka_classic.common.promise import Promise

        return Promise.resolved([Result(Code.NO_NODE, getattr(each, "path", "")) for each in requests])

    def add_watch_listener(self, listener: Callable[[WatchEvent], None]) -> None:
        """Nothing ever happens."""

    def add_session_listener(self, listener: Callable[[SessionEvent], None]) -> None:
        """Nothing ever happens."""


@click.command()
@click.argument("group", shell_complete=group_names)
@click.option("-w", "--watch", is_flag=True, help="Again and again, until Ctrl-C.")
@click.option("-i", "--interval", type=click.FloatRange(min=SHORTEST_S), default=EVERY_S, show_default=True, metavar="SECONDS", help="With --watch: how often.")
@cluster_options
@json_option
@click.pass_context
def lag(ctx: click.Context, /, group: str, brokers: str | None, zookeeper: str | None, **given: float) -> None:
    """How far a group is behind: records not read yet, and how long the first of them has been waiting.

    KAFKA and ZOOKEEPER are the offsets committed to either store; the newer one counts.
    """
    screen = Screen(console_of(ctx), as_json=bool(given["as_json"]))
    cluster = Cluster(brokers, zookeeper)
    with ExitStack() as stack:
        admin = stack.enter_context(cluster.admin())
        zk = zookeeper_or_note(cluster, admin, screen)
        if zk is not None:
            stack.enter_context(zk)
            Connection(screen, zk.adapter.zk)
        offsets = _offsets(admin, zk)
        snapshot = _read(admin, offsets, group)
        if not (snapshot.partitions or snapshot.unreadable or snapshot.kafka_members or snapshot.zookeeper_members):
            _refuse_unknown(admin, zk, group)
        while True:
            _show(screen, snapshot, again=bool(given["watch"]))
            if not given["watch"]:
                return
            snapshot = _next(admin, offsets, group, screen, given["interval"])


def _offsets(admin: Admin, zk: ZooKeeperSession | None) -> GroupOffsetsCore:
    from pykafka_classic.client.group_offsets.group_offsets import GroupOffsetsCore
    from pykafka_classic.edges.group_offsets import WaitingZooKeeper

    return GroupOffsetsCore(admin.core, EmptyZooKeeper() if zk is None else WaitingZooKeeper(zk.adapter))


def _read(admin: Admin, offsets: GroupOffsetsCore, group: str) -> GroupSnapshot:
    from pykafka_classic.client.group_offsets.values import OffsetsUnavailable
    from pykafka_classic.common.zookeeper import SessionExpired

    try:
        return admin.run(offsets.read(group))
    except SessionExpired:  # between two looks; the next one begins another session
        return admin.run(offsets.read(group))
    except OffsetsUnavailable as error:
        raise CommandFailed(str(error)) from error


def _next(admin: Admin, offsets: GroupOffsetsCore, group: str, screen: Screen, interval_s: float) -> GroupSnapshot:
    """After the interval, and as soon as brokers answer; where they do not, the user is told, once."""
    from pykafka_classic.common.errors import KafkaError
    from pykafka_classic.protocol.network import Disconnected

    told = False
    while True:
        time.sleep(interval_s)
        try:
            snapshot = _read(admin, offsets, group)
        except (CommandFailed, KafkaError, Disconnected) as error:
            if not told:
                screen.note(f"{str(error).rstrip('.')}; it is tried again and again.")
                told = True
            continue
        if told:
            screen.note("The brokers answer again.")
        return snapshot


def _refuse_unknown(admin: Admin, zk: ZooKeeperSession | None, group: str) -> None:
    from pykafka_classic.cli.suggestions import did_you_mean

    names = known_groups(admin, zk)
    if group not in names:
        raise CommandFailed(f"There is no group {group!r}.{did_you_mean(group, names)}")


def _show(screen: Screen, snapshot: GroupSnapshot, *, again: bool) -> None:
    found = rows.lag_rows(snapshot)
    if screen.as_json:
        now = {"time_ms": time.time_ns() // 1_000_000} if again else {}
        screen.say_all(as_json(now | dict(row)) for row in found)
        return
    if again:
        screen.clear()
    lines = table(rows.LAG, found, screen.paint if screen.coloured else None) if found else []
    screen.say_all([*lines, rows.lag_summary(snapshot), *([""] if again and not screen.is_terminal else [])])
