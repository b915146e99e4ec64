"""Asks each registered broker once a second whether it is there: a broker that was killed is noticed long before its session with ZooKeeper expires.

A refused or broken connection counts at once, an answer that does not come the second time: a busy broker is not a dead one. The pulse has connections of its
own, so that it neither waits behind large answers nor breaks them off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pykafka_classic.client.admin.requests import Broker, Call, ClusterRequests
from pykafka_classic.common.clock import Clock
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.monitor.collector.view import ClusterView
from pykafka_classic.monitor.store.rows import EventRow
from pykafka_classic.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

EVERY_MS: Final = 1_000
ANSWER_MS: Final = 1_500
MISSED_MAX: Final = 2  # answers that do not come before a broker counts as silent
SILENT: Final = "broker-silent"
ANSWERS: Final = "broker-answers"


class Pulse:
    """Of one cluster.

    Args:
        requests: with connections that nobody else uses.
        told: hears of brokers that fall silent, or answer again.
    """

    def __init__(self, requests: ClusterRequests, view: ClusterView, clock: Clock, told: Callable[[EventRow], None]) -> None:
        self._requests = requests
        self._view = view
        self._clock = clock
        self._told = told
        self._missed: dict[int, int] = {}
        self._asked: set[int] = set()
        self._silent_since: dict[int, int] = {}
        self._running = False

    @property
    def silent(self) -> Mapping[int, int]:
        """Brokers that are registered and do not answer, and since when, in ms."""
        return {broker: since_ms for broker, since_ms in self._silent_since.items() if broker in self._view.brokers}

    def start(self) -> None:
        """Begin."""
        if not self._running:
            self._running = True
            self._beat()

    def stop(self) -> None:
        """Ask no longer."""
        self._running = False

    def _beat(self) -> None:
        if not self._running:
            return
        for broker in self._missed.keys() - self._view.brokers.keys():
            self._silent_since.pop(broker, None)
            del self._missed[broker]  # it is gone, as ZooKeeper tells
        for broker in self._view.brokers.keys() - self._asked:
            self._asked.add(broker)
            spawn(self._ask(broker)).when_settled(lambda outcome, broker=broker: self._answered(broker, outcome))  # type: ignore[misc]
        self._clock.call_later(EVERY_MS, self._beat)

    async def _ask(self, broker: int) -> None:
        call = Call("apiVersions", ApiVersionsResponse, lambda _: ApiVersionsRequest("pykafka-classic", "1.0"))
        await self._requests.ask_once(Broker(broker), call, deadline=self._requests.deadline(ANSWER_MS))

    def _answered(self, broker: int, outcome: Promise[None]) -> None:
        self._asked.discard(broker)
        if broker not in self._view.brokers or not self._running:
            return
        before, error = self._missed.get(broker, 0), outcome.error()
        if error is None:
            self._missed[broker] = 0
            if before >= MISSED_MAX:
                self._silent_since.pop(broker, None)
                self._tell(ANSWERS, broker, "")
            return
        slow = isinstance(error, KafkaError) and error.code is ErrorCode.REQUEST_TIMED_OUT
        self._missed[broker] = before + 1 if slow else max(before + 1, MISSED_MAX)
        if before < MISSED_MAX <= self._missed[broker]:
            self._silent_since[broker] = self._clock.now_ms()
            self._tell(SILENT, broker, str(error))

    def _tell(self, name: str, broker: int, why: str) -> None:
        self._told(EventRow(self._clock.now_ms(), broker, name, f"broker {broker}", {"why": why} if why else {}))
