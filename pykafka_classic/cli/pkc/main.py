"""The command line of `pkc`: subcommands that are loaded when they are called, and one way to end.

As with Kafka's tools (see `cli/command.py`), what goes wrong is told in one sentence: never a stack trace, never click's two-line usage.
"""

from __future__ import annotations

import functools
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from pykafka_classic.cli.command import FAILED, INTERRUPTED, OK, TERMINATED, CommandFailed, Console, leave_at_once, run_program, sentence_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

NAME: Final = "pkc"
MISTYPED: Final = 2
HAVE_TO_FINISH: Final = frozenset({"produce", "consume"})  # Ctrl-C leaves them a second to send, or to commit, what they have in hand
COMPLETE: Final = "_PKC_COMPLETE"  # the shell's script asks by this variable

# Module, and what the command is for: `pkc --help` loads none of them. The function in the module has the command's name.
COMMANDS: Final = {
    "produce": ("produce", "Write records, from lines, JSON lines or files."),
    "consume": ("consume", "Print records, as text, JSON lines, or in a format of your own."),
    "lag": ("lag", "How far a group is behind, with its offsets in Kafka and in ZooKeeper."),
    "offsets": ("offsets", "Carry a group's offsets from ZooKeeper to Kafka, or back."),
    "topics": ("topics", "The topics; with names: their partitions."),
    "groups": ("groups", "The groups of consumers, both kinds; with names: their members."),
    "brokers": ("brokers", "The brokers, and what each leads."),
    "znodes": ("znodes", "ZooKeeper's tree; with --watch: what changes in it."),
    "follow": ("follow", "Tell what happens in the cluster, in sentences, as it happens."),
    "sql": ("sql", "Ask a question of what lies in topics: select ... from topic NAME."),
    "why": ("why", "Why a partition, a broker or a group is as it is."),
    "completion": ("completion", "Print the shell's completion script: bash, zsh or fish."),
}


class Commands(click.Group):
    """The subcommands, each imported when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, loaded; None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"pykafka_classic.cli.pkc.{COMMANDS[cmd_name][0]}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """For --help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, purpose) for name, (_, purpose) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The first word is the command."""
        word = args[0]
        if word not in COMMANDS and not word.startswith("-") and not ctx.resilient_parsing:
            from pykafka_classic.cli.suggestions import did_you_mean

            raise click.UsageError(f"There is no command {word!r}.{did_you_mean(word, COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names of commands, without loading any."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=purpose) for name, (_, purpose) in COMMANDS.items() if name.startswith(incomplete)]
        return found or click.Command.shell_complete(self, ctx, incomplete)


def say_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """For --version."""
    if wanted and not ctx.resilient_parsing:
        from pykafka_classic.__main__ import program_version

        console_of(ctx).say(program_version())
        ctx.exit()


def console_of(ctx: click.Context) -> Console:
    """The streams of this run."""
    console = ctx.find_object(Console)
    assert console is not None
    return console


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Where the cluster is: -b HOST:PORT (a broker) or -z HOST:PORT (ZooKeeper) after the command, or $PKC_BROKERS and $PKC_ZOOKEEPER; else localhost. "
    "One is enough: the other side is found from it.",
)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=say_version, help="Say which version this is.")
def pkc() -> None:
    """Look into a Kafka cluster, read and write records, watch what happens."""


def execute(words: Sequence[str], console: Console) -> int:
    """Run one command line; the exit status. Lets KeyboardInterrupt and BrokenPipeError through."""
    try:
        with pkc.make_context(NAME, list(words), obj=console) as ctx:
            pkc.invoke(ctx)
    except click.exceptions.NoArgsIsHelpError as error:
        console.complain(error.format_message())
        return MISTYPED
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        console.complain(_mistyped(error))
        return MISTYPED
    except CommandFailed as error:
        console.complain(str(error))
        return error.status
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        console.complain(_told(error))
        return FAILED
    return OK


def _mistyped(error: click.ClickException) -> str:
    """What click has to say, in one line, and where more is told."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context is not None else NAME
    return f"{path}: {' '.join(error.format_message().split())} ({path} --help tells more.)"


def _told(error: Exception) -> str:
    """A sentence for an error of the clients; else as Kafka's tools tell it."""
    from pykafka_classic.client.client_errors import ClientTimeout, InvalidSetting, NoBrokers, UnsupportedByBrokers

    if isinstance(error, ClientTimeout | InvalidSetting | NoBrokers | UnsupportedByBrokers):
        text = str(error)
        return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?')) else '.'}"
    return sentence_of(error, NAME)


def _leave(status: int, *_: object) -> None:
    leave_at_once(status)


def run() -> None:
    """The console command."""
    instruction = os.environ.get(COMPLETE)
    if instruction:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(pkc, {}, NAME, COMPLETE, instruction))
    if not set(sys.argv[1:2]) & HAVE_TO_FINISH:
        for number, status in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)):
            signal.signal(number, functools.partial(_leave, status))  # an exception might be raised where a promise keeps it
    run_program(execute)


if __name__ == "__main__":
    run()
