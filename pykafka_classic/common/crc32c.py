"""CRC-32C (Castagnoli): the checksum of record batches (magic 2) and of producer snapshots.

A C library computes it (with the processor's own instruction where there is one): some gigabytes per second, while Python would take a second for one megabyte.
Known value: the digits "123456789" give e3069283 (RFC 3720, B.4). Magic 0 and 1 use the other CRC-32 (`zlib.crc32`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crc32c import crc32c as _crc32c

# crc32c(data, value): the checksum of `data`, going on from `value`: that of b, going on from the checksum of a, is that of a + b.
crc32c: Final[Callable[..., int]] = _crc32c
