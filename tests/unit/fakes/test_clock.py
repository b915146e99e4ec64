"""The fake clock, background and random."""

from __future__ import annotations

import pytest

from tests.fakes.clock import FakeBackground, FakeClock, SeededRandom


def test_time_moves_only_by_advance() -> None:
    clock = FakeClock(now_ms=1000)
    assert (clock.now_ms(), clock.monotonic_ms()) == (1000, 0)
    clock.advance(250)
    assert (clock.now_ms(), clock.monotonic_ms()) == (1250, 250)


def test_timers_run_in_the_order_of_their_due_times_and_see_that_time() -> None:
    clock = FakeClock(now_ms=0)
    seen: list[tuple[str, int]] = []
    clock.call_later(30, lambda: seen.append(("late", clock.now_ms())))
    clock.call_later(10, lambda: seen.append(("early", clock.now_ms())))
    clock.call_later(10, lambda: seen.append(("early too", clock.now_ms())))
    clock.advance(100)
    assert seen == [("early", 10), ("early too", 10), ("late", 30)]


def test_a_timer_not_yet_due_stays_pending() -> None:
    clock = FakeClock()
    seen: list[int] = []
    clock.call_later(11, lambda: seen.append(1))
    clock.advance(10)
    assert (seen, clock.pending) == ([], 1)
    clock.advance(1)
    assert (seen, clock.pending) == ([1], 0)


def test_a_cancelled_timer_does_not_run() -> None:
    clock = FakeClock()
    seen: list[int] = []
    timer = clock.call_later(1, lambda: seen.append(1))
    timer.cancel()
    timer.cancel()
    clock.advance(5)
    assert (seen, clock.pending, clock.next_due_ms()) == ([], 0, None)


def test_a_timer_set_by_a_timer_runs_within_the_same_advance() -> None:
    clock = FakeClock(now_ms=0)
    seen: list[int] = []

    def first() -> None:
        clock.call_later(10, lambda: seen.append(clock.now_ms()))

    clock.call_later(10, first)
    clock.advance(20)
    assert seen == [20]


def test_a_timer_without_delay_waits_for_an_advance() -> None:
    clock = FakeClock()
    seen: list[int] = []
    clock.call_later(0, lambda: seen.append(1))
    assert seen == []
    clock.advance()
    assert seen == [1]


def test_a_timer_that_sets_itself_again_without_delay_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fakes.clock.CALLS_MAX", 100)
    clock = FakeClock()

    def again() -> None:
        clock.call_later(0, again)

    again()
    with pytest.raises(AssertionError, match="sets itself again"):
        clock.advance(1)


def test_advance_to_next_stops_at_the_next_pending_timer() -> None:
    clock = FakeClock(now_ms=0)
    clock.call_later(5, lambda: None).cancel()
    clock.call_later(7, lambda: None)
    assert clock.advance_to_next()
    assert clock.now_ms() == 7
    assert not clock.advance_to_next()


def test_jump_moves_the_wall_clock_alone() -> None:
    clock = FakeClock(now_ms=1000)
    seen: list[int] = []
    clock.call_later(10, lambda: seen.append(1))
    clock.jump(-500)
    assert (clock.now_ms(), clock.monotonic_ms(), seen) == (500, 0, [])


def test_background_runs_work_at_once() -> None:
    assert FakeBackground().run(lambda: 7).result() == 7


def test_background_passes_on_what_the_work_raises() -> None:
    error = FakeBackground().run(lambda: 1 // 0).error()
    assert isinstance(error, ZeroDivisionError)


def test_queued_background_runs_work_when_told_in_order() -> None:
    background = FakeBackground(queued=True)
    seen: list[int] = []
    first = background.run(lambda: seen.append(1))
    second = background.run(lambda: seen.append(2))
    assert (seen, background.pending, first.settled) == ([], 2, False)
    assert background.run_next()
    assert (seen, first.settled, second.settled) == ([1], True, False)
    background.run_all()
    assert (seen, background.pending) == ([1, 2], 0)
    assert not background.run_next()


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert [SeededRandom(3).randrange(100) for _ in range(5)] == [SeededRandom(3).randrange(100) for _ in range(5)]
    assert SeededRandom(3).seed_used == 3
