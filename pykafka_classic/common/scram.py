"""SCRAM credentials (RFC 5802), as Kafka makes and keeps them: the password itself is nowhere, and never travels.

    SaltedPassword = Hi(password, salt, iterations)          what a client sends (KIP-554)
    StoredKey      = H(HMAC(SaltedPassword, "Client Key"))   what is stored below /config/users: both prove a password,
    ServerKey      = HMAC(SaltedPassword, "Server Key")      and cannot be turned back into it

    "SCRAM-SHA-256": "salt=<base64>,stored_key=<base64>,server_key=<base64>,iterations=4096"

Source: 2.8 ScramFormatter.java, ScramCredentialUtils.java, ScramMechanism.java.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

ITERATIONS_MIN: Final = 4096
ITERATIONS_MAX: Final = 16384


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A SCRAM mechanism; `digest` as hashlib names it."""

    number: int  # on the wire
    name: str
    digest: str

    def salted_password(self, password: str, salt: bytes, iterations: int) -> bytes:
        """What stands for the password. Takes milliseconds: that is its purpose."""
        return hashlib.pbkdf2_hmac(self.digest, password.encode(), salt, iterations)

    def stored_form(self, salted_password: bytes, salt: bytes, iterations: int) -> str:
        """The value of the mechanism's key in the user's config."""
        stored_key = hashlib.new(self.digest, hmac.digest(salted_password, b"Client Key", self.digest)).digest()
        server_key = hmac.digest(salted_password, b"Server Key", self.digest)
        fields = {"salt": salt, "stored_key": stored_key, "server_key": server_key}
        return ",".join(f"{name}={b64encode(value).decode()}" for name, value in fields.items()) + f",iterations={iterations}"


MECHANISMS: Final[Mapping[int, Mechanism]] = MappingProxyType({1: Mechanism(1, "SCRAM-SHA-256", "sha256"), 2: Mechanism(2, "SCRAM-SHA-512", "sha512")})
BY_NAME: Final[Mapping[str, Mechanism]] = MappingProxyType({mechanism.name: mechanism for mechanism in MECHANISMS.values()})
