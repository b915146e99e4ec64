"""Lines of zookeeper-shell, taken apart. What each prints: tests/golden/data/cli/zookeeper-shell*.json."""

from __future__ import annotations

from io import StringIO

import pytest

from pykafka_classic.cli.command import CommandFailed, Console
from pykafka_classic.cli.shell_commands import COMMANDS
from pykafka_classic.cli.shell_lines import check_path
from pykafka_classic.cli.zookeeper_session import with_ports
from pykafka_classic.cli.zookeeper_shell import main, split


def test_quotes_keep_blanks_together() -> None:
    assert split("""  set  /q 'two words'  "and more" end""") == ["set", "/q", "two words", "and more", "end"]


def test_options_may_stand_behind_the_path_and_behind_two_dashes_are_none() -> None:
    line = COMMANDS["set"].parse(["-s", "/a", "-v", "3", "--", "-v"])
    assert (line.options, list(line.words)) == ({"s": "", "v": "3"}, ["/a", "-v"])


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("ls", [], "ls [-s] [-w] [-R] path"),
        ("ls", ["-q", "/"], "Unrecognized option: -q"),
        ("delete", ["-v"], "Missing argument for option: v"),
        ("delete", ["-v", "0xz", "/a"], 'For input string: "0xz"'),
        ("ls", [""], "Path length must be > 0"),
        ("get", ["a"], "Path must start with / character"),
        ("get", ["/a/"], "Path must not end with / character"),
        ("get", ["/a//b"], 'Invalid path string "/a//b" caused by empty node name specified @3'),
    ],
)
def test_what_a_command_does_not_take_is_told(name: str, words: list[str], said: str) -> None:
    with pytest.raises(CommandFailed) as caught:
        COMMANDS[name].parse(words)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["-sw", "/"], {"s": "", "w": ""}),
        (["/", "-R", "-s"], {"R": "", "s": ""}),
    ],
)
def test_flags_may_be_written_in_one_word(words: list[str], options: dict[str, str]) -> None:
    assert COMMANDS["ls"].parse(words).options == options


def test_a_value_may_follow_its_option_at_once() -> None:
    assert COMMANDS["delete"].parse(["-v3", "/a"]).version == 3


def test_a_sequential_node_may_have_no_name_of_its_own() -> None:
    assert COMMANDS["create"].parse(["-s", "/queue/"]).path == "/queue/"


def test_the_root_is_a_path() -> None:
    check_path("/")


def test_without_an_address_the_usage_is_printed() -> None:
    console = Console(StringIO(), StringIO(), StringIO())
    assert main([], console) == 1
    assert isinstance(console.errors, StringIO) and console.errors.getvalue().startswith("USAGE: zookeeper-shell.sh")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("h", "h:2181"),
        ("h:1", "h:1"),
        ("a, b:2/chroot/x", "a:2181,b:2/chroot/x"),
        ("[::1]", "[::1]:2181"),
        ("[::1]:5", "[::1]:5"),
    ],
)
def test_a_server_without_a_port_is_at_2181(given: str, meant: str) -> None:
    assert with_ports(given) == meant


@pytest.mark.parametrize("given", ["", ",", "h:port", "/chroot"])
def test_what_names_no_server_is_told(given: str) -> None:
    with pytest.raises(CommandFailed):
        with_ports(given)
