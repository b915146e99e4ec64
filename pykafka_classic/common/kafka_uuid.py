"""Kafka's ids for topics (KIP-516): 16 bytes, in text 22 characters of URL-safe base64 without padding.

They are plain `bytes` of length 16 everywhere in this project. All zero means "no id"; all zero but the last bit is the metadata topic of clusters
without ZooKeeper.
Source: facts/protocol.md 3, 2.8:clients/src/main/java/org/apache/kafka/common/Uuid.java.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from pykafka_classic.common.clock import Random

LENGTH: Final = 16
ZERO: Final = bytes(LENGTH)
METADATA_TOPIC_ID: Final = (1).to_bytes(LENGTH, "big")
_TEXT_LENGTH_MAX: Final = 24  # with padding, which Kafka accepts but does not write


def random_uuid(random: Random) -> bytes:
    """A random id (version 4 of RFC 4122), never one of the reserved ones."""
    while True:
        value = random.getrandbits(128) & ~(0xF000 << 64) | 0x4000 << 64
        value = value & ~(0xC000 << 48) | 0x8000 << 48
        candidate = value.to_bytes(LENGTH, "big")
        if candidate not in (ZERO, METADATA_TOPIC_ID):
            return candidate


def to_text(uuid: bytes) -> str:
    """The 22 characters."""
    if len(uuid) != LENGTH:
        raise ValueError(f"a uuid has {LENGTH} bytes, not {len(uuid)}")
    return base64.urlsafe_b64encode(uuid).rstrip(b"=").decode("ascii")


def from_text(text: str) -> bytes:
    """The 16 bytes; raises ValueError for any other text."""
    if len(text) > _TEXT_LENGTH_MAX:
        raise ValueError(f"`{text[:_TEXT_LENGTH_MAX]}...` is too long for a uuid")
    try:
        uuid = base64.b64decode(text.rstrip("=") + "==", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"`{text}` is no uuid: {error}") from None
    if len(uuid) != LENGTH:
        raise ValueError(f"`{text}` is no uuid: it has {len(uuid)} bytes, not {LENGTH}")
    return uuid
