"""The seam to other brokers: send a request, get a promise of its response.

Real: `edges/twisted_client.py`. In tests and the simulation: `FakeNetwork` (delay, drop, reorder, partition). Who sends decides on retries; a channel
connects at its first send and, after a failure, again at the next.
"""

from __future__ import annotations

from typing import Protocol

from pykafka_classic.common.promise import Promise
from pykafka_classic.protocol.schema import Message


class Disconnected(Exception):
    """No connection could be made, or it ended before the response came; the request may or may not have been carried out."""


class CannotConnect(Disconnected):
    """No connection could be made: the request has not been carried out."""


class RequestTimedOut(Disconnected):
    """No response within the time given; the connection has been closed."""


class Channel(Protocol):
    """One connection to one address, made when needed. Responses come in the order of the requests."""

    def send(self, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        """The response to `request`; fails with `Disconnected` or `RequestTimedOut`."""
        ...

    def close(self) -> None:
        """Close; what is under way fails with `Disconnected`."""
        ...


class Network(Protocol):
    """Makes channels."""

    def channel(self, host: str, port: int, *, client_id: str) -> Channel:
        """A channel to this address; nothing is connected yet."""
        ...
