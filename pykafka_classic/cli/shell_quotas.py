"""Quotas in zookeeper-shell: how many nodes and bytes there should be below a node. ZooKeeper 3.5 only warns in its log when there are more.

The quota of /a stands in /zookeeper/quota/a/zookeeper_limits, what there is in .../zookeeper_stats: "count=5,bytes=-1", -1 for no limit. Nodes of which one
lies below the other cannot both have a quota.

Differs from ZooKeeper's: below a chroot quotas are refused, for there they would stand where no server looks for them.

Source: ZooKeeper 3.5.9's SetQuotaCommand, ListQuotaCommand, DelQuotaCommand, Quotas.
"""

from __future__ import annotations

from typing import Final

from pykafka_classic.cli.command import CommandFailed, Console
from pykafka_classic.cli.shell_answers import ask
from pykafka_classic.cli.shell_lines import Line, ShellCommand, check_path
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.zookeeper import Create, Delete, GetData, SetData

ROOT: Final = "/zookeeper/quota"
LIMITS: Final = "zookeeper_limits"
STATS: Final = "zookeeper_stats"
UNLIMITED: Final = -1


def _amounts(*, count: int = UNLIMITED, size: int = UNLIMITED) -> bytes:
    return b"count=%d,bytes=%d" % (count, size)


def _amounts_of(data: bytes | None) -> dict[str, int]:
    """Count and bytes by name."""
    return {name: int(value) for name, _, value in (part.partition("=") for part in (data or b"").decode().split(","))}


def _check(line: Line) -> None:
    line.number("n", UNLIMITED)
    line.number("b", UNLIMITED)


def _place(zk: ZooKeeperSession, path: str) -> str:
    """Where the quota of a node stands."""
    if "/" in zk.connect:
        chroot = zk.connect[zk.connect.index("/") :]
        raise CommandFailed(f"Quotas stand above the chroot {chroot}: give ZooKeeper's address without it, and the whole path {chroot}{path}.")
    place = ROOT + path
    check_path(place)  # the root has none
    return place


def _set_quota(zk: ZooKeeperSession, line: Line, _: Console) -> None:
    path, place = line.path, _place(zk, line.path)
    if not zk.exists(path):
        raise CommandFailed(f"{path} does not exist.")
    below = next((child for child in zk.children(place) if not child.startswith("zookeeper_")), None)
    if below is not None:
        raise CommandFailed(f"{path} has child {below} which has a quota")
    steps = place.removeprefix(ROOT).split("/")[1:]
    for depth in range(1, len(steps) + 1):
        parent = "/".join((ROOT, *steps[:depth]))
        if LIMITS in zk.children(parent):
            raise CommandFailed(f"{path} has a parent {parent} which has a quota")
    zk.create_parents(f"{place}/{LIMITS}")
    ask(zk, Create(f"{place}/{LIMITS}", _amounts(count=line.number("n", UNLIMITED), size=line.number("b", UNLIMITED))), path)
    ask(zk, Create(f"{place}/{STATS}", _amounts(count=0, size=0)), path)  # with it, the server begins to count


def _list_quota(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    place = _place(zk, line.path)
    console.complain(f"absolute path is {place}/{LIMITS}")
    limits, stats = zk.submit(GetData(f"{place}/{LIMITS}"), GetData(f"{place}/{STATS}"))
    if not limits.ok or not stats.ok:
        console.complain(f"quota for {line.path} does not exist.")
        return
    for what, data in (("quota", limits.data), ("stat", stats.data)):
        console.say(f"Output {what} for {line.path} {(data or b'').decode()}")


def _delete_quota(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    place = _place(zk, line.path)
    limits = zk.submit(GetData(f"{place}/{LIMITS}"))[0]
    if not limits.ok:
        console.say(f"Quota does not exist for {line.path}")
        return
    if line.options:
        kept = _amounts_of(limits.data)
        changed = _amounts(count=UNLIMITED if "n" in line.options else kept["count"], size=UNLIMITED if "b" in line.options else kept["bytes"])
        ask(zk, SetData(f"{place}/{LIMITS}", changed), line.path)
        return
    zk.delete(f"{place}/{LIMITS}")
    zk.delete(f"{place}/{STATS}")
    while place != ROOT and not zk.children(place):  # what was made for it goes with it
        ask(zk, Delete(place), place)
        place = place.rpartition("/")[0]


COMMANDS: Final = (
    ShellCommand("delquota", "[-n|-b] path", "remove a quota; -n or -b only the limit of nodes or of bytes", _delete_quota, flags="n b", one_of="n b"),
    ShellCommand("listquota", "path", "a quota, and how much of it is used", _list_quota),
    ShellCommand(
        "setquota",
        "-n|-b val path",
        "how many nodes (-n) or bytes (-b) there should be below a node: with more, the server warns in its log",
        _set_quota,
        valued="n b",
        one_of="n b",
        required="-b bytes quota, -n num quota",
        check=_check,
    ),
)
