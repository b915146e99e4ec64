"""`config` and `reconfig` of zookeeper-shell: what a configuration tells clients, and command lines that are refused before anybody is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.shell_commands import COMMANDS
from pykafka_classic.cli.shell_ensemble import client_config

# As a server of ZooKeeper's documentation of dynamic reconfiguration writes it.
ENSEMBLE = "server.1=a:2888:3888:participant;0.0.0.0:2181\nserver.2=b:2888:3888:observer;2182\nserver.3=c:1:2\nversion=100000000"


def test_the_version_and_the_clients_addresses_stand_in_one_line() -> None:
    assert client_config(ENSEMBLE) == "100000000 0.0.0.0:2181,0.0.0.0:2182,"


def test_an_ensemble_of_one_has_neither() -> None:
    assert client_config("") == " "


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-file", "f", "-remove", "1"], "Can't use -file or -members together with -add or -remove"),
        (["-file", "f", "-members", "server.1=a:1:2;3"], "Can't use -file and -members together"),
        (["-add", "server.1=a:1:2;3", "-add", "server.2=a:1:2;3"], "-add stands there twice"),
        (["-s"], "reconfig [-s] [-v version]"),
    ],
)
def test_a_command_line_that_means_nothing_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(CommandFailed) as caught:
        COMMANDS["reconfig"].parse(words)
    assert str(caught.value).startswith(said)


def test_a_file_without_servers_is_told(tmp_path: Path) -> None:
    (tmp_path / "zoo.cfg").write_text("clientPort=2181\n")
    with pytest.raises(CommandFailed) as caught:
        COMMANDS["reconfig"].parse(["-file", str(tmp_path / "zoo.cfg")])
    assert "no line names a server" in str(caught.value)
