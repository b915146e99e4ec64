"""Lines typed at a terminal: with a history that the next session finds again, completion of commands and of paths, and events told while somebody types.

A thread reads (readline waits for keys, and edits the line); whoever iterates gets the lines on its own thread, and calls `idle` while there is none.
"""

from __future__ import annotations

import queue
import readline
import sys
import termios
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

HISTORY: Final = Path("~/.pykafka_zookeeper_history").expanduser()
HISTORY_LINES_MAX: Final = 1000
IDLE_S: Final = 0.1


class TerminalLines:
    """An iterator over lines; it ends with Ctrl-D.

    Args:
        prompt: what stands before the next line.
        words: what a word is completed to.
        children: of the node of a path, by which a word that begins with / is completed.
        idle: called again and again while nothing is entered; True where it has printed something.
        secret: first words of lines that the history does not keep, for there are passwords in them.
    """

    def __init__(
        self, prompt: Callable[[], str], words: Sequence[str], children: Callable[[str], Sequence[str]], idle: Callable[[], bool], *, secret: Sequence[str] = ()
    ) -> None:
        self._secret = secret
        self._children = children
        self._found: Sequence[str] = ()
        self._prompt = prompt
        self._words = words
        self._idle = idle
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._terminal = termios.tcgetattr(sys.stdin)
        readline.set_history_length(HISTORY_LINES_MAX)
        if HISTORY.exists():
            readline.read_history_file(HISTORY)
        readline.set_completer(self._complete)
        readline.set_completer_delims(" \t\n")
        readline.parse_and_bind("tab: complete")

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        prompt = self._prompt()
        threading.Thread(target=self._read, args=(prompt,), daemon=True).start()
        try:
            line = self._wait(prompt)
        except KeyboardInterrupt:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._terminal)  # readline has changed it
            raise
        if line is None:
            print()
            raise StopIteration
        kept = readline.get_current_history_length()
        if kept and line.split()[:1] and line.split()[0] in self._secret:
            readline.remove_history_item(kept - 1)
        readline.write_history_file(HISTORY)
        return line

    def _read(self, prompt: str) -> None:
        try:
            self._lines.put(input(prompt))
        except EOFError:
            self._lines.put(None)

    def _wait(self, prompt: str) -> str | None:
        while True:
            try:
                return self._lines.get(timeout=IDLE_S)
            except queue.Empty:
                if self._idle():
                    sys.stdout.write(f"{prompt}{readline.get_line_buffer()}")
                    sys.stdout.flush()

    def _complete(self, text: str, state: int) -> str | None:
        """Asked with 0, 1, ... until there is no more; called on the thread that reads."""
        if not state:
            self._found = completions(text, self._words, self._children)
        return self._found[state] if state < len(self._found) else None


def completions(text: str, words: Sequence[str], children: Callable[[str], Sequence[str]]) -> list[str]:
    """What a word may become."""
    if not text.startswith("/"):
        return [word for word in words if word.startswith(text)]
    folder, _, start = text.rpartition("/")
    return [f"{folder}/{name}" for name in sorted(children(folder or "/")) if name.startswith(start)]
