"""Who is in sync, and how far records are committed (facts/coordination.md 4.6, 4.7)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pykafka_classic.cluster.in_sync_replicas import InSyncReplicas
from pykafka_classic.cluster.isr_state import CommittedIsr, IsrState, PendingExpandIsr, PendingShrinkIsr

NOW_MS = 100_000.0
LAG_MS = 30_000.0


def replicas(
    ends: dict[int, int], isr: Sequence[int] = (0, 1, 2), *, caught_up_ms: dict[int, float] | None = None, alive: set[int] | None = None
) -> InSyncReplicas:
    """A partition led by broker 0; log ends of the followers."""
    made = InSyncReplicas(0, LAG_MS, (alive or {1, 2}).__contains__)
    made.update([0, *ends], isr)
    for broker_id, end in ends.items():
        made.remote[broker_id].log_end_offset = end
        made.remote[broker_id].last_caught_up_ms = (caught_up_ms or {}).get(broker_id, NOW_MS)
    return made


def test_the_high_watermark_is_the_smallest_end_of_the_isr() -> None:
    assert replicas({1: 7, 2: 9}).high_watermark_candidate(10, NOW_MS) == 7


def test_without_followers_the_high_watermark_is_the_leaders_end() -> None:
    assert replicas({}, [0]).high_watermark_candidate(10, NOW_MS) == 10


def test_a_follower_outside_the_isr_that_lags_does_not_hold_the_high_watermark_back() -> None:
    long_ago = {2: NOW_MS - LAG_MS - 1}
    assert replicas({1: 7, 2: 3}, [0, 1], caught_up_ms=long_ago).high_watermark_candidate(10, NOW_MS) == 7


def test_a_follower_outside_the_isr_that_was_caught_up_lately_holds_the_high_watermark_back() -> None:
    lately = {2: NOW_MS - LAG_MS}
    assert replicas({1: 7, 2: 3}, [0, 1], caught_up_ms=lately).high_watermark_candidate(10, NOW_MS) == 3


def test_a_dead_follower_outside_the_isr_does_not_hold_the_high_watermark_back() -> None:
    lately = {2: NOW_MS - LAG_MS}
    assert replicas({1: 7, 2: 3}, [0, 1], caught_up_ms=lately, alive={1}).high_watermark_candidate(10, NOW_MS) == 7


def test_a_member_of_the_isr_holds_the_high_watermark_back_dead_or_alive() -> None:
    assert replicas({1: 7, 2: 3}, alive={1}).high_watermark_candidate(10, NOW_MS) == 3


def test_a_member_whose_end_is_unknown_keeps_the_high_watermark_where_it_is() -> None:
    assert replicas({1: -1, 2: 9}).high_watermark_candidate(10, NOW_MS) == -1


def test_a_replica_that_is_proposed_as_a_member_counts_for_the_high_watermark_already() -> None:
    long_ago = {2: NOW_MS - LAG_MS - 1}
    made = replicas({1: 7, 2: 3}, [0, 1], caught_up_ms=long_ago)
    made.state = PendingExpandIsr.of((0, 1), 2)
    assert made.high_watermark_candidate(10, NOW_MS) == 3


def test_a_member_that_is_proposed_for_removal_still_counts_for_the_high_watermark() -> None:
    long_ago = {2: NOW_MS - LAG_MS - 1}
    made = replicas({1: 7, 2: 3}, caught_up_ms=long_ago)
    made.state = PendingShrinkIsr((0, 1, 2), (2,))
    assert made.high_watermark_candidate(10, NOW_MS) == 3


def test_a_member_leaves_when_it_is_behind_and_was_not_caught_up_for_too_long() -> None:
    assert replicas({1: 10, 2: 9}, caught_up_ms={2: NOW_MS - LAG_MS - 1}).out_of_sync(10, NOW_MS) == (2,)


def test_a_member_stays_while_it_was_caught_up_within_the_allowed_lag() -> None:
    assert replicas({1: 10, 2: 9}, caught_up_ms={2: NOW_MS - LAG_MS}).out_of_sync(10, NOW_MS) == ()


def test_a_member_exactly_at_the_leaders_end_never_leaves() -> None:
    assert replicas({1: 10, 2: 10}, caught_up_ms={2: 0}).out_of_sync(10, NOW_MS) == ()


@pytest.mark.parametrize("state", [PendingShrinkIsr((0, 1, 2), (1,)), PendingExpandIsr.of((0, 1), 2)])
def test_nobody_leaves_while_a_change_is_under_way(state: IsrState) -> None:
    made = replicas({1: 10, 2: 9}, caught_up_ms={2: 0})
    made.state = state
    assert made.out_of_sync(10, NOW_MS) == ()


@pytest.mark.parametrize(
    ("end", "high_watermark", "epoch_start", "may_join"),
    [(5, 5, 3, True), (4, 5, 3, False), (5, 5, 6, False), (6, 5, 6, True), (6, 5, None, False)],
)
def test_a_follower_joins_at_the_high_watermark_and_at_the_start_of_the_epoch(end: int, high_watermark: int, epoch_start: int | None, may_join: bool) -> None:
    made = replicas({1: 10, 2: end}, [0, 1])
    assert made.may_join(made.remote[2], high_watermark=high_watermark, leader_epoch_start_offset=epoch_start) is may_join


def test_a_member_does_not_join_again() -> None:
    made = replicas({1: 10})
    assert not made.may_join(made.remote[1], high_watermark=0, leader_epoch_start_offset=0)


def test_nobody_joins_while_a_change_is_under_way() -> None:
    made = replicas({1: 10, 2: 10}, [0, 1])
    made.state = PendingShrinkIsr((0, 1), (1,))
    assert not made.may_join(made.remote[2], high_watermark=0, leader_epoch_start_offset=0)


def test_a_new_assignment_keeps_what_is_known_of_replicas_that_stay() -> None:
    made = replicas({1: 7, 2: 9})
    made.update([0, 2, 3], [0, 2])
    assert {broker_id: replica.log_end_offset for broker_id, replica in made.remote.items()} == {2: 9, 3: -1}
    assert made.state == CommittedIsr((0, 2))


def test_a_proposed_shrink_leaves_the_maximal_isr_as_it_is() -> None:
    state = PendingShrinkIsr((0, 1, 2), (1,))
    assert (state.proposed_isr, state.maximal_isr, state.isr) == ((0, 2), (0, 1, 2), (0, 1, 2))


def test_a_proposed_expansion_is_in_the_maximal_isr_only() -> None:
    state = PendingExpandIsr.of((0, 1), 2)
    assert (state.proposed_isr, state.maximal_isr, state.isr) == ((0, 1, 2), (0, 1, 2), (0, 1))
