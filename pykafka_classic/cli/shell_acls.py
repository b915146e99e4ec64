"""Access lists in zookeeper-shell: getAcl and setAcl. A list is written scheme:id:permissions, with commas between its entries: world:anyone:cdrwa.

A letter that is no permission is told and passed over, and an entry that cannot be understood is told and left out, as in ZooKeeper's shell.

Source: ZooKeeper 3.5.9's AclParser, SetAclCommand, GetAclCommand.
"""

from __future__ import annotations

from typing import Final

from pykafka_classic.cli.command import Console
from pykafka_classic.cli.shell_answers import ask, child_paths, failed, keeper_error, stat_of
from pykafka_classic.cli.shell_lines import Line, ShellCommand
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.zookeeper import Code, Exists, GetChildren
from pykafka_classic.edges.shell_requests import PERMISSIONS, Acl, AclResult, GetAcl, SetAcl


def parse_acl(text: str) -> tuple[tuple[Acl, ...], list[str]]:
    """An access list, and what is wrong with its text, a sentence each."""
    entries, complaints = [], []
    for part in filter(None, text.split(",")):
        scheme, first, rest = part.partition(":")
        name, last, letters = rest.rpartition(":")
        if not first or not last:
            complaints.append(f"{part} does not have the form scheme:id:perm")
            continue
        complaints += [f"Unknown perm type: {letter}" for letter in letters if letter not in PERMISSIONS]
        bits = sum({PERMISSIONS[letter] for letter in letters if letter in PERMISSIONS})
        entries.append(Acl(bits, scheme, name))
    return tuple(entries), complaints


def acl_text(entry: Acl) -> str:
    """One entry, as getAcl prints it."""
    return f"'{entry.scheme},'{entry.id}\n: {''.join(letter for letter, bit in PERMISSIONS.items() if entry.permissions & bit)}"


def _get_acl(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    result = ask(zk, GetAcl(line.path), line.path)
    assert isinstance(result, AclResult)
    for entry in result.acl:
        console.say(acl_text(entry))
    if "s" in line.options:
        console.say(stat_of(result))


def _set_acl(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    acl, complaints = parse_acl(line.words[1])
    for complaint in complaints:
        console.complain(complaint)
    if "R" in line.options:
        _set_all(zk, line, acl, console)
        return
    result = ask(zk, SetAcl(line.path, acl, line.version), line.path)
    if "s" in line.options:
        console.say(stat_of(result))


def _set_all(zk: ZooKeeperSession, line: Line, acl: tuple[Acl, ...], console: Console) -> None:
    """A node and all below it, one after the other: what was set decides whether the children may be read. A refusal is told, and the next one tried."""

    def set_one(path: str) -> None:
        result = zk.submit(SetAcl(path, acl, line.version))[0]
        if not result.ok:
            console.output.write(keeper_error(result.code, path))

    ask(zk, Exists(line.path), line.path)
    set_one(line.path)
    stack = [line.path]
    while stack:
        parent = stack.pop()
        found = zk.submit(GetChildren(parent))[0]
        if not found.ok and (parent == line.path or found.code is not Code.NO_NODE):
            raise failed(found.code, parent)
        for child in child_paths(parent, found):
            set_one(child)
        stack += reversed(child_paths(parent, found))


COMMANDS: Final = (
    ShellCommand("getAcl", "[-s] path", "a node's access list; -s its stat too", _get_acl, flags="s"),
    ShellCommand(
        "setAcl",
        "[-s] [-v version] [-R] path acl",
        "write an access list, scheme:id:cdrwa with commas between; -R of all below too, -v only in this version, -s print the stat",
        _set_acl,
        flags="s R",
        valued="v",
        words_min=2,
        check=lambda line: line.version,
    ),
)
