"""The commands of zookeeper-shell: what each takes, and what it does and prints.

Source: ZooKeeper 3.5.9's org.apache.zookeeper.cli, as recorded in tests/golden/data/cli/zookeeper-shell*.json.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pykafka_classic.cli.command import CommandFailed, Console
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.zookeeper import ANY_VERSION, Code, Create, Delete, Exists, GetChildren, GetData, Request, Result, SetData, Stat

UNKNOWN_COMMAND: Final = 127

COMPLAINTS: Final = {
    Code.NO_NODE: "Node does not exist: {path}",
    Code.NODE_EXISTS: "Node already exists: {path}",
    Code.NOT_EMPTY: "Node not empty: {path}",
    Code.BAD_VERSION: "version No is not valid : {path}",
    Code.NO_CHILDREN_FOR_EPHEMERALS: "Ephemerals cannot have children: {path}",
    Code.NO_AUTH: "Insufficient permission : {path}",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A command line taken apart: options (with their values, "" for a flag) and words."""

    options: dict[str, str]
    words: Sequence[str]

    @property
    def path(self) -> str:
        """The first word."""
        return self.words[0]


Action = Callable[[ZooKeeperSession, Line, Console], None]


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One command.

    Attributes:
        usage: behind the name, in the help.
        flags: options without a value.
        valued: options with one.
        words_min: words that there must be.
        deprecated: what to say on stderr first; "" for nothing. With `{}` only where there is a second word.
    """

    name: str
    usage: str
    action: Action
    flags: str = ""
    valued: str = ""
    words_min: int = 1
    deprecated: str = ""

    def parse(self, words: Sequence[str]) -> Line:
        """Take the words behind the name apart. Raises CommandFailed."""
        options: dict[str, str] = {}
        rest = list(words)
        while rest and rest[0].startswith("-") and len(rest[0]) > 1:
            option = rest.pop(0)
            name = option[1:]
            if name in self.valued.split():
                if not rest:
                    raise CommandFailed(f"Missing argument for option: {name}")
                options[name] = rest.pop(0)
            elif name in self.flags.split():
                options[name] = ""
            else:
                raise CommandFailed(f"Unrecognized option: {option}")
        if len(rest) < self.words_min:
            raise CommandFailed(f"{self.name} {self.usage}")
        if rest and self.words_min:
            check_path(rest[0])
        return Line(options, rest)


def check_path(path: str) -> None:
    """Raise CommandFailed for what is no path of a node, in ZooKeeper's words."""
    if not path.startswith("/"):
        raise CommandFailed("Path must start with / character")
    if len(path) > 1 and path.endswith("/"):
        raise CommandFailed("Path must not end with / character")
    if "//" in path:
        raise CommandFailed(f'Invalid path string "{path}" caused by empty node name specified @{path.index("//") + 1}')


def ask(zk: ZooKeeperSession, request: Request, path: str) -> Result:
    """The answer; CommandFailed for any code but OK."""
    result = zk.submit(request)[0]
    if not result.ok:
        raise CommandFailed(COMPLAINTS.get(result.code, f"KeeperErrorCode = {result.code.name} for {{path}}").format(path=path))
    return result


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


def _stat_of(result: Result) -> str:
    assert result.stat is not None, "an answer of code OK has one"
    return stat_text(result.stat)


