"""How a tool runs: its command line, its streams, what it says of errors, and its exit status.

A tool is a `Tool`: its name, what it is for, its options, and a body. `execute` runs it on given streams, `run_tool` as a process.

| what happens | what is said | exit status |
|---|---|---|
| `--help`, or no argument | what the tool is for and its options, on stderr | 1, as with Kafka |
| a command line that cannot be understood | a sentence on stderr, and the nearest option | 1 |
| `CommandFailed` and whatever else was to be expected (files, brokers, ZooKeeper) | a sentence on stderr | 1, or as the tool says |
| Ctrl-C | nothing | 130, at once |
| SIGTERM | nothing; what Kafka's tool would do in a shutdown hook (leave its group, tell its sums) is done | 143, at once |
| the reader of stdout has seen enough (`| head`) | nothing | 0 |
| a bug | a sentence on stderr; the trace where $PYKAFKA_TRACE is set | 1 |

What costs time to load (kazoo, the protocol) is imported where it is used: a tool must answer at once.

Source: facts/tools.md 1; 2.8 CommandLineUtils.scala.
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper, UnsupportedOperation
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, TypeVar

from pykafka_classic.cli.command_options import HELP, VERSION, Option, Options, UsageError, help_text, parse

if TYPE_CHECKING:
    from typing import TextIO

OK: Final = 0
FAILED: Final = 1
INTERRUPTED: Final = 130
TERMINATED: Final = 143
LEAVE_MS: Final = 1_000  # after Ctrl-C: for a client to send or commit what it has in hand, and to leave its group
GONE_S: Final = 1.5  # after Ctrl-C: then the process ends whatever it waits for
TRACE: Final = "PYKAFKA_TRACE"


class CommandFailed(Exception):
    """The tool cannot do what it was asked; the text is a sentence for the user."""

    def __init__(self, message: str, *, status: int = FAILED) -> None:
        super().__init__(message)
        self.status = status


class Terminated(KeyboardInterrupt):
    """SIGTERM: whatever minds Ctrl-C minds it too."""


def status_of(stop: KeyboardInterrupt) -> int:
    """128 and the number of the signal that it was."""
    return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED


class Client(Protocol):
    """A producer or a consumer."""

    def close(self, *, timeout_ms: float = ...) -> None:
        """Finish, and let go."""


class Sender(Protocol):
    """A producer."""

    @property
    def unsettled_bytes(self) -> int:
        """What was sent and has no outcome yet."""

    def flush(self, *, timeout_ms: float | None = ...) -> None:
        """Wait until it has. ClientTimeout."""


class _Leave:
    """When a process ends that was told to, and with which status."""

    at = 0.0  # by time.monotonic
    status: int | None = None  # None: nobody has told it to

    @classmethod
    def later(cls) -> None:
        """Not before GONE_S from now."""
        cls.at = time.monotonic() + GONE_S


def send_the_rest(sender: Sender) -> None:
    """After Ctrl-C: what was sent gets to the brokers, as long as they take some of it every second. Kafka's console producer waits for it too."""
    from pykafka_classic.client.client_errors import ClientTimeout

    left = sender.unsettled_bytes
    while left:
        _Leave.later()
        try:
            sender.flush(timeout_ms=LEAVE_MS)
        except ClientTimeout:
            before, left = left, sender.unsettled_bytes
            if left >= before:
                return
        else:
            return


AnyClient = TypeVar("AnyClient", bound=Client)


@contextlib.contextmanager
def closed_in_time(client: AnyClient) -> Iterator[AnyClient]:
    """Closes it in the end; after Ctrl-C with little patience."""
    try:
        yield client
    except KeyboardInterrupt:
        client.close(timeout_ms=LEAVE_MS)
        raise
    except BaseException:
        client.close()
        raise
    client.close()


@dataclass(frozen=True, slots=True)
class Console:
    """The three streams of a tool."""

    input: TextIO
    output: TextIO
    errors: TextIO

    def say(self, line: str = "") -> None:
        """A line on stdout, there at once also where stdout is a pipe: somebody may wait for it."""
        self.output.write(f"{line}\n")
        self.output.flush()

    def check_reader(self) -> None:
        """BrokenPipeError where stdout is a pipe that nobody reads any more (`| head`): who waits for more to write would not hear of it."""
        self.output.flush()
        with contextlib.suppress(UnsupportedOperation):  # no file: there is nobody who could go away
            end = select.poll()
            end.register(self.output.fileno(), 0)
            if any(event & select.POLLERR for _, event in end.poll(0)):
                raise BrokenPipeError

    def complain(self, line: str) -> None:
        """A line on stderr, after what was said before it."""
        self.output.flush()
        self.errors.write(f"{line}\n")


