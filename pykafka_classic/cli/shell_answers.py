"""What zookeeper-shell asks, and how it tells what ZooKeeper answered: errors in ZooKeeper's words, a node's stat a field a line.

Source: ZooKeeper 3.5.9's KeeperException, CliWrapperException and StatPrinter.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.zookeeper import Code, GetChildren, GetData, Result, Stat
from pykafka_classic.edges.shell_requests import AnyRequest

COMPLAINTS: Final = {
    Code.NO_NODE: "Node does not exist: {path}",
    Code.NODE_EXISTS: "Node already exists: {path}",
    Code.NOT_EMPTY: "Node not empty: {path}",
    Code.BAD_VERSION: "version No is not valid : {path}",
    Code.NO_CHILDREN_FOR_EPHEMERALS: "Ephemerals cannot have children: {path}",
    Code.NO_AUTH: "Authentication is not valid : {path}",
    Code.BAD_ARGUMENTS: "Arguments are not valid : {path}",
    Code.INVALID_ACL: "Acl is not valid : {path}",
    Code.RECONFIG_IN_PROGRESS: "Another reconfiguration is in progress -- concurrent reconfigs not supported (yet)",
    Code.NEW_CONFIG_NO_QUORUM: "No quorum of new config is connected and up-to-date with the leader of last commmitted config - "
    "try invoking reconfiguration after new servers are connected and synced",
}
NAMES: Final = {
    Code.AUTH_FAILED: "AuthFailed",
    Code.BAD_ARGUMENTS: "BadArguments",
    Code.BAD_VERSION: "BadVersion",
    Code.CONNECTION_LOSS: "ConnectionLoss",
    Code.INVALID_ACL: "InvalidACL",
    Code.NO_AUTH: "NoAuth",
    Code.NO_CHILDREN_FOR_EPHEMERALS: "NoChildrenForEphemerals",
    Code.NODE_EXISTS: "NodeExists",
    Code.NOT_EMPTY: "Directory not empty",
    Code.NO_NODE: "NoNode",
    Code.NO_WATCHER: "No such watcher",
    Code.RECONFIG_DISABLED: "Reconfig is disabled",
    Code.SESSION_EXPIRED: "Session expired",
    Code.UNIMPLEMENTED: "Unimplemented",
}


def keeper_error(code: Code, path: str = "") -> str:
    """An error as KeeperException tells it."""
    return f"KeeperErrorCode = {NAMES.get(code, code.name)}{f' for {path}' if path else ''}"


def ask(zk: ZooKeeperSession, request: AnyRequest, path: str) -> Result:
    """The answer; CommandFailed for any code but OK."""
    result = zk.submit(request)[0]
    if not result.ok:
        raise failed(result.code, path)
    return result


def failed(code: Code, path: str) -> CommandFailed:
    """What to tell of an error at a node."""
    return CommandFailed(COMPLAINTS[code].format(path=path) if code in COMPLAINTS else keeper_error(code, path))


def subtree(zk: ZooKeeperSession, path: str, *, watch: bool = False) -> Iterator[str]:
    """A node and all below it: a node's children by name, then what is below the first of them. CommandFailed where a node cannot be read.

    With `watch`, all of their children are watched, and the first's data.
    """
    if watch:
        ask(zk, GetData(path, watch=True), path)
    found = _children_of_all(zk, path, watch=watch)
    yield path
    stack = [path]
    while stack:
        parent = stack.pop()
        if found[parent].code is Code.NO_NODE and parent != path:
            continue  # gone since its name was read
        if not found[parent].ok:
            raise failed(found[parent].code, parent)
        below = child_paths(parent, found[parent])
        yield from below
        stack += reversed(below)


def _children_of_all(zk: ZooKeeperSession, path: str, *, watch: bool) -> dict[str, Result]:
    """The answers to GetChildren, a level at a time, for all of a level are asked at once."""
    found = {path: ask(zk, GetChildren(path, watch), path)}
    level = child_paths(path, found[path])
    while level:
        answers = dict(zip(level, zk.submit(*(GetChildren(each, watch) for each in level)), strict=True))
        found |= answers
        level = [child for each, result in answers.items() for child in child_paths(each, result)]
    return found


def child_paths(parent: str, result: Result) -> list[str]:
    """The paths of a node's children, by name."""
    return [f"{parent.rstrip('/')}/{name}" for name in sorted(result.children)]


def stat_of(result: Result) -> str:
    """The stat of an answer that has one."""
    assert result.stat is not None, "an answer of code OK has one"
    return stat_text(result.stat)


def stat_text(stat: Stat) -> str:
    """A node's stat, a field a line."""

    def date(ms: int) -> str:
        return time.strftime("%a %b %d %H:%M:%S %Z %Y", time.localtime(ms / 1000))

    fields = {
        "cZxid": hex(stat.czxid),
        "ctime": date(stat.ctime_ms),
        "mZxid": hex(stat.mzxid),
        "mtime": date(stat.mtime_ms),
        "pZxid": hex(stat.pzxid),
        "cversion": stat.cversion,
        "dataVersion": stat.version,
        "aclVersion": stat.acl_version,
        "ephemeralOwner": hex(stat.ephemeral_owner & 0xFFFFFFFFFFFFFFFF),
        "dataLength": stat.data_length,
        "numChildren": stat.num_children,
    }
    return "\n".join(f"{name} = {value}" for name, value in fields.items())
