"""A failing disk, told to those above: OSError becomes KAFKA_STORAGE_ERROR, and the log directory goes offline.

Kafka's maybeHandleIOException: whatever a log was doing, an I/O error means that its directory cannot be trusted any more. The partition answers
KAFKA_STORAGE_ERROR, the log manager takes the directory offline, and the controller elects leaders elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from pykafka_classic.common.errors import KafkaError


class OnDisk(Protocol):
    """Something in a log directory."""

    def storage_failed(self, error: OSError) -> KafkaError:
        """Report the failure; the error to raise instead."""
        ...


Self = TypeVar("Self", bound=OnDisk)
P = ParamSpec("P")
R = TypeVar("R")


def storage_errors(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """Decorate a method that touches the disk."""

    @wraps(method)
    def guarded(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except OSError as error:
            raise self.storage_failed(error) from error

    return guarded
