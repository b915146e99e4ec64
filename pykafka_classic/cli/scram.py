"""SCRAM credentials as Kafka keeps them below /config/users: salted, so that the password itself is nowhere (RFC 5802).

Source: facts/tools.md 8; 2.8 ScramFormatter.java, ScramCredentialUtils.java, ConfigCommand.scala.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import Final

# Mechanism: its name among Java's constants, its hash.
MECHANISMS: Final = {"SCRAM-SHA-256": ("SCRAM_SHA_256", "sha256"), "SCRAM-SHA-512": ("SCRAM_SHA_512", "sha512")}
ITERATIONS_MIN: Final = 4096
ITERATIONS_DEFAULT: Final = 4096

_WISH: Final = re.compile(r"(?:iterations=([0-9]*),)?password=(.*)")


class BadCredential(ValueError):
    """A wish that is none; the text is Kafka's."""


def credential(mechanism: str, wish: str, *, salt: bytes | None = None) -> str:
    """What is stored for `[iterations=N,]password=P`. `salt`: drawn by lot unless given. Raises BadCredential."""
    constant, algorithm = MECHANISMS[mechanism]
    found = _WISH.fullmatch(wish)
    if found is None or found[1] == "":
        raise BadCredential(f"Invalid credential property {constant}={wish}")
    iterations = int(found[1]) if found[1] else ITERATIONS_DEFAULT
    if iterations < ITERATIONS_MIN:
        raise BadCredential(f"Iterations {iterations} is less than the minimum {ITERATIONS_MIN} required for {constant}")
    salt = secrets.token_urlsafe(20).encode() if salt is None else salt
    salted = hashlib.pbkdf2_hmac(algorithm, found[2].encode(), salt, iterations)
    stored_key = hashlib.new(algorithm, hmac.digest(salted, b"Client Key", algorithm)).digest()
    server_key = hmac.digest(salted, b"Server Key", algorithm)
    parts = {"salt": salt, "stored_key": stored_key, "server_key": server_key}
    return ",".join(f"{name}={base64.b64encode(value).decode()}" for name, value in parts.items()) + f",iterations={iterations}"
