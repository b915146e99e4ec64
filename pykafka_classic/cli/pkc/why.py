"""`pkc why TOPIC-PARTITION | broker N | group G`: why something is as it is, in words.

Whoever watched knows more than whoever looks: so a running monitor's store is asked, where there is one for this cluster; else the cluster as it is now, from
which less can be concluded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import click

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, json_option
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.tables import Screen, as_json

if TYPE_CHECKING:
    from pykafka_classic.monitor.store.reader import StoreReader

FRESH_MS: Final = 60_000  # a monitor that has written nothing for so long does not run
NOW: Final = "now"


@click.command()
@click.argument("question", nargs=-1, required=True, metavar="TOPIC-PARTITION | broker N | group G")
@click.option("--at", metavar="TIME", help="How it was then: 14:03:11, or 2026-01-31T14:03:11. Only a monitor's store knows.")
@click.option("--store", type=click.Path(dir_okay=False), metavar="FILE", help="The monitor's store; else that of config/monitor.properties.")
@click.option("--cluster", "name", metavar="NAME", help="The cluster's name in the monitor; else the one with this ZooKeeper, or the only one.")
@cluster_options
@json_option
@click.pass_context
def why(ctx: click.Context, /, question: tuple[str, ...], brokers: str | None, zookeeper: str | None, **given: str | None) -> None:
    """Why something is as it is: who left the ISR and why, who leads since when, what a group waits for.

    A running monitor is asked (make monitor); where none watches this cluster, what can be seen of the cluster now.
    """
    from pykafka_classic.monitor.reading import explain
    from pykafka_classic.monitor.store.queries import UnknownCluster
    from pykafka_classic.monitor.why import Unknown

    screen = Screen(console_of(ctx), as_json=bool(given["as_json"]))
    t_ms = _moment(given["at"]) if given["at"] else None
    with ExitStack() as stack:
        found = _monitors_store(given["store"], given["name"], brokers, zookeeper, must_be_fresh=t_ms is None)
        if found is None and given["store"]:
            raise CommandFailed(f"The monitor of {given['store']} has not watched this cluster; --cluster says which one is meant.")
        if found is None and t_ms is not None:
            raise CommandFailed("No monitor has watched this cluster: --store names the file of one that has.")
        if found is None:
            screen.note("No monitor watches this cluster: this is what can be seen of it now.")
            found = stack.enter_context(_looked_at(Cluster(brokers, zookeeper)))
        reader, cluster = found
        try:
            answer = explain(reader, cluster, " ".join(question), t_ms)
        except (Unknown, UnknownCluster) as error:
            raise CommandFailed(str(error)) from error
    screen.say_all([as_json(asdict(answer))] if screen.as_json else answer.sentences)


def _moment(text: str) -> int:
    """A time of today, or of a day."""
    from datetime import datetime

    today = datetime.now().astimezone().date().isoformat()
    for whole in (text, f"{today}T{text}"):
        try:
            return round(datetime.fromisoformat(whole).astimezone().timestamp() * 1000)
        except ValueError:
            continue
    raise click.UsageError(f"--at takes a time, 14:03:11 or 2026-01-31T14:03:11: {text!r} is none.")


def _monitors_store(path: str | None, name: str | None, brokers: str | None, zookeeper: str | None, *, must_be_fresh: bool) -> tuple[StoreReader, str] | None:
    """The store of a monitor that watches this cluster, and the cluster's name there; None where there is none."""
    from pykafka_classic.monitor.store.reader import StoreReader

    file = Path(path) if path is not None else _configured_store()
    if file is None or not file.exists():
        if path is not None:
            raise CommandFailed(f"There is no store {path}.")
        return None
    reader = StoreReader(file)
    if must_be_fresh and path is None and reader.beat_ms() < time.time_ns() // 1_000_000 - FRESH_MS:
        return None
    if name is not None:
        return reader, name
    names = [each.name for each in reader.clusters() if zookeeper is None or each.zookeeper == zookeeper]
    if brokers is not None:
        names = [each for each in names if _has_one_of(reader, each, brokers)]
    if len(names) > 1:
        raise CommandFailed(f"The monitor watches {', '.join(names)}: --cluster names the one that is meant.")
    return (reader, names[0]) if names else None


def _has_one_of(reader: StoreReader, cluster: str, brokers: str) -> bool:
    """Whether one of these addresses is a broker's of this cluster, now or formerly."""
    given = {address.strip() for address in brokers.split(",")}
    return any(endpoint.rpartition("//")[2] in given for each in reader.brokers_at(cluster) for endpoint in each.endpoints)


def _configured_store() -> Path | None:
    """Where the checkout's monitor keeps its store."""
    from pykafka_classic.cli.daemons import CHECKOUT
    from pykafka_classic.monitor.process import CannotStart, read_settings

    try:
        return read_settings(CHECKOUT / "config" / "monitor.properties", CHECKOUT).store_path
    except CannotStart:
        return None


@contextmanager
def _looked_at(cluster: Cluster) -> Iterator[tuple[StoreReader, str]]:
    """A store that holds one look at the cluster."""
    from pykafka_classic.cli.pkc.znode_mirror import WaitingMirror
    from pykafka_classic.monitor.collector.snapshot import fill
    from pykafka_classic.monitor.store.reader import StoreReader

    with TemporaryDirectory(prefix="pkc-why-") as folder, cluster.admin() as admin, cluster.zookeeper(admin) as zk:
        mirror = WaitingMirror(zk.adapter, wanted=lambda path: not path.startswith("/zookeeper"), watching=False)
        mirror.read()
        path = Path(folder) / "look.db"
        fill(path, NOW, mirror.nodes, admin)
        reader = StoreReader(path)
        try:
            yield reader, NOW
        finally:
            reader.close_own()
