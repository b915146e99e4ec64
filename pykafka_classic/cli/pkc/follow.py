"""`pkc follow`: what happens in the cluster, in sentences, as it happens.

ZooKeeper's watches tell of it; nothing is asked for in intervals. What happens while the connection is lost is told when it stands again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, json_option
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.tables import Connection, Screen, as_json

if TYPE_CHECKING:
    from pykafka_classic.cli.pkc.znode_mirror import WaitingMirror
    from pykafka_classic.monitor.sentences import Event


@click.command()
@cluster_options
@json_option
@click.pass_context
def follow(ctx: click.Context, /, brokers: str | None, zookeeper: str | None, as_json: bool) -> None:
    """Tell what happens in the cluster, in sentences, until Ctrl-C.

    Brokers join and leave, leaders and the controller move, ISRs shrink and expand, topics come and go, configs change, members of ZooKeeper's groups join
    and leave.
    """
    from pykafka_classic.cli.pkc.znode_mirror import WaitingMirror
    from pykafka_classic.monitor.sentences import Teller, is_wanted

    screen = Screen(console_of(ctx), as_json=as_json)
    with Cluster(brokers, zookeeper).zookeeper() as zk:
        mirror = WaitingMirror(zk.adapter, wanted=is_wanted)
        Connection(screen, zk.adapter.zk)
        mirror.read()
        screen.note(_opening(mirror, zk.connect))
        teller = Teller(mirror.nodes)
        while True:
            for change in mirror.next_changes():
                for event in teller.tell(change):
                    _show(screen, event)


def _opening(mirror: WaitingMirror, connect: str) -> str:
    brokers = sum(path.startswith("/brokers/ids/") for path in mirror.nodes)
    topics = sum(path.startswith("/brokers/topics/") and path.count("/") == 3 for path in mirror.nodes)
    return f"Following ZooKeeper at {connect}: {brokers} brokers, {topics} topics. Ctrl-C ends."


def _show(screen: Screen, event: Event) -> None:
    now = time.time_ns() // 1_000_000
    if screen.as_json:
        screen.say_all([as_json({"time_ms": now, "event": event.name, **event.facts, "sentence": event.sentence})])
        return
    moment = f"{time.strftime('%H:%M:%S', time.localtime(now / 1000))}.{now % 1000:03d}"
    screen.say_all([f"{screen.paint(moment, dim=True)}  {screen.paint(event.sentence, fg='red') if event.alarming else event.sentence}"])
