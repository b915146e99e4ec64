"""`pkc znodes [PATH] [--watch]`: ZooKeeper's tree, and what changes in it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import click

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.pkc import znode_tree
from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, json_option
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.tables import Connection, Screen, as_json
from pykafka_classic.cli.pkc.znode_tree import Line
from pykafka_classic.monitor.znodes import ROOT, Change, Mark, sort_key

if TYPE_CHECKING:
    from pykafka_classic.cli.pkc.znode_mirror import WaitingMirror

COLOURS: Final = {Mark.ADDED: "green", Mark.REMOVED: "red", Mark.CHANGED: "yellow"}
ZOOKEEPERS_OWN: Final = "/zookeeper"  # its quotas and its configuration
MARK_WIDTH: Final = 2


@click.command()
@click.argument("path", default=ROOT, metavar="[PATH]")
@click.option("-w", "--watch", is_flag=True, help="Then tell what changes, with + - ~, until Ctrl-C.")
@click.option("-d", "--depth", type=click.IntRange(min=0), metavar="N", help="Only so many levels below the path.")
@cluster_options
@json_option
@click.pass_context
def znodes(ctx: click.Context, /, path: str, brokers: str | None, zookeeper: str | None, **given: int | None) -> None:
    """ZooKeeper's tree with what the nodes hold; * marks ephemeral nodes, which live as long as a session."""
    from pykafka_classic.cli.pkc.znode_mirror import WaitingMirror

    if not path.startswith(ROOT):
        raise click.UsageError(f"A path begins with /: {path!r} does not.")
    root = path.rstrip("/") or ROOT
    screen = Screen(console_of(ctx), as_json=bool(given["as_json"]))
    with Cluster(brokers, zookeeper).zookeeper() as zk:
        mirror = WaitingMirror(zk.adapter, root, wanted=lambda each: _is_wanted(each, root, given["depth"]), watching=bool(given["watch"]))
        Connection(screen, zk.adapter.zk)
        mirror.read()
        if not mirror.nodes and not given["watch"]:
            raise CommandFailed(f"There is no node {root} in ZooKeeper at {zk.connect}.")
        _show_tree(screen, mirror, root)
        while given["watch"]:
            changes = mirror.next_changes()
            if changes:
                _show_changes(screen, changes, root)


def _is_wanted(path: str, root: str, depth: int | None) -> bool:
    if depth is not None and path.count("/") - root.rstrip("/").count("/") > depth:
        return False
    return root != ROOT or (path != ZOOKEEPERS_OWN and not path.startswith(f"{ZOOKEEPERS_OWN}/"))


def _show_tree(screen: Screen, mirror: WaitingMirror, root: str) -> None:
    if screen.as_json:
        screen.say_all(as_json(znode_tree.node_as_json(path, mirror.nodes[path])) for path in sorted(mirror.nodes, key=sort_key))
    else:
        screen.say_all(line.text for line in znode_tree.draw(mirror.nodes, root, width=_width(screen)))


def _show_changes(screen: Screen, changes: Iterable[Change], root: str) -> None:
    if screen.as_json:
        now = {"time_ms": time.time_ns() // 1_000_000}
        screen.say_all(as_json(now | znode_tree.change_as_json(change)) for change in changes)
        return
    width = _width(screen)
    lines = znode_tree.draw_changes(changes, root, width=None if width is None else width - MARK_WIDTH)
    screen.say_all([screen.paint(time.strftime("%H:%M:%S"), dim=True), *(_coloured(screen, line) for line in lines)])


def _coloured(screen: Screen, line: Line) -> str:
    return screen.paint(str(line), fg=COLOURS[line.mark]) if line.mark else screen.paint(str(line), dim=True)


def _width(screen: Screen) -> int | None:
    return shutil.get_terminal_size().columns if screen.is_terminal else None