def _ls(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    if "R" in line.options:
        level = [line.path]
        ask(zk, GetChildren(line.path), line.path)
        while level:
            console.output.writelines(f"{path}\n" for path in level)
            answers = zip(level, zk.submit(*map(GetChildren, level)), strict=True)
            level = [f"{path.rstrip('/')}/{child}" for path, found in answers for child in sorted(found.children)]
        return
    found = ask(zk, GetChildren(line.path, watch="w" in line.options), line.path)
    console.output.write(f"[{', '.join(sorted(found.children))}]")
    console.say(f"{_stat_of(ask(zk, Exists(line.path), line.path))}\n" if "s" in line.options else "")


def _ls2(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    found = ask(zk, GetChildren(line.path, watch=len(line.words) > 1), line.path)
    console.say(f"[{', '.join(found.children)}]\n{_stat_of(ask(zk, Exists(line.path), line.path))}")


def _get(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    result = zk.submit(GetData(line.path, watch="w" in line.options or len(line.words) > 1))[0]
    if result.code is Code.NO_NODE:
        raise CommandFailed(f"KeeperErrorCode = NoNode for {line.path}")
    if not result.ok:
        raise CommandFailed(COMPLAINTS.get(result.code, f"KeeperErrorCode = {result.code.name} for {{path}}").format(path=line.path))
    console.say("null" if result.data is None else result.data.decode("utf-8", "replace"))
    if "s" in line.options:
        console.say(_stat_of(result))


def _stat(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    console.say(_stat_of(ask(zk, Exists(line.path, watch="w" in line.options or len(line.words) > 1), line.path)))


def _set(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    result = ask(zk, SetData(line.path, _bytes(line.words[1]), _version(line)), line.path)
    if "s" in line.options:
        console.say(_stat_of(result))


def _create(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    data = _bytes(line.words[1]) if len(line.words) > 1 else None
    result = ask(zk, Create(line.path, data, ephemeral="e" in line.options, sequential="s" in line.options), line.path)
    console.complain(f"Created {result.path}")


def _delete(zk: ZooKeeperSession, line: Line, _: Console) -> None:
    ask(zk, Delete(line.path, _version(line)), line.path)


def _delete_all(zk: ZooKeeperSession, line: Line, _: Console) -> None:
    found = [line.path]
    ask(zk, GetChildren(line.path), line.path)
    level = found
    while level:
        answers = zip(level, zk.submit(*map(GetChildren, level)), strict=True)
        level = [f"{path.rstrip('/')}/{child}" for path, each in answers for child in each.children]
        found = found + level
    for path in reversed(found):  # children before their parents
        if path != "/":
            ask(zk, Delete(path), path)


def _sync(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    ask(zk, Exists(line.path), line.path)
    console.say("Sync is OK")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _version(line: Line) -> int:
    text = line.options.get("v", str(ANY_VERSION))
    if not text.lstrip("-").isdecimal():
        raise CommandFailed(f'For input string: "{text}"')
    return int(text)


_COMMANDS: Final = (
    ShellCommand("create", "[-s] [-e] path [data]", _create, flags="s e"),
    ShellCommand("delete", "[-v version] path", _delete, valued="v"),
    ShellCommand("deleteall", "path", _delete_all),
    ShellCommand("get", "[-s] [-w] path", _get, flags="s w", deprecated="'get path [watch]' has been deprecated. Please use 'get [-s] [-w] path' instead.{}"),
    ShellCommand("ls", "[-s] [-w] [-R] path", _ls, flags="s w R", deprecated="'ls path [watch]' has been deprecated. Please use 'ls [-w] path' instead.{}"),
    ShellCommand("ls2", "path [watch]", _ls2, deprecated="'ls2' has been deprecated. Please use 'ls [-s] path' instead."),
    ShellCommand("rmr", "path", _delete_all, deprecated="The command 'rmr' has been deprecated. Please use 'deleteall' instead."),
    ShellCommand("set", "[-s] [-v version] path data", _set, flags="s", valued="v", words_min=2),
    ShellCommand("stat", "[-w] path", _stat, flags="w", deprecated="'stat path [watch]' has been deprecated. Please use 'stat [-w] path' instead.{}"),
    ShellCommand("sync", "path", _sync),
)
COMMANDS: Final = {command.name: command for command in _COMMANDS}
"""Those that ask ZooKeeper; the shell has some of its own."""


def say_deprecated(command: ShellCommand, line: Line, console: Console) -> None:
    """Point to the newer way."""
    if command.deprecated and (not command.deprecated.endswith("{}") or len(line.words) > 1):
        console.complain(command.deprecated.removesuffix("{}"))
