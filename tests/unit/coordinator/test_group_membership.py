"""Joining, syncing, beating, leaving: the rows of facts/coordination.md 5.4 to 5.6."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.coordinator.group.group_metadata import VALID_PREVIOUS_STATES, GroupState
from tests.unit.coordinator.helpers import GROUP, Harness


def test_every_state_has_a_row_in_the_table() -> None:
    assert set(VALID_PREVIOUS_STATES) == set(GroupState)


def test_the_first_member_leads_and_is_told_the_members() -> None:
    harness = Harness()
    joined = harness.join()
    harness.clock.advance(0)
    result = joined.result()
    assert (result.generation_id, result.leader_id, result.protocol_name) == (1, result.member_id, "range")
    assert result.members == ((result.member_id, None, b"metadata"),)


def test_a_group_that_was_empty_waits_for_the_initial_delay() -> None:
    slow = Harness(group_initial_rebalance_delay_ms=3000)
    joined = slow.join()
    slow.clock.advance(2999)
    assert not joined.settled
    slow.clock.advance(1)
    assert joined.result().generation_id == 1


def test_a_newcomer_of_version_4_is_told_its_id_first() -> None:
    harness = Harness()
    refused = harness.join(require_known_member_id=True).result()
    assert refused.error is ErrorCode.MEMBER_ID_REQUIRED
    joined = harness.join(refused.member_id, require_known_member_id=True)
    harness.clock.advance(0)
    assert joined.result().member_id == refused.member_id


def test_an_id_that_is_not_used_is_forgotten_after_the_session_timeout() -> None:
    harness = Harness()
    refused = harness.join(require_known_member_id=True).result()
    harness.clock.advance(10_000)
    assert harness.join(refused.member_id).result().error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_second_member_makes_the_first_one_join_again() -> None:
    harness = Harness()
    [first] = harness.stable_group()
    late = harness.join()
    assert not late.settled
    assert harness.heartbeat(first) is ErrorCode.REBALANCE_IN_PROGRESS
    again = harness.join(first.member_id)
    assert again.result().generation_id == late.result().generation_id == 2
    assert {member for member, _, _ in again.result().members} == {first.member_id, late.result().member_id}
    assert late.result().members == ()


def test_each_member_gets_the_part_that_the_leader_gave_it() -> None:
    harness = Harness()
    results = harness.stable_group(members=3)
    for result in results:
        assert harness.sync(result).result().assignment == result.member_id.encode()


def test_a_member_that_the_leader_forgot_gets_an_empty_assignment() -> None:
    harness = Harness()
    joined = harness.join()
    harness.clock.advance(0)
    assert harness.sync(joined.result(), {}).result().assignment == b""


def test_syncs_wait_until_the_group_is_stored() -> None:
    harness = Harness()
    joined = harness.join()
    harness.clock.advance(0)
    harness.topic.hold = True
    synced = harness.sync(joined.result(), {joined.result().member_id: b"x"})
    assert not synced.settled
    harness.topic.release()
    assert synced.result().assignment == b"x"


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REBALANCE_IN_PROGRESS),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_a_group_that_cannot_be_stored_rebalances(stored: ErrorCode, told: ErrorCode) -> None:
    harness = Harness()
    joined = harness.join()
    harness.clock.advance(0)
    harness.topic.error = stored
    assert harness.sync(joined.result(), {joined.result().member_id: b"x"}).result().error is told
    assert harness.heartbeat(joined.result()) is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_member_that_falls_silent_is_removed_after_its_session_timeout() -> None:
    harness = Harness()
    first, second = harness.stable_group(members=2)
    harness.clock.advance(9_000)
    assert harness.heartbeat(first) is ErrorCode.NONE
    harness.clock.advance(1_000)
    assert harness.heartbeat(second) is ErrorCode.UNKNOWN_MEMBER_ID
    assert harness.heartbeat(first) is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_member_whose_join_is_held_does_not_expire() -> None:
    harness = Harness()
    [first] = harness.stable_group()
    late = harness.join()
    harness.clock.advance(9_000)
    harness.heartbeat(first)
    harness.clock.advance(9_000)
    harness.heartbeat(first)
    harness.join(first.member_id)
    assert late.result().error is ErrorCode.NONE


def test_dynamic_members_that_do_not_rejoin_in_time_are_dropped() -> None:
    harness = Harness()
    [first] = harness.stable_group()
    late = harness.join()
    for _ in range(7):
        harness.clock.advance(9_000)
        harness.heartbeat(first)
    assert late.result().generation_id == 2
    assert harness.heartbeat(first) is ErrorCode.UNKNOWN_MEMBER_ID


def test_members_that_never_sync_are_removed() -> None:
    harness = Harness()
    first, second = harness.stable_group(members=2)
    joins = [harness.join(first.member_id), harness.join(second.member_id)]
    results = [join.result() for join in joins]
    for _ in range(7):
        harness.clock.advance(9_000)
        harness.heartbeat(results[0])
        harness.heartbeat(results[1])
    assert harness.heartbeat(results[0]) is ErrorCode.UNKNOWN_MEMBER_ID


def test_an_old_generation_is_refused() -> None:
    harness = Harness()
    [first] = harness.stable_group()
    assert harness.groups.coordinator.heartbeat(GROUP, first.member_id, None, 0) is ErrorCode.ILLEGAL_GENERATION
    assert harness.sync(first, generation_id=7).result().error is ErrorCode.ILLEGAL_GENERATION


def test_leaving_makes_the_others_rebalance_at_once() -> None:
    harness = Harness()
    first, second = harness.stable_group(members=2)
    assert harness.groups.coordinator.leave(GROUP, [(second.member_id, None), ("nobody", None)]) == (
        ErrorCode.NONE,
        [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID],
    )
    assert harness.heartbeat(first) is ErrorCode.REBALANCE_IN_PROGRESS
    assert harness.join(first.member_id).result().generation_id == 3


def test_the_last_member_leaves_an_empty_group_behind() -> None:
    harness = Harness()
    [first] = harness.stable_group()
    harness.groups.coordinator.leave(GROUP, [(first.member_id, None)])
    group = harness.groups.store.get(GROUP)
    assert group is not None
    assert (group.state, group.generation_id, group.protocol_name) == (GroupState.EMPTY, 2, None)


def test_members_without_a_common_protocol_are_refused() -> None:
    harness = Harness()
    harness.stable_group()
    assert harness.join(protocols=(("sticky", b""),)).result().error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert harness.join(protocol_type="connect").result().error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_the_protocol_most_members_prefer_wins() -> None:
    harness = Harness()
    first = harness.join(protocols=(("a", b"1"), ("b", b"2")))
    harness.clock.advance(0)
    member = first.result()
    second = harness.join(protocols=(("b", b"3"), ("a", b"4")))
    third = harness.join(protocols=(("b", b"5"), ("a", b"6")))
    again = harness.join(member.member_id, protocols=(("a", b"1"), ("b", b"2")))
    assert {join.result().protocol_name for join in (again, second, third)} == {"b"}


@pytest.mark.parametrize("timeout_ms", [5_999, 1_800_001])
def test_a_session_timeout_outside_the_limits_is_refused(timeout_ms: int) -> None:
    assert Harness().join(session_timeout_ms=timeout_ms).result().error is ErrorCode.INVALID_SESSION_TIMEOUT


def test_a_full_group_refuses_newcomers() -> None:
    harness = Harness(group_max_size=1)
    [first] = harness.stable_group()
    assert harness.join().result().error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert harness.heartbeat(first) is ErrorCode.NONE


def test_a_protocol_that_a_member_names_twice_counts_once() -> None:
    harness = Harness()
    twice = harness.join(protocols=(("range", b"first"), ("range", b"second")))
    other = harness.join()
    harness.clock.advance(0)
    assert {result.protocol_name for result in (twice.result(), other.result())} == {"range"}
    members = {member: metadata for result in (twice.result(), other.result()) for member, _, metadata in result.members}
    assert members == {twice.result().member_id: b"first", other.result().member_id: b"metadata"}


def test_a_static_member_that_leaves_while_its_return_is_stored_and_fails_harms_nobody() -> None:
    harness = Harness()
    joined = harness.join(group_instance_id="a")
    harness.clock.advance(0)
    before = joined.result()
    harness.sync(before, {before.member_id: b"mine"})
    harness.topic.hold = True
    again = harness.join(group_instance_id="a")
    [replaced] = harness.groups.store.get(GROUP).members.values()  # type: ignore[union-attr]
    harness.groups.store.get(GROUP).remove(replaced.member_id)  # type: ignore[union-attr]
    harness.topic.error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    harness.topic.release()
    assert again.result().error is not ErrorCode.NONE


def test_a_static_member_comes_back_without_a_rebalance() -> None:
    harness = Harness()
    joined = harness.join(group_instance_id="a")
    harness.clock.advance(0)
    before = joined.result()
    harness.sync(before, {before.member_id: b"mine"})
    after = harness.join(group_instance_id="a").result()
    assert after.member_id != before.member_id
    assert (after.generation_id, after.leader_id, after.members) == (before.generation_id, before.member_id, ())
    assert harness.sync(after, group_instance_id="a").result().assignment == b"mine"


def test_the_process_that_a_static_member_replaced_is_fenced() -> None:
    harness = Harness()
    joined = harness.join(group_instance_id="a")
    harness.clock.advance(0)
    before = joined.result()
    harness.sync(before, {before.member_id: b"mine"})
    harness.join(group_instance_id="a")
    assert harness.groups.coordinator.heartbeat(GROUP, before.member_id, "a", before.generation_id) is ErrorCode.FENCED_INSTANCE_ID
    assert harness.join(before.member_id, group_instance_id="a").result().error is ErrorCode.FENCED_INSTANCE_ID


@pytest.mark.parametrize(
    ("loading", "owned", "told"),
    [
        (True, False, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (False, False, ErrorCode.NOT_COORDINATOR),
    ],
)
def test_only_the_owner_of_the_partition_answers(loading: bool, owned: bool, told: ErrorCode) -> None:
    harness = Harness()
    harness.groups.store.owned = {0} if owned else set()
    harness.groups.store.loading = {0} if loading else set()
    assert harness.join().result().error is told


def test_a_broker_that_is_stopping_sends_members_away() -> None:
    harness = Harness()
    harness.groups.shutdown()
    assert harness.join().result().error is ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_an_empty_group_id_is_invalid() -> None:
    assert Harness().join(group_id="").result().error is ErrorCode.INVALID_GROUP_ID


def test_resignation_sends_waiting_members_to_the_new_coordinator() -> None:
    harness = Harness()
    [first] = harness.stable_group()
    waiting = harness.join()
    harness.groups.loader.on_resignation(0, 5)
    assert waiting.result().error is ErrorCode.NOT_COORDINATOR
    assert harness.heartbeat(first) is ErrorCode.NOT_COORDINATOR
