"""The thread on which the cores of all blocking clients of a process run: a Twisted reactor that nobody else sees.

It is made by the first client, never ended (a daemon thread ends with the process), and not inherited: a child that was forked makes its own.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from pykafka_classic.client.client_errors import ClientClosed
from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.signals import signals_held_back
from pykafka_classic.edges.waiting import Waiting, begin_on

T = TypeVar("T")

log = logging.getLogger("kafka.clients")


class ClientThread:
    """See the module; `shared()` gives the process's one."""

    _shared: ClassVar[ClientThread | None] = None
    _making: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self.reactor = _make_reactor()
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name="kafka-clients", daemon=True)
        with signals_held_back():
            self._thread.start()

    @classmethod
    def shared(cls) -> ClientThread:
        """The process's thread, started if need be."""
        with cls._making:
            if cls._shared is None:
                cls._shared = ClientThread()
            return cls._shared

    @classmethod
    def forget(cls) -> None:
        """In a child that was forked: the parent's thread is not here."""
        cls._shared = None
        cls._making = threading.Lock()

    def call_soon(self, call: Callable[..., Any], *args: Any) -> None:
        """Call on the client thread; an exception is logged. ClientClosed in a child of the process that made the client."""
        if os.getpid() != self._process:
            raise ClientClosed("this client was made before the process forked; make a new one")
        self.reactor.callFromThread(call, *args)

    def start(self, begin: Callable[[], Promise[T]]) -> Waiting[T]:
        """Begin something on the client thread."""
        return begin_on(self.call_soon, begin)

    def call(self, begin: Callable[[], Promise[T]]) -> T:
        """Begin something on the client thread, and wait for its outcome."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a callback of a client must not call the client and wait: its thread would wait for itself")
        return self.start(begin).result()

    def get(self, work: Callable[[], T]) -> T:
        """Do something that does not wait on the client thread, and give its result."""
        return self.call(lambda: Promise.resolved(work()))

    def _run(self) -> None:
        run: Any = self.reactor
        run.run(installSignalHandlers=False)


def _make_reactor() -> Reactor:
    # Imported here: importing a reactor's module does not install it, but costs time that users of other parts need not spend.
    reactor: Any
    if hasattr(select, "epoll"):
        from twisted.internet.epollreactor import EPollReactor  # noqa: PLC0415

        reactor = EPollReactor()  # type: ignore[no-untyped-call]
    else:
        from twisted.internet.selectreactor import SelectReactor  # noqa: PLC0415

        reactor = SelectReactor()
    made: Reactor = reactor
    return made


os.register_at_fork(after_in_child=ClientThread.forget)
