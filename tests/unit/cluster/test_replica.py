"""When a follower counts as caught up (facts/coordination.md 4.5)."""

from __future__ import annotations

from pykafka_classic.cluster.replica import NEVER_MS, Replica


def fetched(*fetches: tuple[int, float, int]) -> Replica:
    """A replica after fetches of (offset, time, leader's end)."""
    replica = Replica(1)
    for offset, now_ms, leader_end in fetches:
        replica.update_fetch_state(offset, 0, fetch_ms=now_ms, leader_end_offset=leader_end)
    return replica


def test_a_new_replica_was_never_caught_up() -> None:
    assert Replica(1).last_caught_up_ms == NEVER_MS


def test_a_fetch_at_the_leaders_end_catches_up_now() -> None:
    assert fetched((5, 100, 5)).last_caught_up_ms == 100


def test_a_fetch_below_the_end_is_not_caught_up() -> None:
    assert fetched((3, 100, 5)).last_caught_up_ms == NEVER_MS


def test_reaching_the_end_of_the_previous_fetch_catches_up_at_the_time_of_that_one() -> None:
    assert fetched((3, 100, 5), (5, 200, 9)).last_caught_up_ms == 100


def test_not_reaching_the_end_of_the_previous_fetch_changes_nothing() -> None:
    assert fetched((5, 50, 5), (6, 100, 9), (8, 200, 12)).last_caught_up_ms == 50


def test_the_time_of_being_caught_up_never_falls() -> None:
    replica = fetched((5, 100, 5), (5, 200, 5))
    replica.update_fetch_state(9, 0, fetch_ms=150, leader_end_offset=9)
    assert replica.last_caught_up_ms == 200


def test_the_log_end_is_the_offset_of_the_last_fetch() -> None:
    assert fetched((3, 100, 5), (5, 200, 9)).log_end_offset == 5


def test_a_new_leadership_gives_members_of_the_isr_the_benefit_of_the_doubt() -> None:
    replica = Replica(1)
    replica.reset_last_caught_up(10, 500, in_sync=True)
    assert replica.last_caught_up_ms == 500


def test_a_new_leadership_makes_others_catch_up_first() -> None:
    replica = fetched((5, 100, 5))
    replica.reset_last_caught_up(10, 500, in_sync=False)
    assert replica.last_caught_up_ms == NEVER_MS
