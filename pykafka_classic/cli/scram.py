"""What kafka-configs is told of a SCRAM credential: `SCRAM-SHA-256=[iterations=8192,password=secret]`.

Source: facts/tools.md 8; 2.8 ConfigCommand.scala.
"""

from __future__ import annotations

import re
from typing import Final

from pykafka_classic.common.scram import BY_NAME, ITERATIONS_MIN

ITERATIONS_DEFAULT: Final = 4096

_WISH: Final = re.compile(r"(?:iterations=(-?[0-9]*),)?password=(.*)")


class BadCredential(ValueError):
    """A wish that is none; the text is Kafka's."""


def parse_wish(mechanism: str, wish: str, *, called: str) -> tuple[int, str]:
    """Iterations and password of `[iterations=N,]password=P`; N -1 means the default. `called`: the mechanism in a complaint. Raises BadCredential."""
    found = _WISH.fullmatch(wish)
    if found is None:
        raise BadCredential(f"Invalid credential property {_constant(mechanism)}={wish}")
    try:
        iterations = -1 if found[1] is None else int(found[1])
    except ValueError:
        raise BadCredential(f'For input string: "{found[1]}"') from None
    if iterations != -1 and iterations < ITERATIONS_MIN:
        raise BadCredential(f"Iterations {iterations} is less than the minimum {ITERATIONS_MIN} required for {called}")
    return (ITERATIONS_DEFAULT if iterations == -1 else iterations), found[2]


def credential(mechanism: str, wish: str, salt: bytes) -> str:
    """What is stored for a wish. Raises BadCredential."""
    constant = _constant(mechanism)
    if wish.startswith("iterations=-"):  # not so with --zookeeper
        raise BadCredential(f"Invalid credential property {constant}={wish}")
    iterations, password = parse_wish(mechanism, wish, called=constant)
    made = BY_NAME[mechanism]
    return made.stored_form(made.salted_password(password, salt, iterations), salt, iterations)


def _constant(mechanism: str) -> str:
    """Its name among Java's constants."""
    return mechanism.replace("-", "_")
