"""The controller's queue: events are handled strictly one after the other, however long a handler waits for ZooKeeper.

`clear_and_put` is for the end of a session: what is still in the queue was seen by a controller that no longer is one, so it is dropped and its callers are
refused.
Mirrors Kafka's controller/ControllerEventManager.scala (a thread there, a coroutine here).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import spawn
from pykafka_classic.controller.events import ControllerEvent, refuse

log = logging.getLogger("kafka.controller.ControllerEventManager")


class ControllerEventManager:
    """One queue. Invariant: at most one handler runs; `_running` is true while it does."""

    def __init__(self, process: Callable[[ControllerEvent], Coroutine[Any, Any, None]]) -> None:
        self._process = process
        self._queue: deque[ControllerEvent] = deque()
        self._running = False
        self._closed = False

    @property
    def queue_size(self) -> int:
        """Events that wait."""
        return len(self._queue)

    @property
    def is_idle(self) -> bool:
        """True while nothing is handled and nothing waits."""
        return not self._running and not self._queue

    def put(self, event: ControllerEvent) -> None:
        """Handle this after all that came before."""
        if self._closed:
            refuse(event, ErrorCode.NOT_CONTROLLER)
            return
        self._queue.append(event)
        if not self._running:
            self._running = True
            spawn(self._drain())

    def clear_and_put(self, event: ControllerEvent) -> None:
        """Drop what waits and handle this next. The handler that runs now is not interrupted."""
        self._refuse_all()
        self.put(event)

    def close(self) -> None:
        """Handle nothing more."""
        self._closed = True
        self._refuse_all()

    def _refuse_all(self) -> None:
        dropped, self._queue = self._queue, deque()
        for event in dropped:
            refuse(event, ErrorCode.NOT_CONTROLLER)

    async def _drain(self) -> None:
        while self._queue:
            event = self._queue.popleft()
            try:
                await self._process(event)
            except Exception:
                # The loop must outlive every handler: a controller that no longer handles events would still hold its office.
                log.exception("Uncaught error processing event %s", event)
        self._running = False
