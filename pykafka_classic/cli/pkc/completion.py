"""`pkc completion bash|zsh|fish`: the script by which the shell completes commands, options, topics and groups."""

from __future__ import annotations

from typing import Final

import click

from pykafka_classic.cli.pkc.main import COMPLETE, NAME, console_of, pkc

SHELLS: Final = {
    "bash": "source <(pkc completion bash)   # in ~/.bashrc",
    "zsh": "source <(pkc completion zsh)    # in ~/.zshrc, after compinit",
    "fish": "pkc completion fish > ~/.config/fish/completions/pkc.fish",
}


@click.command(epilog="\b\n" + "\n".join(SHELLS.values()))
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, /, shell: str) -> None:
    """Print the shell's completion script. Topics and groups are asked of the cluster of -b, -z, $PKC_BROKERS or $PKC_ZOOKEEPER, within a second."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    console_of(ctx).output.write(found(pkc, {}, NAME, COMPLETE).source())
