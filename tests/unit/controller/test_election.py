"""Who becomes leader."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.controller.election import (
    Elected,
    elect_for_controlled_shutdown,
    elect_for_offline,
    elect_for_reassign,
    elect_preferred,
)
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr

BROKERS = st.integers(min_value=0, max_value=5)
ASSIGNMENTS = st.lists(BROKERS, min_size=1, max_size=5, unique=True).map(tuple)
SETS = st.frozensets(BROKERS)


def state(isr: tuple[int, ...], *, leader: int = 1, epoch: int = 4) -> LeaderAndIsr:
    return LeaderAndIsr(leader, epoch, isr, zk_version=7, controller_epoch=2)


def leader_of(election: Elected | None) -> int | None:
    return None if election is None else election.leader_and_isr.leader


def test_offline_takes_the_first_of_the_assignment_that_is_online_and_in_sync() -> None:
    assert leader_of(elect_for_offline(state((3, 2)), (1, 2, 3), {2, 3}, unclean_allowed=False)) == 2


def test_offline_takes_the_dead_out_of_the_isr_and_keeps_its_order() -> None:
    election = elect_for_offline(state((3, 1, 2)), (1, 2, 3), {2, 3}, unclean_allowed=False)
    assert election is not None
    assert election.leader_and_isr.isr == (3, 2)


def test_offline_tells_the_online_replicas() -> None:
    election = elect_for_offline(state((1, 2)), (1, 2, 3), {2, 3}, unclean_allowed=False)
    assert election is not None
    assert election.recipients == (2, 3)


def test_offline_without_a_live_isr_member_elects_nobody() -> None:
    assert elect_for_offline(state((1,)), (1, 2, 3), {2, 3}, unclean_allowed=False) is None


def test_leader_outside_isr_is_elected_only_when_unclean_is_allowed() -> None:
    election = elect_for_offline(state((1,)), (1, 3, 2), {2, 3}, unclean_allowed=True)
    assert election is not None
    assert (election.leader_and_isr.leader, election.leader_and_isr.isr, election.unclean) == (3, (3,), True)


def test_a_live_isr_member_is_preferred_though_unclean_is_allowed() -> None:
    election = elect_for_offline(state((2,)), (3, 2), {2, 3}, unclean_allowed=True)
    assert election is not None
    assert (election.leader_and_isr.leader, election.unclean) == (2, False)


def test_unclean_without_any_live_replica_elects_nobody() -> None:
    assert elect_for_offline(state((1,)), (1, 2), frozenset(), unclean_allowed=True) is None


def test_reassign_takes_the_first_of_the_target_that_is_online_and_in_sync_and_keeps_the_isr() -> None:
    election = elect_for_reassign(state((1, 2, 3)), (4, 3, 2), {2, 3})
    assert election is not None
    assert (election.leader_and_isr.leader, election.leader_and_isr.isr, election.recipients) == (3, (1, 2, 3), (4, 3, 2))


def test_reassign_without_a_live_target_in_sync_elects_nobody() -> None:
    assert elect_for_reassign(state((1,)), (2, 3), {1, 2, 3}) is None


def test_preferred_takes_the_first_replica() -> None:
    election = elect_preferred(state((2, 1), leader=2), (1, 2, 3), {1, 2})
    assert election is not None
    assert (election.leader_and_isr.leader, election.leader_and_isr.isr, election.recipients) == (1, (2, 1), (1, 2, 3))


def test_preferred_elects_nobody_else() -> None:
    assert elect_preferred(state((2, 3), leader=2), (1, 2, 3), {1, 2, 3}) is None
    assert elect_preferred(state((1, 2), leader=2), (1, 2, 3), {2, 3}) is None


def test_controlled_shutdown_takes_a_live_isr_member_that_stays() -> None:
    election = elect_for_controlled_shutdown(state((1, 2, 3)), (1, 2, 3), {1, 2, 3}, leaving={1, 2})
    assert election is not None
    assert (election.leader_and_isr.leader, election.leader_and_isr.isr) == (3, (3,))


def test_controlled_shutdown_tells_the_leaving_broker_too() -> None:
    election = elect_for_controlled_shutdown(state((1, 2)), (1, 2, 3), {1, 2}, leaving={1})
    assert election is not None
    assert election.recipients == (1, 2)


def test_controlled_shutdown_without_another_isr_member_elects_nobody() -> None:
    assert elect_for_controlled_shutdown(state((1,)), (1, 2), {1, 2}, leaving={1}) is None


@given(ASSIGNMENTS, ASSIGNMENTS, SETS, st.booleans())
def test_every_election_raises_the_epoch_by_one_and_keeps_the_version(
    assignment: tuple[int, ...], isr: tuple[int, ...], online: frozenset[int], unclean: bool
) -> None:
    current = state(isr)
    for election in (
        elect_for_offline(current, assignment, online, unclean_allowed=unclean),
        elect_for_reassign(current, assignment, online),
        elect_preferred(current, assignment, online),
        elect_for_controlled_shutdown(current, assignment, online, leaving=frozenset({1})),
    ):
        if election is not None:
            assert election.leader_and_isr.leader_epoch == current.leader_epoch + 1
            assert election.leader_and_isr.zk_version == current.zk_version


@given(ASSIGNMENTS, ASSIGNMENTS, SETS, st.booleans())
def test_an_elected_leader_is_assigned_online_and_in_its_isr(assignment: tuple[int, ...], isr: tuple[int, ...], online: frozenset[int], unclean: bool) -> None:
    for election in (
        elect_for_offline(state(isr), assignment, online, unclean_allowed=unclean),
        elect_for_reassign(state(isr), assignment, online),
        elect_preferred(state(isr), assignment, online),
        elect_for_controlled_shutdown(state(isr), assignment, online, leaving=frozenset({1})),
    ):
        if election is not None:
            leader = election.leader_and_isr.leader
            assert leader in assignment
            assert leader in online
            assert leader in election.leader_and_isr.isr


@given(ASSIGNMENTS, ASSIGNMENTS, SETS)
def test_without_unclean_nobody_outside_the_isr_is_elected(assignment: tuple[int, ...], isr: tuple[int, ...], online: frozenset[int]) -> None:
    election = elect_for_offline(state(isr), assignment, online, unclean_allowed=False)
    assert election is None or election.leader_and_isr.leader in isr
