"""ZooKeeper: the tree as it is at this moment (or was), a node with its history, a shell that reads, and the ensemble."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.common.zookeeper import Code, GetChildren, GetData, Stat, session_name
from pykafka_classic.monitor.store.answers import Span, ZNode
from pykafka_classic.monitor.web.decoding import Shown, shown
from pykafka_classic.monitor.web.exchange import Response, not_found
from pykafka_classic.monitor.web.formats import moment
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.secrets_of_nodes import change_shown, data_shown
from pykafka_classic.monitor.web.view import Page, View
from pykafka_classic.monitor.web.work import Work
from pykafka_classic.monitor.writers import writer_of
from pykafka_classic.monitor.znodes import Node, name_of, parent_of, sort_key

CHILDREN_MAX: Final = 500
HISTORY: Final = 50
LINES_MAX: Final = 2_000
HELP: Final = "ls [-s] [-R] PATH | get [-s] PATH | stat PATH"


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of the tree."""

    path: str
    name: str
    depth: int
    children: int
    ephemeral: bool
    chosen: bool
    opened: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """A node as its page shows it."""

    path: str
    data: Shown
    version: int
    owner: str
    czxid: int
    mzxid: int
    ctime_ms: int | None
    mtime_ms: int
    children: int
    code: str
    page: str


@ROUTES.action("GET", "/c/{cluster}/zookeeper")
async def zookeeper(work: Work) -> Response:
    """The page. `at`: of a past moment."""
    path, at = work.request.text("path", "/") or "/", work.request.integer("at")
    view = work.view
    if at is None:
        mirror = work.collector.watch.mirror
        branches = _branches(path, lambda each: [_tuple(child, mirror.nodes[child], len(mirror.children_of(child))) for child in mirror.children_of(each)])
        node = mirror.nodes.get(path)
        facts = _facts_now(path, node, len(mirror.children_of(path))) if node is not None else None
    else:
        branches, facts = await work.read(lambda: _past(view, path, at))
    history = await work.read(lambda: [change_shown(each) for each in view.reader.znode_history(view.cluster, path, Span(until_ms=at, limit=HISTORY))])
    command = work.request.text("command")
    told = await work.app.ensembles.of(work.collector.settings.zookeeper)
    watchers, watchers_why = told.watchers(path)
    values = {
        "node_path": path,
        "at": at,
        "branches": branches,
        "facts": facts,
        "history": history,
        "command": command,
        "output": await shell(work, command) if command else "",
        "ensemble": told.servers,
        "watchers": watchers,
        "watchers_why": watchers_why,
        "owners": await work.read(lambda: _owner_names(view)),
        "help": HELP,
        "crumbs": _crumbs(path),
    }
    return await work.page(Page("zookeeper.html", "ZooKeeper", values))


async def shell(work: Work, line: str) -> str:
    """What ls, get or stat answer, as zkCli.sh prints it."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        return f"Cannot understand the line: {error}."
    command, options, paths = words[0] if words else "", {each for each in words[1:] if each.startswith("-")}, [each for each in words[1:] if each[:1] != "-"]
    allowed = {"ls": {"-s", "-R"}, "get": {"-s"}, "stat": set[str]()}.get(command)
    if allowed is None or options - allowed or len(paths) != 1:
        return f"There is: {HELP}"
    path = paths[0] if paths[0] == "/" else paths[0].rstrip("/")
    if not path.startswith("/") or "//" in path or "\0" in path or any(part in (".", "..") for part in path.split("/")):
        return f"Path must start with / character: {path}"
    if "-R" in options:
        return await _ls_all(work, path)
    data, children = await work.collector.zk.submit([GetData(path), GetChildren(path)])
    if data.code is Code.NO_NODE:
        return f"Node does not exist: {path}"
    if not data.ok or data.stat is None:
        return f"{data.code.name}: {path}"
    told = {"ls": f"[{', '.join(sorted(children.children))}]", "get": _text(data_shown(path, data.data)), "stat": ""}[command]
    stat = _stat(data.stat) if command == "stat" or "-s" in options else ""
    return "\n".join(part for part in (told, stat) if part)


async def _ls_all(work: Work, path: str) -> str:
    nodes = work.collector.nodes
    if path not in nodes:
        return f"Node does not exist: {path}"
    prefix = path.rstrip("/") + "/"
    found = sorted((each for each in nodes if each == path or each.startswith(prefix)), key=sort_key)
    more = [f"and {len(found) - LINES_MAX} more"] if len(found) > LINES_MAX else []
    return "\n".join([*found[:LINES_MAX], *more])


def _stat(stat: Stat) -> str:
    lines = (
        ("cZxid", f"0x{stat.czxid:x}"),
        ("ctime", moment(stat.ctime_ms)),
        ("mZxid", f"0x{stat.mzxid:x}"),
        ("mtime", moment(stat.mtime_ms)),
        ("pZxid", f"0x{stat.pzxid:x}"),
        ("dataVersion", str(stat.version)),
        ("ephemeralOwner", session_name(stat.ephemeral_owner) or "0x0"),
    )
    return "\n".join(f"{name} = {value}" for name, value in lines)


def _text(data: bytes | None) -> str:
    return "null" if data is None else shown(data, "text" if data.isascii() else "auto").text


# the tree


def _branches(path: str, children_of: Any) -> list[Branch]:
    """The way from the root down to the path, each step with its siblings, then the path's children."""
    way = [path]
    while way[0] != "/":
        way.insert(0, parent_of(way[0]))
    found: list[Branch] = []

    def add(parent: str, depth: int) -> None:
        for child, count, ephemeral in sorted(children_of(parent), key=lambda each: sort_key(each[0]))[:CHILDREN_MAX]:
            opened = child in way
            found.append(Branch(child, name_of(child), depth, count, ephemeral, child == path, opened and count > 0))
            if opened:
                add(child, depth + 1)

    add("/", 0)
    return found


def _tuple(path: str, node: Node, children: int) -> tuple[str, int, bool]:
    return path, children, node.ephemeral


def _past(view: View, path: str, at: int) -> tuple[list[Branch], Facts | None]:
    branches = _branches(path, lambda each: [(child.path, child.children, child.owner != 0) for child in view.reader.children_at(view.cluster, each, at)])
    node = view.reader.znode_at(view.cluster, path, at)
    return branches, _facts_then(node) if node is not None else None


def _facts_now(path: str, node: Node, children: int) -> Facts:
    written = writer_of(path)
    owner = session_name(node.ephemeral_owner)
    return Facts(path, shown(data_shown(path, node.data)), node.version, owner, node.czxid, node.mzxid, node.ctime_ms, node.mtime_ms, children, *written)


def _facts_then(node: ZNode) -> Facts:
    written = writer_of(node.path)
    return Facts(
        node.path,
        shown(data_shown(node.path, node.data)),
        node.version,
        session_name(node.owner),
        node.czxid,
        node.mzxid,
        None,
        node.t_ms,
        node.children,
        *written,
    )


def _owner_names(view: View) -> dict[str, str]:
    """Whose sessions the brokers' are."""
    return {each.session: f"broker {each.broker}" for each in view.reader.brokers_at(view.cluster) if each.alive}


def _crumbs(path: str) -> Sequence[tuple[str, str]]:
    if not path.startswith("/"):
        raise not_found(f"A path of ZooKeeper begins with /, not {path[:40]!r}.")
    parts = [part for part in path.split("/") if part]
    return [("/", "/"), *((f"/{'/'.join(parts[: number + 1])}", part) for number, part in enumerate(parts))]
