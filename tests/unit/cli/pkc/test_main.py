"""The command line of pkc: help, mistakes, and how it ends."""

from __future__ import annotations

from io import StringIO

import click
import pytest

from pykafka_classic.cli.command import CommandFailed, Console
from pykafka_classic.cli.pkc import main
from pykafka_classic.cli.pkc.main import COMMANDS, execute
from pykafka_classic.client.client_errors import ClientTimeout
from pykafka_classic.common.errors import ErrorCode, KafkaError


def run(*words: str) -> tuple[int, str, str]:
    """Exit status, stdout, stderr of a command line that reaches no cluster."""
    console = Console(StringIO(), StringIO(), StringIO())
    status = execute(words, console)
    assert isinstance(console.output, StringIO) and isinstance(console.errors, StringIO)
    return status, console.output.getvalue(), console.errors.getvalue()


def test_every_command_of_the_table_can_be_loaded_and_says_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        assert run(name, "--help")[0] == 0
        assert capsys.readouterr().out.startswith(f"Usage: pkc {name} ")


def test_help_names_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help")[0] == 0
    said = capsys.readouterr().out
    assert all(f"\n  {name} " in said for name in COMMANDS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["topic"], "pkc: There is no command 'topic'. Did you mean topics? (pkc --help tells more.)"),
        (["xyzzy"], "pkc: There is no command 'xyzzy'. (pkc --help tells more.)"),
        (["topics", "--jsn"], "pkc topics: No such option '--jsn'. Did you mean '--json'? (pkc topics --help tells more.)"),
        (["lag"], "pkc lag: Missing argument 'GROUP'. (pkc lag --help tells more.)"),
        (["consume", "t", "-o", "committed"], "pkc consume: What is committed belongs to a group: -g GROUP names it. (pkc consume --help tells more.)"),
        (["consume", "t", "--json", "-f", "%v"], "pkc consume: --json and --format exclude each other. (pkc consume --help tells more.)"),
        (["consume", "t", "-p", "x"], "pkc consume: 'x' does not name partitions: 0,2,5-7 is wanted. (pkc consume --help tells more.)"),
        (["produce", "t", "-H", "=x"], "pkc produce: '=x' is no header: NAME=VALUE is wanted. (pkc produce --help tells more.)"),
        (
            ["produce", "t", "--whole", "--json"],
            "pkc produce: --whole reads no lines: it excludes --json and --key-separator. (pkc produce --help tells more.)",
        ),
        (["znodes", "brokers"], "pkc znodes: A path begins with /: 'brokers' does not. (pkc znodes --help tells more.)"),
    ],
)
def test_a_command_line_that_means_nothing_is_told_in_one_line_with_status_2(words: list[str], said: str) -> None:
    assert run(*words) == (2, "", f"{said}\n")


def test_without_a_command_there_is_help_on_stderr() -> None:
    status, out, err = run()
    assert (status, out) == (2, "") and "Commands:" in err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CommandFailed("No such thing."), "No such thing.\n"),
        (KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 't' already exists."), "Topic 't' already exists.\n"),
        (ClientTimeout("no answer in time"), "No answer in time.\n"),
        (FileNotFoundError(2, "No such file or directory", "x"), "x: No such file or directory\n"),
        (
            ZeroDivisionError("by zero"),
            "pkc failed in a way that it should not (ZeroDivisionError: by zero); with PYKAFKA_TRACE=1 in the environment it tells where.\n",
        ),
    ],
)
def test_what_goes_wrong_is_a_sentence_with_status_1(monkeypatch: pytest.MonkeyPatch, error: Exception, said: str) -> None:
    monkeypatch.delenv("PYKAFKA_TRACE", raising=False)
    assert _run_failing(monkeypatch, error) == (1, "", said)


@pytest.mark.parametrize("error", [KeyboardInterrupt, BrokenPipeError])
def test_ctrl_c_and_closed_pipes_are_left_to_the_process(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    with pytest.raises(error):
        _run_failing(monkeypatch, error())


def _run_failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> tuple[int, str, str]:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(main.Commands, "get_command", lambda *_: click.Command("topics", callback=fail))
    return run("topics")
