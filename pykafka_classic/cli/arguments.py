"""Command lines of those tools that Apache wrote over argparse4j: Python's argparse, whose words are nearly the same.

No argument at all prints the help on stdout, with exit status 0, and so does `-h`, with 1; what is wrong with a command line is told on stderr, with status 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NoReturn

from pykafka_classic.cli.command import FAILED, OK, CommandFailed, Console, sentence_of


class _Refused(Exception):
    """The command line cannot be understood."""


class Arguments(argparse.ArgumentParser):
    """A parser that raises instead of leaving the process, and prints on a console."""

    def __init__(self, name: str, purpose: str) -> None:
        super().__init__(prog=name, description=purpose, add_help=False, allow_abbrev=False)
        self.add_argument("-h", "--help", action="store_true", help="show this help message and exit")

    def error(self, message: str) -> NoReturn:
        """What is wrong."""
        raise _Refused(message)


Body = Callable[[argparse.Namespace, Console], int | None]


def execute(parser: Arguments, body: Body, arguments: Sequence[str], console: Console) -> int:
    """Run a tool on these streams; its exit status. Lets KeyboardInterrupt and BrokenPipeError through."""
    if not arguments or {"-h", "--help"} & set(arguments):
        console.output.write(parser.format_help())
        return FAILED if arguments else OK
    try:
        return body(parser.parse_args(list(arguments)), console) or OK
    except _Refused as error:
        console.complain(f"{parser.format_usage()}{parser.prog}: error: {error}")
        return FAILED
    except CommandFailed as error:
        console.complain(str(error))
        return error.status
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001  # the last word: a tool never ends in a stack trace
        console.complain(sentence_of(error, parser.prog))
        return FAILED


def one_of_servers(parser: Arguments) -> None:
    """--bootstrap-server, or its old name."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--bootstrap-server", metavar="HOST1:PORT1[,HOST2:PORT2[...]]", help="brokers to begin with")
    group.add_argument("--broker-list", metavar="HOST1:PORT1[,HOST2:PORT2[...]]", help="DEPRECATED: the same")
