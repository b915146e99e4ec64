"""What the edges use of a Twisted reactor, as a type.

Twisted declares its reactors by zope interfaces, which mypy cannot read without a plugin; this says the same in the language's own terms, so that a reactor
(always a parameter here) is a typed one, and so that something much smaller (`blocking_zookeeper.QueueLoop`) can stand in where there are no sockets to serve.
Names are Twisted's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class DelayedCall(Protocol):
    """A pending call."""

    def cancel(self) -> None:
        """Forget it; raises AlreadyCalled or AlreadyCancelled."""
        ...


class ReactorLoop(Protocol):
    """One thread that runs calls, later, and from other threads."""

    def callLater(self, delay: float, call: Callable[..., Any], /, *args: Any) -> DelayedCall:
        """Call once, `delay` seconds from now."""
        ...

    def callFromThread(self, call: Callable[..., Any], /, *args: Any) -> Any:
        """From any thread: call on the reactor thread, in the order of these calls."""
        ...

    def callInThread(self, call: Callable[..., Any], /, *args: Any) -> Any:
        """Call in a thread of the pool."""
        ...


class Reactor(ReactorLoop, Protocol):
    """A whole reactor, as `broker_reactor.py` makes it."""

    @property
    def turns(self) -> int:
        """The number of the turn that is under way."""
        ...

    def connectTCP(self, host: str, port: int, factory: Any, timeout: float = 30, bindAddress: Any = None) -> Any:
        """Connect; the factory hears of success and failure."""
        ...

    def listenTCP(self, port: int, factory: Any, backlog: int = 50, interface: str = "") -> Any:
        """Listen; the factory makes a protocol for each connection. Raises CannotListenError."""
        ...

    def stop(self) -> None:
        """End the loop, once."""
        ...
