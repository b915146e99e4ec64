"""The commands of zookeeper-shell that ask ZooKeeper: those about nodes and watches are here, the others in shell_acls, shell_quotas and shell_ensemble.

Source: ZooKeeper 3.5.9's org.apache.zookeeper.cli, as recorded in tests/golden/data/cli/zookeeper-shell*.json.
"""

from __future__ import annotations

from typing import Final

from pykafka_classic.cli import shell_acls, shell_ensemble, shell_quotas
from pykafka_classic.cli.command import CommandFailed, Console
from pykafka_classic.cli.shell_acls import parse_acl
from pykafka_classic.cli.shell_answers import ask, failed, keeper_error, stat_of, subtree
from pykafka_classic.cli.shell_lines import Line, ShellCommand, number
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.zookeeper import Code, Create, Delete, Exists, GetChildren, GetData, SetData
from pykafka_classic.edges.shell_requests import CreateNode, RemovedWatches, RemoveWatches, Sync

UNKNOWN_COMMAND: Final = 127
TTL_MAX_MS: Final = 0xFF_FFFF_FFFF


def _ls(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    watch = "w" in line.options
    if "R" in line.options:
        console.output.writelines(f"{path}\n" for path in subtree(zk, line.path, watch=watch))
        return
    found = ask(zk, GetChildren(line.path, watch), line.path)
    console.output.write(f"[{', '.join(sorted(found.children))}]")
    console.say(f"{stat_of(ask(zk, Exists(line.path), line.path))}\n" if "s" in line.options else "")


def _ls2(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    found = ask(zk, GetChildren(line.path, watch=len(line.words) > 1), line.path)
    console.say(f"[{', '.join(found.children)}]\n{stat_of(ask(zk, Exists(line.path), line.path))}")


def _get(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    result = zk.submit(GetData(line.path, watch="w" in line.options or len(line.words) > 1))[0]
    if not result.ok:
        raise CommandFailed(keeper_error(result.code, line.path))
    console.say("null" if result.data is None else result.data.decode("utf-8", "replace"))
    if "s" in line.options:
        console.say(stat_of(result))


def _stat(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    console.say(stat_of(ask(zk, Exists(line.path, watch="w" in line.options or len(line.words) > 1), line.path)))


def _set(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    result = ask(zk, SetData(line.path, _bytes(line.words[1]), line.version), line.path)
    if "s" in line.options:
        console.say(stat_of(result))


def _check_create(line: Line) -> None:
    options = set(line.options)
    if "c" in options and options & {"s", "e"}:
        raise CommandFailed("-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.")
    ttl_ms = _ttl_ms(line)
    for option, kind in (("e", "Ephemeral"), ("c", "Container")):
        if ttl_ms is not None and option in options:
            raise CommandFailed(f"TTLs cannot be used with {kind} znodes")
    if ttl_ms is not None and not 0 < ttl_ms <= TTL_MAX_MS:
        raise CommandFailed(f"ttl must be positive and cannot be larger than: {TTL_MAX_MS}")
    acl, complaints = parse_acl(line.words[2]) if len(line.words) > 2 else (None, [])
    if acl == ():
        raise CommandFailed("\n".join([*complaints, keeper_error(Code.INVALID_ACL), "Acl is not valid : null"]))


def _ttl_ms(line: Line) -> int | None:
    text = line.options.get("t")
    try:
        return None if text is None else number(text)
    except CommandFailed as error:
        raise CommandFailed("-t argument must be a long value") from error


def _create(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    data = _bytes(line.words[1]) if len(line.words) > 1 else None
    ephemeral, sequential, container = (option in line.options for option in ("e", "s", "c"))
    ttl_ms = _ttl_ms(line)
    if len(line.words) > 2:
        acl, complaints = parse_acl(line.words[2])
        for complaint in complaints:
            console.complain(complaint)
        result = zk.submit(CreateNode(line.path, data, acl, ephemeral, sequential, container, ttl_ms))[0]
    elif container or ttl_ms is not None:
        result = zk.submit(CreateNode(line.path, data, sequential=sequential, container=container, ttl_ms=ttl_ms))[0]
    else:
        result = zk.submit(Create(line.path, data, ephemeral, sequential))[0]
    if result.code is Code.INVALID_ACL:
        console.complain(keeper_error(result.code, line.path))
    if not result.ok:
        raise failed(result.code, line.path)
    console.complain(f"Created {result.path}")


def _delete(zk: ZooKeeperSession, line: Line, _: Console) -> None:
    ask(zk, Delete(line.path, line.version), line.path)


def _delete_all(zk: ZooKeeperSession, line: Line, _: Console) -> None:
    if line.path == "/":
        raise CommandFailed("The root cannot be deleted: name the nodes below it, one after the other.")
    for path in reversed(list(subtree(zk, line.path))):  # children before their parents
        ask(zk, Delete(path), path)


def _sync(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    ask(zk, Sync(line.path), line.path)
    console.say("Sync is OK")


def _remove_watches(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    kinds = {"c": (False, True), "d": (True, False)}
    data, child = next((both for option, both in kinds.items() if option in line.options), (True, True))
    result = zk.submit(RemoveWatches(line.path, data, child))[0]
    if not result.ok:
        raise CommandFailed(keeper_error(result.code, line.path))
    assert isinstance(result, RemovedWatches)
    for kind, there in (("ChildWatchRemoved", result.child_watch), ("DataWatchRemoved", result.data_watch)):
        if there:
            console.say(event_text("SyncConnected", kind, line.path))


def event_text(state: str, kind: str = "None", path: str = "null") -> str:
    """What is printed where something has happened."""
    return f"\nWATCHER::\n\nWatchedEvent state:{state} type:{kind} path:{path}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


_GET: Final = "'get path [watch]' has been deprecated. Please use 'get [-s] [-w] path' instead.{}"
_LS: Final = "'ls path [watch]' has been deprecated. Please use 'ls [-w] path' instead.{}"
_LS2: Final = "'ls2' has been deprecated. Please use 'ls [-s] path' instead."
_STAT: Final = "'stat path [watch]' has been deprecated. Please use 'stat [-w] path' instead.{}"
_DELETE: Final = "'delete path [version]' has been deprecated. Please use 'delete [-v version] path' instead.{}"
_COMMANDS: Final = (
    ShellCommand(
        "create",
        "[-s] [-e] [-c] [-t ttl] path [data] [acl]",
        "a new node; -e until the session ends, -s with a number behind its name, -c until its last child is gone, -t so many ms after its last change",
        _create,
        flags="s e c",
        valued="t",
        check=_check_create,
    ),
    ShellCommand(
        "delete",
        "[-v version] path",
        "remove a node without children; -v only in this version",
        _delete,
        valued="v",
        deprecated=_DELETE,
        check=lambda line: line.version,
    ),
    ShellCommand("deleteall", "path", "remove a node and all below it", _delete_all),
    ShellCommand("get", "[-s] [-w] path", "a node's data; -s its stat too, -w tell when it changes", _get, flags="s w", deprecated=_GET),
    ShellCommand(
        "ls", "[-s] [-w] [-R] path", "the names of the children; -s the stat too, -R all below, -w tell when they change", _ls, flags="s w R", deprecated=_LS
    ),
    ShellCommand("ls2", "path [watch]", "the names of the children, and the stat", _ls2, deprecated=_LS2),
    ShellCommand(
        "removewatches",
        "path [-c|-d|-a] [-l]",
        "take back the watches of a node: -c of its children, -d of its data, else both",
        _remove_watches,
        flags="c d a l",
    ),
    ShellCommand("rmr", "path", "as deleteall", _delete_all, deprecated="The command 'rmr' has been deprecated. Please use 'deleteall' instead."),
    ShellCommand(
        "set",
        "[-s] [-v version] path data",
        "write a node's data; -v only in this version, -s print the stat",
        _set,
        flags="s",
        valued="v",
        words_min=2,
        check=lambda line: line.version,
    ),
    ShellCommand("stat", "[-w] path", "a node's stat; -w tell when it changes", _stat, flags="w", deprecated=_STAT),
    ShellCommand("sync", "path", "let the server catch up with the leader", _sync),
)
COMMANDS: Final = {command.name: command for command in (*_COMMANDS, *shell_acls.COMMANDS, *shell_quotas.COMMANDS, *shell_ensemble.COMMANDS)}
"""Those that ask ZooKeeper; the shell has some of its own."""