Body = Callable[[Options, Console], int | None]


@dataclass(frozen=True, slots=True)
class Tool:
    """A command.

    Attributes:
        name: Kafka's, without `.sh`.
        purpose: first line of the help.
        options: all, but --help and --version.
        body: does the work; returns the exit status, None for 0.
        check: looks at the command line before anything else, even before --help and --version, as some of Kafka's tools do; raises UsageError.
        errors_with_help: the help follows where the command line cannot be taken apart; what is wrong with a number is told alone.
        notice: stands on stdout before all else.
        without_arguments: first line of the help where there is no argument at all; None: an empty command line is one like any other.
    """

    name: str
    purpose: str
    options: tuple[Option, ...]
    body: Body
    without_arguments: str | None = ""
    check: Callable[[Options], None] | None = None
    notice: str = ""
    errors_with_help: bool = False

    def opening(self) -> str:
        """What stands above the help where there was no argument."""
        return self.without_arguments or self.purpose


def execute(tool: Tool, arguments: Sequence[str], console: Console) -> int:
    """Run a tool on these streams; its exit status. Lets KeyboardInterrupt and BrokenPipeError through."""
    if tool.notice:
        console.say(tool.notice)
    try:
        if not arguments and tool.without_arguments is not None:
            raise UsageError(tool.opening(), with_help=True)
        options = _parse(tool, arguments)
        if tool.check is not None:
            tool.check(options)
        if options.has(HELP):
            raise UsageError(tool.purpose, with_help=True)
        if options.has(VERSION):
            return _say_version(console)
        return tool.body(options, console) or OK
    except UsageError as error:
        console.complain(f"{error}\n{help_text(tool.options)}".rstrip("\n") if error.with_help else str(error))
        return FAILED
    except CommandFailed as error:
        console.complain(str(error))
        return error.status
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        console.complain(sentence_of(error, tool.name))
        return FAILED


def _parse(tool: Tool, arguments: Sequence[str]) -> Options:
    try:
        return parse(tool.options, arguments)
    except UsageError as error:
        raise UsageError(str(error), with_help=error.with_help or tool.errors_with_help) from error


def _say_version(console: Console) -> int:
    from pykafka_classic.__main__ import program_version

    console.say(program_version())
    return OK


def sentence_of(error: Exception, name: str) -> str:
    """What to tell the user of an error that no tool has put into words."""
    from pykafka_classic.common.errors import KafkaError
    from pykafka_classic.protocol.network import Disconnected, RequestTimedOut

    if isinstance(error, KafkaError | Disconnected | RequestTimedOut | TimeoutError) and str(error):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename is not None else str(error)
    if os.environ.get(TRACE):
        import traceback

        return "".join(traceback.format_exception(error)).rstrip("\n")
    return f"{name} failed in a way that it should not ({type(error).__name__}: {error}); with {TRACE}=1 in the environment it tells where."


def process_console() -> Console:
    """The streams of this process: UTF-8 and lines as they are, whatever the locale; bytes that are no UTF-8 go through unharmed."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    return Console(sys.stdin, sys.stdout, sys.stderr)


def run_tool(tool: Tool) -> NoReturn:
    """Run a tool as this process, and end it."""
    run_program(functools.partial(execute, tool))


def run_program(main: Callable[[Sequence[str], Console], int]) -> NoReturn:
    """Run what takes a command line and a console as this process, and end it with the status that it returns."""
    console = process_console()
    for number, untouched in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) is untouched:
            signal.signal(number, _stop)
    try:
        status = main(sys.argv[1:], console)
        console.output.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = OK
    except KeyboardInterrupt as stop:
        leave_at_once(status_of(stop))
    if _Leave.status is not None:  # what failed while it left, a dead broker's answer for one, changes nothing
        leave_at_once(_Leave.status)
    sys.exit(status)


def _stop(number: int, _: object) -> NoReturn:
    """End the process soon: what has to be finished gets a second, or what `send_the_rest` takes. The next signal ends it on the spot."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: os._exit(128 + number))
    _Leave.later()
    _Leave.status = 128 + number
    _thread.start_new_thread(_leave_later, (128 + number,))  # threading's own would take locks, which the main thread may hold just now
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated


def _leave_later(status: int) -> None:
    """Nothing holds a process up for ever that is to leave: no dead broker, no reader of stdout that does not read."""
    while (left := _Leave.at - time.monotonic()) > 0:
        time.sleep(left)
    os._exit(status)


def leave_at_once(status: int = INTERRUPTED) -> NoReturn:
    """After Ctrl-C: what was printed is printed, no thread is waited for."""
    try:
        sys.stdout.flush()
    finally:
        os._exit(status)
