"""A command line of zookeeper-shell, taken apart: options, which may stand anywhere, and words; and the numbers and paths among them.

Options are as commons-cli's PosixParser reads them: `-s -w` may be written `-sw`, `-v 3` also `-v3`, and behind `--` there are only words.

Source: ZooKeeper 3.5.9's org.apache.zookeeper.cli and PathUtils, as recorded in tests/golden/data/cli/zookeeper-shell*.json.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pykafka_classic.cli.command import CommandFailed, Console
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.zookeeper import ANY_VERSION

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+|0[xX][0-9a-fA-F]+)")


@dataclass(frozen=True, slots=True)
class Line:
    """A command line taken apart: options (with their values, "" for a flag) and words."""

    options: dict[str, str]
    words: Sequence[str]

    @property
    def path(self) -> str:
        """The first word."""
        return self.words[0]

    @property
    def version(self) -> int:
        """What -v says; any version where there is none."""
        return self.number("v", ANY_VERSION)

    def number(self, option: str, default: int) -> int:
        """An option's number. Raises CommandFailed."""
        text = self.options.get(option)
        return default if text is None else number(text)


Action = Callable[[ZooKeeperSession, Line, Console], None]


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One command.

    Attributes:
        usage: behind the name, in the help.
        purpose: what it does, for the manual.
        flags: options without a value.
        valued: options with one.
        one_of: options of which there may be one.
        required: of `one_of` there must be one, and this is what they are called where there is none.
        words_min: words that there must be; with any, the first is a path.
        deprecated: what to say on stderr first; "" for nothing. With `{}` only where there is a second word.
        check: looks at the line before there is a session; raises CommandFailed.
    """

    name: str
    usage: str
    purpose: str
    action: Action
    flags: str = ""
    valued: str = ""
    one_of: str = ""
    required: str = ""
    words_min: int = 1
    deprecated: str = ""
    check: Callable[[Line], object] | None = None

    def parse(self, words: Sequence[str]) -> Line:
        """Take the words behind the name apart. Raises CommandFailed."""
        line = Line(*self._taken_apart(words))
        if self.required and not set(line.options) & set(self.one_of.split()):
            raise CommandFailed(f"Missing required option: [{self.required}]")
        if len(line.words) < self.words_min:
            raise self.misused()
        if self.words_min:
            check_path(f"{line.path}1" if self.name == "create" and "s" in line.options else line.path)  # a number is put behind it
        if self.check is not None:
            self.check(line)
        return line

    def misused(self) -> CommandFailed:
        """Says how the command is to be used."""
        return CommandFailed(f"{self.name} {self.usage}")

    def _taken_apart(self, words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        options: dict[str, str] = {}
        found: list[str] = []
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == "--":
                found += rest
                break
            if word.startswith("-") and word != "-":
                self._take(word, rest, options)
            else:
                found.append(word)
        return options, found

    def _take(self, word: str, rest: list[str], options: dict[str, str]) -> None:
        if word[1:] in (*self.flags.split(), *self.valued.split()):
            self._set(word[1:], rest, options)
            return
        for position, letter in enumerate(word[1:], 2):
            if letter in self.valued.split():
                self._set(letter, [word[position:]] if word[position:] else rest, options)
                return
            if letter not in self.flags.split():
                raise CommandFailed(f"Unrecognized option: {word}")
            self._set(letter, rest, options)

    def _set(self, name: str, rest: list[str], options: dict[str, str]) -> None:
        other = next((each for each in self.one_of.split() if each in options and each != name), None)
        if other is not None and name in self.one_of.split():
            raise CommandFailed(f"The option '{name}' was specified but an option from this group has already been selected: '{other}'")
        if name in self.flags.split():
            options[name] = ""
            return
        if not rest:
            raise CommandFailed(f"Missing argument for option: {name}")
        if name in options:
            raise CommandFailed(f"-{name} stands there twice: what it takes goes behind one of them.")
        options[name] = rest.pop(0)


def number(text: str) -> int:
    """A number as it was typed. Raises CommandFailed, in Java's words."""
    if not _NUMBER.fullmatch(text):
        raise CommandFailed(f'For input string: "{text}"')
    return int(text, 16 if "x" in text.lower() else 10)


def check_path(path: str) -> None:
    """Raise CommandFailed for what is no path of a node, in ZooKeeper's words."""
    if not path:
        raise CommandFailed("Path length must be > 0")
    if not path.startswith("/"):
        raise CommandFailed("Path must start with / character")
    if len(path) > 1 and path.endswith("/"):
        raise CommandFailed("Path must not end with / character")
    position = -1  # of a step's last character
    for step in path.split("/")[1:] if path != "/" else ():
        position += 1 + len(step)
        if not step:
            raise CommandFailed(f'Invalid path string "{path}" caused by empty node name specified @{position + 1}')
        if step in (".", ".."):
            raise CommandFailed(f'Invalid path string "{path}" caused by relative paths not allowed @{position}')


def say_deprecated(command: ShellCommand, line: Line, console: Console) -> None:
    """Point to the newer way."""
    if command.deprecated and (not command.deprecated.endswith("{}") or len(line.words) > 1):
        console.complain(command.deprecated.removesuffix("{}"))
