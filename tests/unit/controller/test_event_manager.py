"""The queue of events."""

from __future__ import annotations

from typing import get_args

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.controller.event_manager import ControllerEventManager
from pykafka_classic.controller.events import (
    BrokerChange,
    ControlledShutdown,
    ControllerEvent,
    ElectionTrigger,
    ElectionType,
    EventOfActiveController,
    EventWithCaller,
    Expire,
    ReplicaLeaderElection,
    TopicChange,
    refuse,
)
from tests.unit.controller.cluster import ControlCluster


class Handling:
    """A handler that waits, for each event, until the test lets it go on."""

    def __init__(self) -> None:
        self.begun: list[ControllerEvent] = []
        self.ended: list[ControllerEvent] = []
        self.gate: Promise[None] = Promise()

    async def process(self, event: ControllerEvent) -> None:
        """Wait at the gate."""
        self.begun.append(event)
        await self.gate
        self.ended.append(event)

    def open(self) -> None:
        """Let the present handler end, and those after it run through."""
        self.gate.resolve(None)


def test_an_event_waits_until_the_one_before_has_been_handled() -> None:
    handling = Handling()
    events = ControllerEventManager(handling.process)
    events.put(TopicChange())
    events.put(BrokerChange())
    assert (handling.begun, events.queue_size) == ([TopicChange()], 1)
    handling.open()
    assert handling.ended == [TopicChange(), BrokerChange()]
    assert events.is_idle


def test_clear_and_put_drops_what_waits_but_not_what_runs() -> None:
    handling = Handling()
    events = ControllerEventManager(handling.process)
    events.put(TopicChange())
    events.put(BrokerChange())
    events.clear_and_put(Expire())
    handling.open()
    assert handling.ended == [TopicChange(), Expire()]


def test_callers_of_dropped_events_are_refused() -> None:
    handling = Handling()
    events = ControllerEventManager(handling.process)
    events.put(TopicChange())
    shutdown = ControlledShutdown(1, 1)
    events.put(shutdown)
    events.clear_and_put(Expire())
    error = shutdown.answer.error()
    assert isinstance(error, KafkaError)
    assert error.code is ErrorCode.NOT_CONTROLLER


def test_an_event_put_by_a_handler_comes_after_it() -> None:
    order: list[str] = []

    async def process(event: ControllerEvent) -> None:
        order.append(f"begin {type(event).__name__}")
        if isinstance(event, TopicChange):
            events.put(BrokerChange())
        order.append(f"end {type(event).__name__}")

    events = ControllerEventManager(process)
    events.put(TopicChange())
    assert order == ["begin TopicChange", "end TopicChange", "begin BrokerChange", "end BrokerChange"]


def test_a_handler_that_raises_does_not_end_the_loop() -> None:
    handled: list[ControllerEvent] = []

    async def process(event: ControllerEvent) -> None:
        handled.append(event)
        raise ValueError("a bug")

    events = ControllerEventManager(process)
    events.put(TopicChange())
    events.put(BrokerChange())
    assert handled == [TopicChange(), BrokerChange()]


def test_a_closed_queue_refuses_everything() -> None:
    handling = Handling()
    events = ControllerEventManager(handling.process)
    events.close()
    shutdown = ControlledShutdown(1, 1)
    events.put(shutdown)
    assert shutdown.answer.settled
    assert handling.begun == []


def test_thousands_of_events_need_no_deep_stack() -> None:
    count = 0

    async def process(_: ControllerEvent) -> None:
        nonlocal count
        count += 1
        if count < 5000:
            events.put(TopicChange())

    events = ControllerEventManager(process)
    events.put(TopicChange())
    assert count == 5000


def test_an_election_that_nobody_waits_for_is_dropped_silently() -> None:
    event = ReplicaLeaderElection(None, ElectionType.PREFERRED, ElectionTrigger.ZK)
    refuse(event, ErrorCode.NOT_CONTROLLER)
    assert not event.answer.settled


def test_every_event_of_an_active_controller_has_a_handler() -> None:
    without_caller = set(get_args(EventOfActiveController)) - set(get_args(EventWithCaller))
    assert set(ControlCluster(brokers=[1]).controller._handlers._table) == without_caller
