"""Command lines and help texts in the manner of Kafka's tools (joptsimple), so that scripts and eyes find what they know.

`--name value`, `--name=value` and `-name value` are the same. A name is written in full; `=value` behind an option
that takes none does nothing. What belongs to no option is left over (and most tools ignore it).
The help is a table of two columns, 80 wide; it goes to stderr, and the exit status is then 1, for `--help` and for no arguments at all too.

Differs from Kafka: what Kafka's parser refuses ends there in a stack trace; here in the sentence that stands at the top of it.

Source: facts/tools.md 1; 2.8 CommandDefaultOptions.scala, CommandLineUtils.scala.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

HELP: Final = "help"
VERSION: Final = "version"

_WIDTH: Final = 80
_BETWEEN: Final = 2  # blanks between the columns, and before what goes on in the next line
_NUMBERS: Final = {"Integer": range(-(2**31), 2**31), "Long": range(-(2**63), 2**63)}
_PIECES: Final = re.compile(r"[^\s.-]*(?:[.-]+(?=[^\s.-])|[.-]*\s*)")  # a line may end behind a blank, a full stop or a hyphen


class UsageError(Exception):
    """A command line that cannot be understood; the text is a sentence that says why.

    Attributes:
        with_help: the help follows the sentence.
    """

    def __init__(self, message: str, *, with_help: bool = False) -> None:
        super().__init__(message)
        self.with_help = with_help


class Argument(Enum):
    """Whether an option has a value."""

    NONE = 0
    REQUIRED = 1
    OPTIONAL = 2


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a tool.

    Attributes:
        name: without hyphens.
        description: for the help.
        argument: whether a value follows.
        kind: the value's type as the help names it; "Integer" and "Long" are checked.
        described_as: what the value is, for the help.
        default: the value where the option is not given, or is given without one.
        checked_late: the type is checked where the value is read: Kafka has begun its work by then, and tells the error in another way.
    """

    name: str
    description: str
    argument: Argument = Argument.NONE
    kind: str = "String"
    described_as: str = ""
    default: str | None = None
    checked_late: bool = False

    def usage(self) -> str:
        """The left column of the help."""
        inside = f"{self.kind}: {self.described_as}" if self.described_as else self.kind
        match self.argument:
            case Argument.NONE:
                return f"--{self.name}"
            case Argument.REQUIRED:
                return f"--{self.name} <{inside}>"
            case Argument.OPTIONAL:
                return f"--{self.name} [{inside}]"

    def explanation(self) -> str:
        """The right column of the help."""
        return self.description if self.default is None else f"{self.description} (default: {self.default})"


@dataclass(frozen=True, slots=True)
class Options:
    """What a command line said.

    Attributes:
        known: all options that the tool has.
        values: by option given, its values in order; none for an option that takes none.
        left_over: words that belong to no option.
        order: the options as they came, each as often as it was given.
        arguments: the command line as it was.
    """

    known: Mapping[str, Option]
    values: Mapping[str, Sequence[str]]
    left_over: Sequence[str]
    order: Sequence[str] = ()
    arguments: Sequence[str] = ()

    def has(self, name: str) -> bool:
        """True where the option was given."""
        return name in self.values

    def value(self, name: str) -> str | None:
        """The option's value, or its default. Raises UsageError where there are several."""
        found = self.values.get(name, ())
        if len(found) > 1:
            raise UsageError(f"Found multiple arguments for option {name}, but you asked for only one")
        return found[0] if found else self.known[name].default

    def text(self, name: str) -> str:
        """As `value`, of an option that has a default or was required."""
        value = self.value(name)
        assert value is not None, "an option with a default, or required"
        return value

    def integer(self, name: str) -> int:
        """As `text`, as a number. Raises UsageError where it is none."""
        text = self.text(name)
        _check(self.known[name], text)
        return int(text)

    def values_of(self, name: str) -> Sequence[str]:
        """All values of an option that may be given more than once; none where it was not given."""
        return self.values.get(name, ())

    def require(self, *names: str) -> None:
        """Raise UsageError, with help, for the first of `names` that was not given."""
        for name in names:
            if not self.has(name):
                raise UsageError(f'Missing required argument "[{name}]"', with_help=True)

    def refuse(self, name: str, *others: str) -> None:
        """Raise UsageError, with help, where option `name` was given together with one of `others`."""
        for other in others:
            if self.has(name) and self.has(other):
                raise UsageError(f'Option "[{name}]" can\'t be used with option "[{other}]"', with_help=True)


DEFAULT_OPTIONS: Final = (Option(HELP, "Print usage information."), Option(VERSION, "Display Kafka version."))


def parse(options: Iterable[Option], arguments: Sequence[str]) -> Options:
    """Take a command line apart; `--help` and `--version` are known to every tool. Raises UsageError."""
    known = {option.name: option for option in (*options, *DEFAULT_OPTIONS)}
    values: dict[str, list[str]] = {}
    left_over: list[str] = []
    order: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            left_over += rest
            break
        if not word.startswith("-") or word == "-":
            left_over.append(word)
            continue
        name, equals, value = word.removeprefix("--" if word.startswith("--") else "-").partition("=")
        if name not in known:
            raise UsageError(_unknown(word, name, known))
        given = values.setdefault(name, [])
        order.append(name)
        if known[name].argument is not Argument.NONE:
            given += [value] if equals else _following_value(known[name], rest)
        for text in given if not known[name].checked_late else ():
            _check(known[name], text)
    return Options(known, values, left_over, order, arguments)


def _unknown(word: str, name: str, known: Iterable[str]) -> str:
    from pykafka_classic.cli.suggestions import did_you_mean

    suggestion = did_you_mean(name, known, prefix="--")
    return f"{name if word.startswith('--') else name[:1]} is not a recognized option{'.' if suggestion else ''}{suggestion}"


def _following_value(option: Option, rest: list[str]) -> list[str]:
    if option.argument is Argument.OPTIONAL and (not rest or rest[0].startswith("-")):
        return []
    if not rest:
        raise UsageError(f"Option {option.name} requires an argument")
    return [rest.pop(0)]


def _check(option: Option, text: str) -> None:
    if option.kind in _NUMBERS and not (re.fullmatch(r"[+-]?[0-9]+", text) and int(text) in _NUMBERS[option.kind]):
        raise UsageError(f"Cannot parse argument '{text}' of option {option.name}")


def help_text(options: Iterable[Option]) -> str:
    """The table of all options, by name."""
    ordered = sorted((*options, *DEFAULT_OPTIONS), key=lambda option: option.name)
    left = min((_WIDTH - _BETWEEN) // 2, max(len(option.usage()) for option in ordered))
    right = _WIDTH - _BETWEEN - left
    rows = [("Option", "Description"), ("------", "-----------"), *((option.usage(), option.explanation()) for option in ordered)]
    lines = []
    for usage, explanation in rows:
        columns = _broken(usage, left), _broken(explanation, right)
        for index in range(max(map(len, columns))):
            first, second = (column[index] if index < len(column) else "" for column in columns)
            lines.append(f"{first:{left}}{'':{_BETWEEN}}{second:{right}}")
    return "".join(line + "\n" for line in lines)


def _broken(text: str, width: int) -> list[str]:
    """A text in lines of at most `width`, those after the first indented."""
    lines, line = [], ""
    for piece in filter(None, _PIECES.findall(text)):
        if line.strip() and len(line) + len(piece) > width:
            lines.append(line[:width])
            line = " " * _BETWEEN
        line += piece
    return [*lines, *textwrap.wrap(line, width, drop_whitespace=False, replace_whitespace=False)] or [""]
