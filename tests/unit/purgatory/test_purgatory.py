"""Delayed operations: completed once, by a key or by time, and swept away afterwards."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from pykafka_classic.purgatory.delayed_operation import DelayedOperation
from pykafka_classic.purgatory.purgatory import Purgatory
from pykafka_classic.purgatory.timing_wheel import TimingWheel
from tests.fakes.clock import FakeClock


class Recorded(DelayedOperation):
    """An operation whose condition the test sets; it notes what happens to it."""

    __slots__ = ("checked", "events", "holds")

    def __init__(self, delay_ms: float = 1000) -> None:
        super().__init__(delay_ms)
        self.holds = False
        self.events: list[str] = []
        self.checked: list[Hashable] = []

    def try_complete(self) -> bool:
        return self.holds and self.force_complete()

    def try_complete_key(self, key: Hashable) -> bool:
        self.checked.append(key)
        return self.try_complete()

    def on_complete(self) -> None:
        self.events.append("complete")

    def on_expiration(self) -> None:
        self.events.append("expired")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def purgatory(clock: FakeClock) -> Purgatory:
    return Purgatory("test", TimingWheel(clock), purge_interval=10)


def test_an_operation_whose_condition_holds_is_completed_at_once_and_not_watched(purgatory: Purgatory) -> None:
    operation = Recorded()
    operation.holds = True
    assert purgatory.try_complete_else_watch(operation, ["a"])
    assert operation.events == ["complete"]
    assert purgatory.watched_count == 0


def test_a_watched_operation_completes_when_one_of_its_keys_is_checked(purgatory: Purgatory) -> None:
    operation = Recorded()
    assert not purgatory.try_complete_else_watch(operation, ["a", "b"])
    assert purgatory.check_and_complete("b") == 0
    operation.holds = True
    assert purgatory.check_and_complete("b") == 1
    assert operation.events == ["complete"]


def test_a_check_of_another_key_does_not_look_at_the_operation(purgatory: Purgatory) -> None:
    operation = Recorded()
    purgatory.try_complete_else_watch(operation, ["a"])
    operation.holds = True
    assert purgatory.check_and_complete("c") == 0
    assert operation.checked == []


def test_an_operation_is_told_which_key_was_checked(purgatory: Purgatory) -> None:
    operation = Recorded()
    purgatory.try_complete_else_watch(operation, ["a", "b"])
    purgatory.check_and_complete("b")
    assert operation.checked == ["b"]


def test_an_operation_completes_once_even_if_all_its_keys_are_checked(purgatory: Purgatory) -> None:
    operation = Recorded()
    purgatory.try_complete_else_watch(operation, ["a", "b"])
    operation.holds = True
    assert purgatory.check_and_complete("a") == 1
    assert purgatory.check_and_complete("b") == 0
    assert operation.events == ["complete"]


def test_an_operation_expires_after_its_delay(clock: FakeClock, purgatory: Purgatory) -> None:
    operation = Recorded(500)
    purgatory.try_complete_else_watch(operation, ["a"])
    clock.advance(499)
    assert operation.events == []
    clock.advance(1)
    assert operation.events == ["complete", "expired"]
    assert purgatory.delayed_count == 0


def test_a_completed_operation_does_not_expire(clock: FakeClock, purgatory: Purgatory) -> None:
    operation = Recorded(500)
    purgatory.try_complete_else_watch(operation, ["a"])
    operation.holds = True
    purgatory.check_and_complete("a")
    clock.advance(1000)
    assert operation.events == ["complete"]


def test_an_operation_without_delay_expires_at_the_next_turn(clock: FakeClock, purgatory: Purgatory) -> None:
    operation = Recorded(0)
    purgatory.try_complete_else_watch(operation, ["a"])
    clock.advance(0)
    assert operation.events == ["complete", "expired"]


def test_only_one_of_two_completions_wins() -> None:
    operation = Recorded()
    assert operation.force_complete()
    assert not operation.force_complete()
    assert operation.events == ["complete"]


def test_a_key_named_twice_is_watched_once(purgatory: Purgatory) -> None:
    purgatory.try_complete_else_watch(Recorded(), ["a", "a"])
    assert purgatory.watched_count == 1


def test_all_who_wait_for_a_key_are_completed_by_one_check(purgatory: Purgatory) -> None:
    operations = [Recorded() for _ in range(3)]
    for operation in operations:
        purgatory.try_complete_else_watch(operation, ["a"])
        operation.holds = True
    assert purgatory.check_and_complete("a") == 3
    assert not purgatory.is_watching("a")


def test_an_operation_may_be_watched_while_another_one_completes(purgatory: Purgatory) -> None:
    late = Recorded()

    class Chained(Recorded):
        def on_complete(self) -> None:
            purgatory.try_complete_else_watch(late, ["a"])

    first = Chained()
    purgatory.try_complete_else_watch(first, ["a"])
    first.holds = True
    purgatory.check_and_complete("a")
    late.holds = True
    assert purgatory.check_and_complete("a") == 1


def test_entries_of_completed_operations_are_swept_when_they_outnumber_interval_and_living(purgatory: Purgatory) -> None:
    for number in range(30):
        operation = Recorded()
        purgatory.try_complete_else_watch(operation, [f"hot {number}", f"cold {number}"])
        operation.holds = True
        purgatory.check_and_complete(f"hot {number}")
    assert purgatory.watched_count <= 11  # of 60: interval 10, and the one that has just been added
    assert purgatory.delayed_count == 0


def test_a_sweep_leaves_those_who_wait(purgatory: Purgatory) -> None:
    living = Recorded()
    purgatory.try_complete_else_watch(living, ["a", "shared"])
    for _ in range(40):
        operation = Recorded()
        purgatory.try_complete_else_watch(operation, ["hot", "shared"])
        operation.holds = True
        purgatory.check_and_complete("hot")
    living.holds = True
    assert purgatory.check_and_complete("shared") == 1
    assert purgatory.delayed_count == 0


def test_shutdown_forgets_without_completing(clock: FakeClock, purgatory: Purgatory) -> None:
    operation = Recorded(100)
    purgatory.try_complete_else_watch(operation, ["a"])
    purgatory.shutdown()
    operation.holds = True
    clock.advance(1000)
    assert purgatory.check_and_complete("a") == 0
    assert operation.events == []
