"""Time, chance and processes of a simulated cluster: one heap of events, in the order of a clock that jumps from one to the next.

Every event has an owner: the process in which it happens (None: the world outside of all processes). What is due in a dead process is dropped; what is due in a
paused one is kept until it goes on, as SIGSTOP does. Everything that chance decides comes from `random`, so a seed tells a run.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from typing import TypeVar

from pykafka_classic.common.promise import Promise

T = TypeVar("T")

START_MS = 1_600_000_000_000


class Process:
    """Something that runs: alive, paused, or dead for ever (a restart is another process)."""

    def __init__(self, world: World, node: int, name: str) -> None:
        self.node = node  # the machine's number
        self.name = name
        self.alive = True
        self.paused = False
        self.clock = ProcessClock(world, self)
        self.background = ProcessBackground(world, self)
        self.held: list[Callable[[], None]] = []  # what was due while it was paused

    def __str__(self) -> str:
        return self.name


class Event:
    """Something to happen."""

    __slots__ = ("call", "owner")

    def __init__(self, owner: Process | None, call: Callable[[], None]) -> None:
        self.owner = owner
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        """Let it not happen."""
        self.call = None


class World:
    """The heap. `after_step` is told after each event in which process it happened."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now_ms = 0.0  # since the start
        self.steps = 0
        self.after_step: Callable[[Process | None], None] = lambda _: None
        self._events: list[tuple[float, int, Event]] = []  # due, number: what is due at the same time happens in the order of its making
        self._made = 0

    def schedule(self, delay_ms: float, call: Callable[[], None], owner: Process | None = None) -> Event:
        """Let something happen `delay_ms` from now."""
        self._made += 1
        event = Event(owner, call)
        heapq.heappush(self._events, (self.now_ms + max(delay_ms, 0.0), self._made, event))
        return event

    def run_until(self, end_ms: float, *, done: Callable[[], bool] = lambda: False) -> bool:
        """Let everything happen up to a time, or until `done`; whether it was."""
        while self._events and self._events[0][0] <= end_ms:
            due_ms, _, event = heapq.heappop(self._events)
            self._step(due_ms, event)
            if done():
                return True
        self.now_ms = max(self.now_ms, end_ms)
        return done()

    def _step(self, due_ms: float, event: Event) -> None:
        call, owner = event.call, event.owner
        if call is None or (owner is not None and not owner.alive):
            return
        self.now_ms = max(self.now_ms, due_ms)
        event.call = None
        if owner is not None and owner.paused:
            owner.held.append(call)
            return
        call()
        self.steps += 1
        self.after_step(owner)

    def resume(self, process: Process) -> None:
        """The process goes on: first with what was due meanwhile, in its order."""
        process.paused = False
        held, process.held = process.held, []
        for call in held:
            self.schedule(0, call, process)


class SteadyRandom(random.Random):
    """No chance at all: every delay is the mean one, every choice the first. For stories that are read, not searched for bugs."""

    def random(self) -> float:
        """Always the same."""
        return 0.5

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """Always the first."""
        del step
        return 0 if stop is None else start


class ProcessClock:
    """The `Clock` seam of one process."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process

    def now_ms(self) -> int:
        """Wall-clock time since 1970."""
        return START_MS + int(self._world.now_ms)

    def monotonic_ms(self) -> float:
        """Time since the world began."""
        return self._world.now_ms

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> Event:
        """Call later, in this process."""
        return self._world.schedule(delay_ms, call, self._process)


class ProcessBackground:
    """The `Background` seam: work is done a little later, and pieces of work overtake each other."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process

    def run(self, work: Callable[[], T]) -> Promise[T]:
        """The promise of what `work` returns."""
        promise: Promise[T] = Promise()

        def perform() -> None:
            try:
                value = work()
            except Exception as error:
                promise.fail(error)
            else:
                promise.resolve(value)

        self._world.schedule(self._world.random.random() * 5, perform, self._process)
        return promise
