"""What comes back where a call concerns several things: for each its value, or the `KafkaError` that befell it alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from pykafka_classic.common.errors import ErrorCode, KafkaError

K = TypeVar("K")
V = TypeVar("V")

_KNOWN: Final = frozenset(map(int, ErrorCode))


class Outcomes(dict[K, V | KafkaError]):
    """By topic, partition, group ...: the value or the error.

    >>> from pykafka_classic.common.errors import ErrorCode, KafkaError
    >>> outcomes = Outcomes({"old": KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS), "new": 3})
    >>> outcomes.values_only()
    {'new': 3}
    >>> outcomes.check()
    Traceback (most recent call last):
        ...
    pykafka_classic.common.errors.KafkaError: old: Topic with this name already exists.
    """

    def check(self) -> dict[K, V]:
        """The values, where there was no error; else the first error, with the name of what it befell."""
        for key, error in self.errors().items():
            raise KafkaError(error.code, f"{key}: {error}") from error
        return self.values_only()

    def values_only(self) -> dict[K, V]:
        """What succeeded."""
        return {key: outcome for key, outcome in self.items() if not isinstance(outcome, KafkaError)}

    def errors(self) -> dict[K, KafkaError]:
        """What failed."""
        return {key: outcome for key, outcome in self.items() if isinstance(outcome, KafkaError)}


def outcome(value: V, code: int, message: str | None = None) -> V | KafkaError:
    """The value, or the error that its code tells."""
    return value if code == ErrorCode.NONE else error_of(code, message)


def error_of(code: int, message: str | None = None) -> KafkaError:
    """The error that a broker's code tells. A newer broker may have codes that we do not know: UNKNOWN_SERVER_ERROR, with the number."""
    if code in _KNOWN:
        return KafkaError(ErrorCode(code), message or "")
    return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"error {code}" + (f": {message}" if message else ""))


def missing(wanted: Mapping[K, object], outcomes: Outcomes[K, V]) -> None:
    """What was asked and not answered is an error too: a broker that leaves something out says nothing good about it."""
    for key in wanted:
        if key not in outcomes:
            outcomes[key] = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "The response says nothing about it.")
