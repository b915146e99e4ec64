"""Statements that speak of topics: `from topic flights`, `join topic "my.topic" as t`. Pure.

`topic NAME` may stand where SQL wants a table. It is replaced by a table's name; text in quotes and comments is left as it is. A name with characters other
than letters, digits, `_`, `.` and `-` stands in double quotes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TOKENS: Final = re.compile(
    r"""(?P<skip>'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/|"(?:[^"]|"")*")"""
    r"""|\b(?P<before>from|join)(?P<blank>\s+)topic\s+(?P<name>"(?:[^"]|"")+"|[A-Za-z0-9._-]+)"""
    r"""|(?P<comma>,\s*)topic\s+(?P<other>"(?:[^"]|"")+"|[A-Za-z0-9._-]+)""",
    re.IGNORECASE | re.DOTALL,
)


class NoQuestion(Exception):
    """The statement cannot be asked; the text is for the user."""


@dataclass(frozen=True, slots=True)
class Question:
    """A statement with tables in the place of topics: `tables` are their names, by topic."""

    sql: str
    tables: dict[str, str]


def parse(text: str) -> Question:
    """Find the topics of a statement. Raises NoQuestion where there is none."""
    tables: dict[str, str] = {}

    def replaced(match: re.Match[str]) -> str:
        if match["skip"] is not None:
            return match[0]
        topic = _unquoted(match["name"] or match["other"])
        table = tables.setdefault(topic, quoted(topic))
        return f"{match['before']}{match['blank']}{table}" if match["before"] else f"{match['comma']}{table}"

    sql = _TOKENS.sub(replaced, text).strip().rstrip(";").strip()
    if not tables:
        raise NoQuestion("The statement speaks of no topic: select ... from topic NAME.")
    return Question(sql, tables)


def quoted(name: str) -> str:
    """A name as SQL writes any name."""
    return '"' + name.replace('"', '""') + '"'


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
