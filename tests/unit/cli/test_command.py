"""How a tool runs: what it says of errors, and its exit status."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from io import StringIO

import pytest

from pykafka_classic.cli.command import LEAVE_MS, CommandFailed, Console, Terminated, Tool, closed_in_time, execute, send_the_rest, status_of
from pykafka_classic.cli.command_options import Argument, Option, Options
from pykafka_classic.cli.commands import module_of
from pykafka_classic.cli.suggestions import nearest
from pykafka_classic.client.client_errors import ClientTimeout
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.protocol.network import Disconnected

NAME = Option("name", "whom to greet", Argument.REQUIRED)


def run(arguments: Sequence[str], outcome: Exception | int | None = None) -> tuple[int, str, str]:
    """Exit status, stdout, stderr of a tool that prints a line and then ends in this way."""

    def body(options: Options, console: Console) -> int | None:
        console.say(f"hello {options.value('name')}")
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    console = Console(StringIO(), StringIO(), StringIO())
    status = execute(Tool("greet", "This tool greets.", (NAME,), body, "Greet somebody."), arguments, console)
    assert isinstance(console.output, StringIO) and isinstance(console.errors, StringIO)
    return status, console.output.getvalue(), console.errors.getvalue()


def test_a_tool_prints_and_ends_with_its_status() -> None:
    assert run(["--name", "you"]) == (0, "hello you\n", "")
    assert run(["--name", "you"], 3) == (3, "hello you\n", "")


def test_help_and_an_empty_command_line_print_the_options_on_stderr_with_status_1() -> None:
    for arguments, opening in (["--help"], "This tool greets.\n"), ([], "Greet somebody.\n"):
        status, out, err = run(arguments)
        assert (status, out) == (1, "")
        assert err.startswith(opening + "Option") and "whom to greet" in err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CommandFailed("no such thing"), "no such thing\n"),
        (KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 't' already exists."), "Topic 't' already exists.\n"),
        (Disconnected("no broker at h:1: refused"), "no broker at h:1: refused\n"),
        (FileNotFoundError(2, "No such file or directory", "plan.json"), "plan.json: No such file or directory\n"),
    ],
)
def test_errors_that_were_to_be_expected_are_a_sentence(error: Exception, said: str) -> None:
    assert run(["--name", "x"], error) == (1, "hello x\n", said)


def test_an_error_in_the_tool_itself_is_a_sentence_too_and_says_how_to_see_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYKAFKA_TRACE", raising=False)
    _, _, err = run(["--name", "x"], KeyError("key"))
    assert err == "greet failed in a way that it should not (KeyError: 'key'); with PYKAFKA_TRACE=1 in the environment it tells where.\n"
    monkeypatch.setenv("PYKAFKA_TRACE", "1")
    assert "Traceback" in run(["--name", "x"], KeyError("key"))[2]


def test_a_failure_may_have_a_status_of_its_own() -> None:
    assert run(["--name", "x"], CommandFailed("odd", status=127))[0] == 127


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BrokenPipeError()])
def test_interruption_and_a_closed_pipe_are_the_process_to_deal_with(error: BaseException) -> None:
    def body(options: Options, console: Console) -> None:
        raise error

    with pytest.raises(type(error)):
        execute(Tool("greet", "", (NAME,), body), ["--name", "x"], Console(StringIO(), StringIO(), StringIO()))


@pytest.mark.parametrize("name", ["kafka-topics", "kafka-topics.sh", "topics", "kafka.admin.TopicCommand"])
def test_a_tool_is_found_by_its_script_its_module_and_its_class(name: str) -> None:
    assert module_of(name) == "topics"


def test_the_nearest_word_is_the_one_that_begins_so_or_looks_alike() -> None:
    words = ["list", "describe", "if-exists", "if-not-exists"]
    assert [nearest(word, words) for word in ("lisst", "desc", "if-exist", "zz", "")] == ["list", "describe", "if-exists", None, None]


class Closing:
    """A client that notes how long it may take to close."""

    def __init__(self) -> None:
        self.patience_ms: list[float | None] = []

    def close(self, *, timeout_ms: float | None = None) -> None:
        self.patience_ms.append(timeout_ms)


@pytest.mark.parametrize(
    ("raised", "patience_ms"), [(None, None), (ValueError, None), (BrokenPipeError, None), (KeyboardInterrupt, LEAVE_MS), (Terminated, LEAVE_MS)]
)
def test_a_client_is_closed_whatever_happens_and_soon_after_ctrl_c(raised: type[BaseException] | None, patience_ms: float | None) -> None:
    client = Closing()
    with pytest.raises(raised) if raised is not None else contextlib.nullcontext(), closed_in_time(client):
        if raised is not None:
            raise raised
    assert client.patience_ms == [patience_ms]


def test_the_status_of_a_tool_that_was_stopped_is_its_signals() -> None:
    assert (status_of(KeyboardInterrupt()), status_of(Terminated())) == (128 + 2, 128 + 15)


class Broker:
    """A producer whose brokers take so many bytes a second, as long as they do."""

    def __init__(self, waiting: int, taken: list[int]) -> None:
        self.unsettled_bytes = waiting
        self._taken = iter(taken)

    def flush(self, *, timeout_ms: float | None = None) -> None:
        self.unsettled_bytes -= next(self._taken)
        if self.unsettled_bytes:
            raise ClientTimeout(f"not all within {timeout_ms}")


@pytest.mark.parametrize(
    ("taken", "left"),
    [([100], 0), ([40, 30, 30], 0), ([40, 0, 60], 60), ([0, 100], 100)],
    ids=["at once", "bit by bit", "then nobody answers any more", "nobody answers"],
)
def test_after_ctrl_c_what_was_sent_goes_out_as_long_as_brokers_take_it(taken: list[int], left: int) -> None:
    """Kafka's console producer waits in a shutdown hook until all is sent; here a second without any progress ends it."""
    broker = Broker(100, taken)
    send_the_rest(broker)
    assert broker.unsettled_bytes == left
