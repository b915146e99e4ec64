"""The seam below the admin client: requests to brokers by address.

Real: `edges/blocking_connections.py` (waits) and `edges/twisted_connections.py`. In tests: a cluster of fakes. Whoever implements it keeps a connection to each
address and makes it again after a failure; it never sends a request again by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.clock import Clock
from pykafka_classic.common.promise import Promise
from pykafka_classic.protocol.schema import Message


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    @classmethod
    def of(cls, node: Node) -> Address:
        """A broker's."""
        return cls(node.host, node.port)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class BrokerConnections(Protocol):
    """One connection to each broker, made when needed."""

    @property
    def bootstrap(self) -> tuple[Address, ...]:
        """The addresses that the user gave; at least one."""
        ...

    @property
    def clock(self) -> Clock:
        """Time, as these connections know it."""
        ...

    def versions(self, address: Address, *, timeout_ms: float) -> Promise[Mapping[int, tuple[int, int]]]:
        """By API key, the versions that the broker there serves, lowest and highest. Fails with `Disconnected`."""
        ...

    def send(self, address: Address, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        """The response. Fails with `Disconnected` or `RequestTimedOut`, and with `SchemaError` where this version cannot carry the request."""
        ...
