"""The timing wheel: when tasks run, and that one timer is enough."""

from __future__ import annotations

import pytest

from pykafka_classic.purgatory.timing_wheel import TimingWheel
from tests.fakes.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def wheel(clock: FakeClock) -> TimingWheel:
    return TimingWheel(clock)


@pytest.mark.parametrize("delay_ms", [1, 19, 20, 21, 399, 400, 401, 450, 7999, 8000, 30_000, 160_000, 10_000_000])
def test_a_task_runs_at_its_time_and_not_before(clock: FakeClock, wheel: TimingWheel, delay_ms: int) -> None:
    ran: list[float] = []
    wheel.add(delay_ms, lambda: ran.append(clock.monotonic_ms()))
    clock.advance(delay_ms - 1)
    assert ran == []
    clock.advance(1)
    assert ran == [delay_ms]


def test_a_task_without_delay_waits_for_the_next_turn_of_the_clock(clock: FakeClock, wheel: TimingWheel) -> None:
    ran: list[str] = []
    wheel.add(0, lambda: ran.append("task"))
    assert ran == []
    clock.advance(0)
    assert ran == ["task"]


def test_tasks_run_in_the_order_of_their_times(clock: FakeClock, wheel: TimingWheel) -> None:
    ran: list[int] = []
    for delay_ms in (500, 3, 70_000, 21, 450):
        wheel.add(delay_ms, lambda delay_ms=delay_ms: ran.append(delay_ms))  # type: ignore[misc]
    clock.advance(100_000)
    assert ran == [3, 21, 450, 500, 70_000]


def test_a_cancelled_task_never_runs(clock: FakeClock, wheel: TimingWheel) -> None:
    ran: list[str] = []
    task = wheel.add(100, lambda: ran.append("cancelled"))
    wheel.add(100, lambda: ran.append("other"))
    task.cancel()
    task.cancel()
    clock.advance(1000)
    assert ran == ["other"]


def test_a_thousand_tasks_arm_one_timer(clock: FakeClock, wheel: TimingWheel) -> None:
    for delay_ms in range(1000):
        wheel.add(30_000 + delay_ms, lambda: None)
    assert len(wheel) == 1000
    assert clock.pending == 1


def test_an_earlier_task_moves_the_timer_forward(clock: FakeClock, wheel: TimingWheel) -> None:
    wheel.add(30_000, lambda: None)
    wheel.add(5, lambda: None)
    assert clock.pending == 1
    assert clock.next_due_ms() == 5


def test_a_task_may_add_another_one(clock: FakeClock, wheel: TimingWheel) -> None:
    ran: list[float] = []

    def again() -> None:
        ran.append(clock.monotonic_ms())
        if len(ran) < 3:
            wheel.add(100, again)

    wheel.add(100, again)
    clock.advance(1000)
    assert ran == [100, 200, 300]


def test_a_task_may_cancel_one_that_is_due_at_the_same_time(clock: FakeClock, wheel: TimingWheel) -> None:
    ran: list[str] = []

    def cancel_second() -> None:
        second.cancel()

    wheel.add(10, cancel_second)
    second = wheel.add(10, lambda: ran.append("second"))
    clock.advance(10)
    assert ran == []


def test_a_task_that_raises_does_not_stop_the_others(clock: FakeClock, wheel: TimingWheel) -> None:
    ran: list[str] = []

    def fail() -> None:
        raise ValueError("a bug in a task")

    wheel.add(10, fail)
    wheel.add(20, lambda: ran.append("later"))
    with pytest.raises(ValueError, match="a bug"):
        clock.advance(10)
    clock.advance(10)
    assert ran == ["later"]
