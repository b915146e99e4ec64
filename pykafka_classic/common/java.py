"""Java's integer arithmetic, where Kafka's placement rules depend on it: which partition keeps a group, which fetcher follows a partition.

facts/coordination.md 8, trap 9. Compared with values that Java computed in tests/golden.
"""

from __future__ import annotations

from typing import Final

_MASK: Final = 0xFFFFFFFF


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


def abs_java(value: int) -> int:
    """kafka.utils.Utils.abs: the smallest int32 has no positive twin and gives 0."""
    return 0 if value == -(1 << 31) else abs(value)
