"""The ensemble in zookeeper-shell: `config` reads its configuration, `reconfig` changes it (where reconfigEnabled=true and the session may).

Source: ZooKeeper 3.5.9's GetConfigCommand, ReconfigCommand, ConfigUtils.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pykafka_classic.cli.command import CommandFailed, Console
from pykafka_classic.cli.shell_answers import failed, stat_of
from pykafka_classic.cli.shell_lines import Line, ShellCommand
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.zookeeper import ANY_VERSION
from pykafka_classic.edges.shell_requests import GetConfig, Reconfigure

RECONFIG_USAGE: Final = (
    "[-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | "
    "[-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]"
)
_HEX: Final = re.compile(r"-?[0-9a-fA-F]+")


def client_config(config: str) -> str:
    """Version and addresses for clients, as `config -c` prints them, of a configuration (lines of server.N=host:port:port[:role];[host:]port, and version)."""
    version, addresses = "", []
    for key, _, value in (line.partition("=") for line in config.splitlines()):
        if key.strip() == "version":
            version = value.strip()
        elif key.strip().startswith("server."):
            host, _, port = value.strip().partition(";")[2].rpartition(":")
            addresses.append(f"{host or '0.0.0.0'}:{port}" if port else "")
    return f"{version} {','.join(addresses)}"


def _config(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    result = zk.submit(GetConfig(watch="w" in line.options))[0]
    if not result.ok:
        raise failed(result.code, result.path)
    text = (result.data or b"").decode()
    console.say(client_config(text) if "c" in line.options else text)
    if "s" in line.options:
        console.say(stat_of(result))


def _check_reconfig(line: Line) -> None:
    whole, steps = {"file", "members"} & set(line.options), {"add", "remove"} & set(line.options)
    if whole and steps:
        raise CommandFailed("Can't use -file or -members together with -add or -remove (mixing incremental and non-incremental modes is not allowed)")
    if len(whole) > 1:
        raise CommandFailed("Can't use -file and -members together (conflicting non-incremental modes)")
    if line.words or not whole | steps:
        raise CommandFailed(f"reconfig {RECONFIG_USAGE}")
    _config_id(line)
    _members(line)


def _config_id(line: Line) -> int:
    text = line.options.get("v")
    if text is not None and not _HEX.fullmatch(text):
        raise CommandFailed("-v must be followed by a long (configuration version)")
    return ANY_VERSION if text is None else int(text, 16)


def _members(line: Line) -> str | None:
    """The servers that -members or -file name; None where there is neither."""
    name = line.options.get("file")
    if name is None:
        return line.options.get("members")
    try:
        lines = Path(name).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"Error processing {name}: {error.strerror if isinstance(error, OSError) else error}") from error
    found = [each.strip() for each in lines if each.strip().startswith("server.")]
    if not found:
        raise CommandFailed(f"Error processing {name}: no line names a server (server.1=host:port:port;port)")
    return ",".join(found)


def _reconfig(zk: ZooKeeperSession, line: Line, console: Console) -> None:
    result = zk.submit(Reconfigure(line.options.get("add"), line.options.get("remove"), _members(line), _config_id(line)))[0]
    if not result.ok:
        raise failed(result.code, "")
    console.say(f"Committed new configuration:\n{(result.data or b'').decode()}")
    if "s" in line.options:
        console.say(stat_of(result))


COMMANDS: Final = (
    ShellCommand(
        "config",
        "[-c] [-w] [-s]",
        "the ensemble's configuration; -c what clients need of it, -s the stat too, -w tell when it changes",
        _config,
        flags="c w s",
        words_min=0,
    ),
    ShellCommand(
        "reconfig",
        RECONFIG_USAGE,
        "change the ensemble, where the servers allow it",
        _reconfig,
        flags="s",
        valued="v file members add remove",
        words_min=0,
        check=_check_reconfig,
    ),
)
