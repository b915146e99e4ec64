"""The nearest word to one that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

LIKE_ENOUGH: Final = 0.6  # of difflib's ratio, 1 being equal


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The most similar of the known words; None where none is like it. The beginning of a word counts as like it."""
    words = sorted(known)
    begun = [each for each in words if word and each.startswith(word)]
    if begun:
        return min(begun, key=len)
    found = difflib.get_close_matches(word, words, n=1, cutoff=LIKE_ENOUGH)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str], *, prefix: str = "") -> str:
    """A sentence to add, begun with a blank; nothing where no known word is like it."""
    found = nearest(word, known)
    return "" if found is None else f" Did you mean {prefix}{found}?"
