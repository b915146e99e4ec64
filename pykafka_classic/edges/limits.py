"""Sizes that all sockets have in common, in bytes."""

from __future__ import annotations

from typing import Final

# One read from a socket: with less, a large request takes many turns of the reactor.
READ_BYTES: Final = 256 * 1024

# No response is as long as this; what a peer of another protocol (HTTP, TLS, ZooKeeper) sends first often reads as a longer one.
RESPONSE_MAX_BYTES: Final = 512 * 1024 * 1024
