"""The world of a client's core over a Twisted reactor."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from pykafka_classic.client.broker_node import ClientSeams
from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.blocking_client import zookeeper_at
from pykafka_classic.edges.clocks import ReactorClock, settle_from_thread
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.twisted_client import TwistedNetwork

T = TypeVar("T")

THREADS: Final = 2  # for compression and probing
PROBE_TIMEOUT_S: Final = 2.0


class ClientBackground:
    """Implements `common.clock.Background`. While the interpreter shuts down, when threads take no more work, it is done at once."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._pool = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="kafka-clients-background")

    def run(self, work: Callable[[], T]) -> Promise[T]:
        """Run `work` in a thread of the pool; the promise settles on the reactor thread."""
        promise: Promise[T] = Promise()
        try:
            self._pool.submit(settle_from_thread, self._reactor, promise, work)
        except RuntimeError:
            settle_from_thread(self._reactor, promise, work)
        return promise

    def close(self) -> None:
        """Let the threads end when they have nothing to do."""
        self._pool.shutdown(wait=False)


def who_listens(host: str, port: int) -> str | None:
    """Who is at an address, where it can be told that it is no broker."""
    return zookeeper_at(host, port, timeout_s=PROBE_TIMEOUT_S)


def make_seams(reactor: Reactor) -> tuple[ClientSeams, ClientBackground]:
    """The seams, and what must be closed with the client."""
    background = ClientBackground(reactor)
    return ClientSeams(TwistedNetwork(reactor), ReactorClock(reactor), random.Random(), background, who_listens), background
