"""Lines typed at a terminal: with a history that the next session finds again, completion of the first word, and events told while somebody thinks.

Before each line, and whenever nothing has been typed for a moment, `idle` is called.
"""

from __future__ import annotations

import readline
import select
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

HISTORY: Final = Path("~/.pykafka_zookeeper_history").expanduser()
HISTORY_LINES_MAX: Final = 1000
IDLE_S: Final = 0.2


class TerminalLines:
    """An iterator over lines; it ends with Ctrl-D."""

    def __init__(self, prompt: Callable[[], str], words: Sequence[str], idle: Callable[[], None]) -> None:
        self._prompt = prompt
        self._words = words
        self._idle = idle
        readline.set_history_length(HISTORY_LINES_MAX)
        if HISTORY.exists():
            readline.read_history_file(HISTORY)
        readline.set_completer(self._complete)
        readline.parse_and_bind("tab: complete")

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        self._wait_for_a_key()
        try:
            line = input(self._prompt())
        except EOFError as error:
            print()
            raise StopIteration from error
        readline.write_history_file(HISTORY)
        return line

    def _wait_for_a_key(self) -> None:
        """Show the prompt, and tell what happens until somebody types."""
        sys.stdout.write(self._prompt())
        sys.stdout.flush()
        while not select.select([sys.stdin], [], [], IDLE_S)[0]:
            self._idle()
            sys.stdout.flush()
        sys.stdout.write("\r")

    def _complete(self, text: str, state: int) -> str | None:
        found = [word for word in self._words if word.startswith(text)]
        return found[state] if state < len(found) else None
