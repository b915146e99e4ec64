"""Lists and numbers in options, read as Java reads them: what one of Kafka's tools takes, and what it refuses, with its sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_INT: Final = re.compile(r"[+-]?[0-9]+")


def java_split(text: str, separator: str) -> list[str]:
    """The parts between what the pattern `separator` matches; empty ones at the end do not count, but a text without any is one part, even if empty."""
    parts = re.split(separator, text)
    return parts if len(parts) == 1 else without_empty_end(parts)


def without_empty_end(parts: Sequence[str]) -> list[str]:
    """Parts without the empty ones at the end."""
    found = list(parts)
    while found and not found[-1]:
        found.pop()
    return found


def java_int(word: str) -> int:
    """An Int. Raises ValueError, with Java's sentence."""
    if not _INT.fullmatch(word) or not -(2**31) <= int(word) < 2**31:
        raise ValueError(f'For input string: "{word}"')
    return int(word)
