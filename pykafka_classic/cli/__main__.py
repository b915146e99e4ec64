"""`kafka-run-class.sh NAME [argument]...`: run a tool by its name (kafka-topics), its module (topics) or its class in Kafka (kafka.admin.TopicCommand)."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable
from typing import Final

from pykafka_classic.cli.commands import CLASSES, TOOLS, module_of

INTERRUPTED: Final = 130
USAGE: Final = "USAGE: kafka-run-class.sh NAME [argument]...\nNAME is a tool (kafka-topics), or the class that it is in Kafka (kafka.admin.TopicCommand)."


def _quiet() -> None:
    """Ctrl-C ends the process without a word also while it loads. The launcher has held it back until now."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _loud(tool: Callable[[], object]) -> None:
    """Run what minds Ctrl-C by itself; until it does, it ends the process as before."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        tool()
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)


def run() -> None:
    """Find the tool, load it, run it."""
    _quiet()
    if len(sys.argv) < 2:
        sys.exit(USAGE)
    name = sys.argv[1]
    module = module_of(name)
    if module is None:
        from pykafka_classic.cli.suggestions import did_you_mean

        sys.exit(f"There is no tool {name}.{did_you_mean(name, (*TOOLS, *CLASSES))}")
    loaded = importlib.import_module(f"pykafka_classic.cli.{module}")
    sys.argv = [name, *sys.argv[2:]]
    _loud(loaded.run)


def pkc() -> None:
    """The console command of that name."""
    _quiet()
    from pykafka_classic.cli.pkc.main import run as run_pkc

    _loud(run_pkc)


if __name__ == "__main__":
    run()
