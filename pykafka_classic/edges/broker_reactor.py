"""The reactor of a broker: Twisted's, with less work for each event, and with its turns counted.

Twisted calls every socket that has something in a context of its own, so that log lines of Twisted's own logger can name it. Nobody reads those here, and on a
broker that answers in fifty microseconds it is a tenth of them. What a socket raises is caught and logged as before, and ends its connection.

`turns` is the number of the turn that is under way: `turn_budget.py` shares out the time of each.
"""

from __future__ import annotations

import select
import sys
from functools import cache
from typing import Any

from twisted.internet.main import installReactor
from twisted.python import log


class _CountsTurns:
    """Mixed into a reactor class, before it."""

    turns = 0

    def runUntilCurrent(self) -> None:
        """A turn begins: first what is due."""
        self.turns += 1
        super().runUntilCurrent()  # type: ignore[misc]  # the reactor's


def make_broker_reactor() -> Any:
    """A new one; it is not installed."""
    return _epoll_class()() if hasattr(select, "epoll") else _portable_class()()


@cache
def install_broker_reactor() -> Any:
    """The one of this process, made at the first call; whoever imports Twisted's then gets this one too."""
    reactor = make_broker_reactor()
    installReactor(reactor)  # type: ignore[no-untyped-call]
    return reactor


def _portable_class() -> Any:
    from twisted.internet.selectreactor import SelectReactor  # noqa: PLC0415  # where there is no epoll

    class PortableReactor(_CountsTurns, SelectReactor):
        """Twisted's own, with its turns counted."""

    return PortableReactor


def _epoll_class() -> Any:
    from twisted.internet.epollreactor import EPollReactor  # noqa: PLC0415  # cannot be imported elsewhere

    class BrokerReactor(_CountsTurns, EPollReactor):
        """See the module."""

        def doIteration(self, timeout: float | None) -> None:
            """Wait for events, and serve them."""
            try:
                events = self._poller.poll(-1 if timeout is None else timeout, len(self._selectables))
            except InterruptedError:
                return
            for descriptor, event in events:
                selectable = self._selectables.get(descriptor)
                if selectable is None:
                    continue  # one that was served before it has closed it
                if event != select.EPOLLIN:
                    self._doReadOrWrite(selectable, descriptor, event)  # type: ignore[no-untyped-call]
                    continue
                try:
                    why = selectable.doRead()
                except BaseException:  # noqa: BLE001  # as Twisted: whatever it was ends this connection, not the broker
                    why = sys.exc_info()[1]
                    log.err()  # type: ignore[no-untyped-call]
                if why:
                    self._disconnectSelectable(selectable, why, True)  # type: ignore[no-untyped-call]

    return BrokerReactor
