"""What must be drawn by lot, and must not be guessed."""

from __future__ import annotations

import secrets
from typing import Final

SALT_BYTES: Final = 20


def draw_salt() -> bytes:
    """For a SCRAM credential."""
    return secrets.token_bytes(SALT_BYTES)
