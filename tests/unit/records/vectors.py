"""Worked examples, checked with an independent decoder when they were written down (facts/storage.md 19)."""

from __future__ import annotations

from typing import Final


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace(" ", ""))


MAGIC_0: Final = _bytes("0000000000000000 00000013 87a77ab2 00 00 ffffffff 00000005 68656c6c6f")
"""Offset 0, key null, value "hello"."""

MAGIC_1: Final = _bytes("0000000000000003 0000001c 806a8245 01 00 00000000000003e8 00000001 6b 00000005 68656c6c6f")
"""Offset 3, timestamp 1000, key "k", value "hello"."""

MAGIC_2: Final = _bytes(
    "0000000000000000 00000049 00000000 02 e5b77887 0000 00000001 00000000000003e8 00000000000003ed ffffffffffffffff ffff ffffffff 00000002"
    "18000000026b0a68656c6c6f00 14000a0201000202680278"
)
"""Leader epoch 0; (timestamp 1000, key "k", value "hello"), (timestamp 1005, key null, value "", header h=x); no producer."""

COMMIT_MARKER: Final = _bytes(
    "0000000000000005 00000042 00000000 02 9463d70f 0030 00000000 00000000000007d0 00000000000007d0 0000000000000009 0003 ffffffff 00000001"
    "20000000080000 00010c00000000000700"
)
"""Offset 5, producer 9, epoch 3, coordinator epoch 7, timestamp 2000, leader epoch 0."""
