"""Requests take their share of a reactor's turn, no more; nobody is forgotten."""

from __future__ import annotations

from collections.abc import Callable

from pykafka_classic.edges.turn_budget import TurnBudget


class Turns:
    """A reactor's turns, in the test's hand, and its clock."""

    def __init__(self) -> None:
        self.time = 100.0
        self.due: list[Callable[[], None]] = []
        self.number = 0
        self.budget = TurnBudget(lambda: self.number, self.due.append, seconds=0.004, now=lambda: self.time)

    def turn(self) -> None:
        self.number += 1
        due = self.due[:]
        self.due.clear()
        for call in due:
            call()


class Connection:
    """Has `left` requests of a given duration."""

    def __init__(self, turns: Turns, left: int, seconds: float) -> None:
        self.turns, self.left, self.seconds = turns, left, seconds

    def go_on(self) -> None:
        while self.left:
            if self.turns.budget.is_spent():
                self.turns.budget.wait(self)
                return
            self.left -= 1
            self.turns.time += self.seconds


def test_requests_are_begun_only_while_the_turn_is_young() -> None:
    turns = Turns()
    connection = Connection(turns, left=10, seconds=0.0015)
    connection.go_on()
    assert connection.left == 7  # begun at 0, 1.5 and 3 ms
    turns.turn()
    assert connection.left == 4


def test_connections_go_on_in_the_order_in_which_they_stopped() -> None:
    turns = Turns()
    connections = [Connection(turns, left=2, seconds=0.005) for _ in range(3)]
    for connection in connections:
        connection.go_on()
    assert [each.left for each in connections] == [1, 2, 2]
    left = []
    for _ in range(5):
        turns.turn()
        left.append([each.left for each in connections])
    assert left == [[0, 2, 2], [0, 1, 2], [0, 1, 1], [0, 0, 1], [0, 0, 0]]


def test_a_new_turn_begins_with_its_whole_time() -> None:
    turns = Turns()
    assert not turns.budget.is_spent()
    turns.time += 1
    assert turns.budget.is_spent()
    turns.turn()
    assert not turns.budget.is_spent()


def test_the_reactor_is_asked_for_a_call_only_while_somebody_waits() -> None:
    turns = Turns()
    Connection(turns, left=1, seconds=1).go_on()
    assert not turns.due
    Connection(turns, left=2, seconds=1).go_on()
    assert len(turns.due) == 1
    turns.turn()
    assert len(turns.due) == 1
    turns.turn()
    assert not turns.due
