"""Java's integer arithmetic, where Kafka's placement rules depend on it: which partition keeps a group, which fetcher follows a partition. And its text.

facts/coordination.md 8, trap 9. Compared with values that Java computed in tests/golden.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

_MASK: Final = 0xFFFFFFFF
_PROPERTIES_BUCKETS: Final = 16
_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT: Final = "\ufffd".encode()


def to_int32(value: int) -> int:
    """Wrap to a signed 32-bit integer."""
    value &= _MASK
    return value - (1 << 32) if value & 0x80000000 else value


def string_hash(text: str) -> int:
    """java.lang.String.hashCode: over UTF-16 code units."""
    result = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        result = (31 * result + (high << 8 | low)) & _MASK
    return to_int32(result)


def string_length(text: str) -> int:
    """java.lang.String.length: UTF-16 code units, of which a character outside the basic plane takes two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-be", "surrogatepass")) // 2


def abs_java(value: int) -> int:
    """kafka.utils.Utils.abs: the smallest int32 has no positive twin and gives 0."""
    return 0 if value == -(1 << 31) else abs(value)


def hash_map_order(keys: Iterable[str], *, capacity: int = 16) -> list[str]:
    """As `hash_order`, of texts."""
    return hash_order(keys, string_hash, capacity=capacity)


def hash_order(keys: Iterable[T], hash_of: Callable[[T], int], *, capacity: int = 16) -> list[T]:
    """The order in which a java.util.HashMap made with this capacity gives back these different keys: by bucket; keys of one bucket as they were put in.

    `hash_of`: their hashCode.
    A bucket of eight keys or more may become a tree, whose order is not told here.
    """
    ordered = list(keys)
    buckets = _power_of_two(capacity)
    while len(ordered) > buckets * 3 // 4:
        buckets *= 2
    return _by_bucket(ordered, hash_of, buckets)


def properties_order(stored: Iterable[str], added: Collection[str] = ()) -> list[str]:
    """The order in which a java.util.Properties gives back its keys, of which `stored` were put in one by one and then `added` by one putAll.

    It keeps them in a ConcurrentHashMap, which makes room for a putAll in advance, and for more than it needs.
    """
    ordered = list(dict.fromkeys(stored))
    buckets = _PROPERTIES_BUCKETS
    while len(ordered) >= buckets * 3 // 4:
        buckets *= 2
    if added:
        wanted = _power_of_two(len(added) + len(added) // 2 + 1)
        buckets = buckets if ordered else max(buckets, wanted)
        while wanted > buckets * 3 // 4:
            buckets *= 2
        ordered = list(dict.fromkeys([*ordered, *properties_order(added)]))
        while len(ordered) >= buckets * 3 // 4:
            buckets *= 2
    return _by_bucket(ordered, string_hash, buckets)


def _power_of_two(at_least: int) -> int:
    return 1 << max(0, at_least - 1).bit_length()


def _by_bucket(keys: list[T], hash_of: Callable[[T], int], buckets: int) -> list[T]:
    def bucket_of(key: T) -> int:
        spread = hash_of(key) & _MASK
        return (spread ^ spread >> 16) & buckets - 1

    return sorted(keys, key=bucket_of)


def array_buffer(values: Iterable[object]) -> str:
    """How Scala prints the sequence that a broker made of an array in a request: clients see it in messages."""
    return f"ArrayBuffer({', '.join(map(str, values))})"


def decode_utf8(data: bytes) -> str:
    """new String(data, UTF_8): one U+FFFD for each malformed piece, as in Python, but a surrogate in UTF-8 is one piece, and not three."""
    return _SURROGATE.sub(_REPLACEMENT, data).decode("utf-8", "replace")
