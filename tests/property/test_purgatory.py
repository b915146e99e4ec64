"""Whatever the order of watching, checking and time passing: each operation completes once, no later than its time-out, and nothing is left behind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.purgatory.delayed_operation import DelayedOperation
from pykafka_classic.purgatory.purgatory import Purgatory
from pykafka_classic.purgatory.timing_wheel import TimingWheel
from tests.fakes.clock import FakeClock

KEYS = st.sampled_from("abcdef")
STEPS = st.one_of(
    st.tuples(st.just("watch"), st.lists(KEYS, min_size=1, max_size=4), st.integers(0, 2000)),
    st.tuples(st.just("check"), KEYS, st.booleans()),
    st.tuples(st.just("advance"), st.integers(0, 700), st.none()),
)


class Counted(DelayedOperation):
    """Counts its completions, and remembers when."""

    __slots__ = ("clock", "completed_ms", "holds", "keys", "times", "watched_ms")

    def __init__(self, clock: FakeClock, keys: list[str], delay_ms: float) -> None:
        super().__init__(delay_ms)
        self.clock, self.keys, self.watched_ms = clock, keys, clock.monotonic_ms()
        self.times, self.holds, self.completed_ms = 0, False, 0.0

    def try_complete(self) -> bool:
        return self.holds and self.force_complete()

    def on_complete(self) -> None:
        self.times += 1
        self.completed_ms = self.clock.monotonic_ms()


@given(st.lists(STEPS, max_size=60), st.integers(0, 8))
def test_every_operation_completes_exactly_once_and_in_time(steps: list[tuple[str, object, object]], purge_interval: int) -> None:
    clock = FakeClock()
    purgatory = Purgatory("test", TimingWheel(clock), purge_interval=purge_interval)
    operations: list[Counted] = []
    for kind, first, second in steps:
        if kind == "watch":
            assert isinstance(first, list)
            assert isinstance(second, int)
            operations.append(Counted(clock, first, second))
            purgatory.try_complete_else_watch(operations[-1], first)
        elif kind == "check":
            waiting = [operation for operation in operations if first in operation.keys and not operation.completed]
            for operation in waiting:
                operation.holds = bool(second)
            assert purgatory.check_and_complete(first) == (len(waiting) if second else 0)
        else:
            assert isinstance(first, int)
            clock.advance(first)
        assert purgatory.delayed_count == sum(not operation.completed for operation in operations)
    clock.advance(3000)
    assert all(operation.times == 1 for operation in operations)
    assert all(operation.completed_ms <= operation.watched_ms + operation.delay_ms for operation in operations)
    assert purgatory.delayed_count == 0


@given(st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 3000), st.booleans()), max_size=80))
def test_the_wheel_runs_what_a_sorted_list_would_run(tasks: list[tuple[int, int, bool]]) -> None:
    clock = FakeClock()
    wheel = TimingWheel(clock)
    ran: list[tuple[float, int]] = []
    expected: list[float] = []
    for number, (delay_ms, pause_ms, cancel) in enumerate(tasks):
        task = wheel.add(delay_ms, lambda number=number: ran.append((clock.monotonic_ms(), number)))  # type: ignore[misc]
        due_ms = clock.monotonic_ms() + delay_ms
        if cancel:
            task.cancel()
        else:
            expected.append(due_ms)
        clock.advance(pause_ms)
    clock.advance(25_000)
    assert [time for time, _ in ran] == sorted(expected)
