"""The last offset of each key in the dirty part of a log: what decides which older records go.

Differs from Kafka, whose SkimpyOffsetMap is an open hash table over MD5 digests in one big buffer: a dict does the same work in C. Long keys are stood in for
by their MD5, as all keys are in Kafka.

Source: facts/storage.md 11; SkimpyOffsetMap.scala.
"""

from __future__ import annotations

from hashlib import md5
from typing import Final

KEY_BYTES_MAX: Final = 32
_DIGEST_MARK: Final = b"md5:"
NOT_FOUND: Final = -1


def short_key(key: bytes) -> bytes:
    """The key, or its digest where it is long."""
    return key if len(key) <= KEY_BYTES_MAX else _DIGEST_MARK + md5(key, usedforsecurity=False).digest()


class OffsetMap:
    """Key to last offset, up to a number of keys."""

    __slots__ = ("_entries_max", "_offsets", "latest_offset")

    def __init__(self, entries_max: int) -> None:
        self._entries_max = entries_max
        self._offsets: dict[bytes, int] = {}
        self.latest_offset = NOT_FOUND  # every record up to here has been looked at

    def __len__(self) -> int:
        return len(self._offsets)

    def put(self, key: bytes, offset: int, *, over_limit: bool = False) -> bool:
        """Note the key's newest offset; False, and nothing noted, where there is no room."""
        if len(self._offsets) >= self._entries_max and not over_limit:
            return False
        self._offsets[short_key(key)] = offset
        return True

    def get(self, key: bytes) -> int:
        """The key's last offset; -1 where it is not in the map."""
        return self._offsets.get(short_key(key), NOT_FOUND)
