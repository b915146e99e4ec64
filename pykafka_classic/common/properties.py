r"""Java's .properties files, read and written as `java.util.Properties` does.

    # comment            ! comment
    key=value            key : value          key value
    long = first \
           second      (white space at the start of a continued line is dropped)

Escapes: \t \n \r \f, \uXXXX, and a backslash before any other character stands for that character. Text here is UTF-8 where Java takes Latin-1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SEPARATOR: Final = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_BLANKS: Final = " \t\f"


def parse_properties(text: str) -> dict[str, str]:
    """Values by key; of a repeated key the last counts. Raises ValueError for a broken Unicode escape."""
    properties = {}
    for line in _logical_lines(text):
        match = _SEPARATOR.fullmatch(line)
        assert match is not None  # the pattern takes any text but one that ends in a lone backslash, which _logical_lines never gives
        properties[_unescape(match[1])] = _unescape(match[2])
    return properties


def format_properties(properties: Mapping[str, str]) -> str:
    """One line per entry, in the order given; `parse_properties` reads back the same."""
    return "".join(f"{_escape(key, ' =:#!')}={_escape(value)}\n" for key, value in properties.items())


def _logical_lines(text: str) -> Iterator[str]:
    """Lines that mean something: comments and blanks left out, continuations joined."""
    joined = ""
    for line in re.split(r"\r\n|\r|\n", text):
        stripped = line.lstrip(_BLANKS)
        if not joined and stripped[:1] in ("", "#", "!"):
            continue
        trailing = len(stripped) - len(stripped.rstrip("\\"))
        if trailing % 2:
            joined += stripped[:-1]
            continue
        yield joined + stripped
        joined = ""
    if joined:
        yield joined


def _unescape(text: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        escape = match[1]
        if escape == "u":
            raise ValueError(f"Malformed \\uxxxx encoding in {text!r}")
        return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPES.get(escape, escape)

    return _ESCAPE.sub(replacement, text)


def _escape(text: str, special: str = "") -> str:
    """Backslashes for what would be read otherwise; a value's leading blanks count too."""
    names = {character: f"\\{name}" for name, character in _ESCAPES.items()}
    escaped = "".join(names.get(each, f"\\{each}" if each == "\\" or each in special else each) for each in text)
    return f"\\{escaped}" if escaped[:1] == " " else escaped
