"""zookeeper-shell on an ensemble of three that allows what a single ZooKeeper as it comes does not: TTL nodes, another configuration, a line that breaks.

That a node is of such a kind its stat does not show; the servers' log does, by the type of the transaction (ZooDefs.OpCode).
"""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Iterator
from io import StringIO
from typing import Final

import pytest

from pykafka_classic.cli import zookeeper_shell
from pykafka_classic.cli.command import Console
from pykafka_classic.cli.zookeeper_shell import Shell
from pykafka_classic.edges.processes import ZooKeeperEnsemble
from tests.integration.ensemble import SERVERS, Line

PASSWORD: Final = "super:secret"
DIGEST: Final = f"super:{base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()}"  # as ZooKeeper stores it
CREATE_CONTAINER: Final = 19
CREATE_TTL: Final = 21
WATCHING: Final = ("get -w /seen", "get -w /mine", "removewatches /mine")
ALLOWED: Final = {"extendedTypesEnabled": "true", "reconfigEnabled": "true", "DigestAuthenticationProvider.superDigest": DIGEST}


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperEnsemble]:
    """Three ZooKeepers."""
    found = ZooKeeperEnsemble(tmp_path_factory.mktemp("ensemble"), SERVERS | ALLOWED)
    try:
        found.start()
        found.wait_serving()
        yield found
    finally:
        found.stop()


def typed(address: str, *lines: str) -> tuple[int, str, str]:
    """Lines typed into a shell: its status, and what it printed on both streams."""
    console = Console(StringIO("\n".join([*lines, "quit", ""])), StringIO(), StringIO())
    status = zookeeper_shell.main([address], console)
    assert isinstance(console.output, StringIO) and isinstance(console.errors, StringIO)
    return status, console.output.getvalue(), console.errors.getvalue()


def test_a_node_with_a_ttl_and_a_container_are_made_as_such(ensemble: ZooKeeperEnsemble) -> None:
    status, _, told = typed(ensemble.address, "create -t 60000 /short x", "create -s -t 5 /queue", "create -c /box", "stat /short", "stat /box")
    assert (status, told.splitlines()) == (0, ["Created /short", "Created /queue0000000001", "Created /box"])
    (log,) = (ensemble.leader().directory / "data" / "version-2").glob("log.*")
    logged = log.read_bytes()
    for kind, path in ((CREATE_TTL, b"/short"), (CREATE_TTL, b"/queue0000000001"), (CREATE_CONTAINER, b"/box")):
        assert struct.pack(">ii", kind, len(path)) + path in logged
    assert struct.pack(">q", 60_000) in logged[logged.index(b"/short") :][:100]


def test_who_we_are_and_which_watches_were_taken_back_outlives_a_broken_line(ensemble: ZooKeeperEnsemble) -> None:
    with Line(int(ensemble.servers[0].address.rpartition(":")[2])) as line:
        console = Console(StringIO(), StringIO(), StringIO())
        shell = Shell(line.address, console)
        for words in (
            "create /mine x",
            "create /seen x",
            "addauth digest u:p",
            "setAcl /mine auth::cdrwa",
            "get -w /seen",
            "get -w /mine",
            "removewatches /mine",
        ):
            assert shell.run(words.split()) == 0
        with line.cut(refuse=True):
            shell.tell_events(wait=True)  # that the line is broken
        shell.tell_events(wait=True)  # that it stands again
        for words in ("get /mine", "set /mine y", "set /seen y"):
            assert shell.run(words.split()) == 0
        shell.tell_events()
        shell.close()
    assert isinstance(console.output, StringIO)
    events = [text.partition(" ")[2] for text in console.output.getvalue().splitlines() if text.startswith("WatchedEvent")]
    assert events == [
        "state:SyncConnected type:None path:null",
        "state:SyncConnected type:DataWatchRemoved path:/mine",
        "state:Disconnected type:None path:null",
        "state:SyncConnected type:None path:null",
        "state:SyncConnected type:NodeDataChanged path:/seen",
    ]


def test_the_configuration_is_read_and_changed_by_those_who_may(ensemble: ZooKeeperEnsemble) -> None:
    _, shown, _ = typed(ensemble.address, "config")
    servers = [line for line in shown.splitlines() if line.startswith("server.")]
    assert [line.partition("=")[0] for line in servers] == ["server.1", "server.2", "server.3"] and "\nversion=100000000\n" in shown
    status, _, told = typed(ensemble.address, "reconfig -remove 3")
    assert (status, told) == (1, "Authentication is not valid : \n")
    elsewhere = ",".join(server.address for server in ensemble.servers[:2])
    status, shown, told = typed(elsewhere, f"addauth digest {PASSWORD}", "reconfig -v 77 -remove 3", "reconfig -remove 3", "config")
    assert (status, told) == (0, "version No is not valid : \n")
    committed, again = shown.partition("Committed new configuration:\n")[2].split("version=")[:2]
    assert committed.splitlines() == servers[:2]
    assert servers[1] in again and servers[2] not in again
