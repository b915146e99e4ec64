"""A partition's roles, appends, ISR changes (facts/coordination.md 4.1, 4.6 to 4.8)."""

from __future__ import annotations

from uuid import UUID

import pytest

from pykafka_classic.cluster.isr_state import CommittedIsr, LeaderAndIsr, PendingExpandIsr, PendingShrinkIsr
from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.log.append_origin import AppendOrigin
from tests.unit.cluster.helpers import OnePartition, state
from tests.unit.log.helpers import batch

LAG_MS = 30_000


@pytest.fixture
def one() -> OnePartition:
    return OnePartition()


def led() -> OnePartition:
    """Led by this broker, two followers in sync, at leader epoch 0."""
    made = OnePartition()
    made.lead()
    return made


def lagging() -> OnePartition:
    """One record, follower 1 has it, follower 2 has not and is out of time."""
    made = led()
    made.append()
    made.clock.advance(LAG_MS + 1)
    made.fetched(1, 1)
    return made


# Roles


def test_a_new_leader_notes_its_epoch_at_the_log_end_before_anything_is_appended(one: OnePartition) -> None:
    one.lead(5)
    assert one.partition.local_log().leader_epoch_cache.entries == [(5, 0)]


def test_a_new_leader_does_not_trust_what_it_knew_of_followers(one: OnePartition) -> None:
    one.lead(0)
    one.append()
    one.fetched(1, 1)
    one.follow(1, 1)
    one.lead(2)
    assert one.partition.in_sync.remote[1].log_end_offset == -1


def test_a_leader_that_is_confirmed_in_a_new_epoch_keeps_what_it_knows_of_followers(one: OnePartition) -> None:
    one.lead(0)
    one.append()
    one.fetched(1, 1)
    assert not one.lead(1)
    assert one.partition.in_sync.remote[1].log_end_offset == 1


def test_becoming_leader_drops_isr_changes_that_wait(one: OnePartition) -> None:
    one.lead(0)
    assert one.isr_manager.cleared == 1


def test_becoming_leader_ends_a_pending_change() -> None:
    made = lagging()
    made.partition.maybe_shrink_isr()
    made.lead(1, isr=[0, 1], zk_version=3)
    assert made.partition.in_sync.state == CommittedIsr((0, 1))
    assert made.partition.zk_version == 3


def test_a_leader_whose_isr_is_down_to_itself_commits_all_at_once(one: OnePartition) -> None:
    one.lead(0)
    one.append()
    one.lead(1, isr=[0])
    one.clock.advance(LAG_MS + 1)
    one.lead(2, isr=[0])
    assert one.high_watermark == 1


def test_a_follower_has_no_isr(one: OnePartition) -> None:
    one.follow(1)
    assert one.isr == ()


def test_following_the_same_leader_in_the_same_epoch_changes_nothing(one: OnePartition) -> None:
    assert one.follow(1, 3)
    assert not one.follow(1, 3)


def test_following_the_same_leader_in_a_new_epoch_is_a_change(one: OnePartition) -> None:
    one.follow(1, 3)
    assert one.follow(1, 4)


def test_the_topic_id_is_stored_with_the_new_log(one: OnePartition) -> None:
    topic_id = UUID(int=77)
    one.partition.make_leader(state(0, 0), topic_id.bytes)
    assert one.partition.local_log().topic_id == topic_id


def test_a_log_without_topic_id_takes_the_one_that_is_told(one: OnePartition) -> None:
    one.lead(0)
    assert one.partition.check_or_set_topic_id(UUID(int=77).bytes)
    assert one.partition.local_log().topic_id == UUID(int=77)


def test_another_topic_id_does_not_fit(one: OnePartition) -> None:
    one.partition.make_leader(state(0, 0), UUID(int=77).bytes)
    assert not one.partition.check_or_set_topic_id(UUID(int=78).bytes)
    assert one.partition.check_or_set_topic_id(kafka_uuid.ZERO)


def test_a_deleted_partition_has_neither_log_nor_leader(one: OnePartition) -> None:
    one.lead(0)
    one.partition.delete()
    assert not one.partition.is_leader
    with pytest.raises(KafkaError) as raised:
        one.partition.local_log()
    assert raised.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


# The epoch that a request means


@pytest.mark.parametrize(
    ("asked", "error"),
    [(-1, None), (3, None), (2, ErrorCode.FENCED_LEADER_EPOCH), (4, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_the_current_leader_epoch_of_a_request_is_checked(one: OnePartition, asked: int, error: ErrorCode | None) -> None:
    one.lead(3)
    if error is None:
        assert one.partition.local_log(asked) is one.partition.log
        return
    with pytest.raises(KafkaError) as raised:
        one.partition.local_log(asked)
    assert raised.value.code is error


def test_a_follower_is_not_asked_what_only_a_leader_knows(one: OnePartition) -> None:
    one.follow(1)
    assert one.partition.local_log() is one.partition.log
    with pytest.raises(KafkaError) as raised:
        one.partition.local_log(require_leader=True)
    assert raised.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


# Appending


def test_only_the_leader_appends(one: OnePartition) -> None:
    one.follow(1)
    with pytest.raises(KafkaError) as raised:
        one.append()
    assert raised.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_acks_all_needs_min_insync_replicas_and_writes_nothing_without_them() -> None:
    made = OnePartition(min_insync_replicas="2")
    made.lead(isr=[0])
    with pytest.raises(KafkaError) as raised:
        made.append(acks=-1)
    assert raised.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    assert made.partition.local_log().log_end_offset == 0


def test_other_acks_do_not_ask_for_min_insync_replicas() -> None:
    made = OnePartition(min_insync_replicas="2")
    made.lead(isr=[0])
    made.append(acks=1)
    assert made.partition.local_log().log_end_offset == 1


def test_before_an_append_only_the_committed_isr_counts() -> None:
    made = OnePartition(min_insync_replicas="2")
    made.lead(isr=[0])
    made.fetched(1, 0)
    assert isinstance(made.partition.in_sync.state, PendingExpandIsr)
    with pytest.raises(KafkaError):
        made.append(acks=-1)


def test_a_single_replica_commits_with_the_append(one: OnePartition) -> None:
    one.lead(isr=[0], replicas=[0])
    _, moved = one.append(b"a", b"b")
    assert moved
    assert one.high_watermark == 2


def test_with_followers_the_high_watermark_waits_for_them() -> None:
    made = led()
    _, moved = made.append()
    assert not moved
    made.fetched(1, 1)
    assert made.high_watermark == 0
    made.fetched(2, 1)
    assert made.high_watermark == 1


def held_back_by_a_dead_broker() -> OnePartition:
    """Record 1 is in all of the ISR; a broker outside it has caught up with record 0 only, and has died since."""
    made = OnePartition()
    made.lead(isr=(0, 1))
    made.isr_manager.accepts = False
    made.append()
    made.fetched(1, 1)
    made.fetched(2, 1)
    made.append()
    made.fetched(1, 2)
    assert made.high_watermark == 1
    made.alive.remove(2)
    return made


def test_a_broker_that_caught_up_and_then_died_outside_the_isr_holds_nothing_back() -> None:
    made = held_back_by_a_dead_broker()
    made.partition.reconsider_high_watermark()
    assert made.high_watermark == 2


def test_a_follower_that_asks_again_at_the_same_offset_is_enough_to_find_out_that_nobody_holds_the_high_watermark_back() -> None:
    made = held_back_by_a_dead_broker()
    made.fetched(1, 2)
    assert made.high_watermark == 2


def test_a_fetch_from_a_broker_that_is_no_replica_is_not_recorded() -> None:
    assert not led().fetched(9, 0)


# The ISR


def test_a_laggard_is_proposed_for_removal() -> None:
    made = lagging()
    made.partition.maybe_shrink_isr()
    assert made.isr_manager.items[-1].leader_and_isr == LeaderAndIsr(0, 0, (0, 1), 0)
    assert made.isr_manager.items[-1].controller_epoch == 7
    assert made.partition.in_sync.state == PendingShrinkIsr((0, 1, 2), (2,))


def test_a_confirmed_shrink_moves_the_high_watermark_at_once() -> None:
    made = lagging()
    made.partition.maybe_shrink_isr()
    assert made.high_watermark == 0
    made.isr_manager.accept()
    assert made.isr == (0, 1)
    assert made.partition.zk_version == 1
    assert made.high_watermark == 1


def test_only_one_change_is_under_way() -> None:
    made = lagging()
    made.partition.maybe_shrink_isr()
    made.partition.maybe_shrink_isr()
    assert len(made.isr_manager.items) == 1


@pytest.mark.parametrize("error", [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.INVALID_UPDATE_VERSION])
def test_a_refused_change_stays_pending_until_the_next_leader_and_isr(error: ErrorCode) -> None:
    made = lagging()
    made.partition.maybe_shrink_isr()
    made.isr_manager.refuse(error)
    assert made.partition.in_sync.state == PendingShrinkIsr((0, 1, 2), (2,))
    assert len(made.isr_manager.items) == 1


@pytest.mark.parametrize("error", [ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT])
def test_any_other_error_is_answered_by_asking_again(error: ErrorCode) -> None:
    made = lagging()
    made.partition.maybe_shrink_isr()
    made.isr_manager.refuse(error)
    assert [item.leader_and_isr.isr for item in made.isr_manager.items] == [(0, 1), (0, 1)]


def test_a_verdict_that_a_leader_and_isr_has_overtaken_is_ignored() -> None:
    made = lagging()
    made.partition.maybe_shrink_isr()
    made.lead(1, isr=[0, 1, 2], zk_version=5)
    made.isr_manager.accept()
    assert made.partition.in_sync.state == CommittedIsr((0, 1, 2))
    assert made.partition.zk_version == 5


@pytest.mark.parametrize(
    ("verdict", "isr"),
    [
        (LeaderAndIsr(0, 0, (0, 1), 4), (0, 1)),  # newer
        (LeaderAndIsr(0, 0, (0, 1), 3), (0, 1)),  # the same version: nothing had to be written
        (LeaderAndIsr(0, 0, (0, 1), 2), (0, 1, 2)),  # older
        (LeaderAndIsr(0, 1, (0, 1), 4), (0, 1, 2)),  # of another leader epoch
    ],
)
def test_a_verdict_counts_only_for_this_epoch_and_if_it_is_not_older(verdict: LeaderAndIsr, isr: tuple[int, ...]) -> None:
    made = OnePartition()
    made.lead(zk_version=3)
    made.append()
    made.clock.advance(LAG_MS + 1)
    made.fetched(1, 1)
    made.partition.maybe_shrink_isr()
    made.isr_manager.items[-1].on_verdict(verdict)
    assert made.isr == isr


def test_a_change_that_the_manager_does_not_take_is_not_pending() -> None:
    made = lagging()
    made.isr_manager.accepts = False
    made.partition.maybe_shrink_isr()
    assert made.partition.in_sync.state == CommittedIsr((0, 1, 2))


def test_a_follower_that_reaches_the_high_watermark_is_proposed(one: OnePartition) -> None:
    one.lead(isr=[0, 1])
    one.append()
    one.fetched(1, 1)
    one.fetched(2, 0)
    assert one.isr_manager.items == []
    one.fetched(2, 1)
    assert one.isr_manager.items[-1].leader_and_isr.isr == (0, 1, 2)


def test_a_follower_that_is_proposed_counts_for_the_high_watermark_before_the_verdict(one: OnePartition) -> None:
    one.lead(isr=[0, 1])
    one.fetched(2, 0)
    assert isinstance(one.partition.in_sync.state, PendingExpandIsr)
    one.append()
    one.clock.advance(LAG_MS + 1)
    one.fetched(1, 1)
    assert one.high_watermark == 0


def test_a_follower_does_not_look_for_laggards(one: OnePartition) -> None:
    one.follow(1)
    one.partition.maybe_shrink_isr()
    assert one.isr_manager.items == []


# Deleting records


def test_records_are_deleted_up_to_the_high_watermark_at_most() -> None:
    made = led()
    made.append(b"a", b"b")
    with pytest.raises(KafkaError) as raised:
        made.partition.delete_records_on_leader(1)
    assert raised.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_minus_one_deletes_up_to_the_high_watermark(one: OnePartition) -> None:
    one.lead(isr=[0], replicas=[0])
    one.append(b"a", b"b")
    assert one.partition.delete_records_on_leader(-1) == (2, 2)


def test_a_compacted_topic_is_not_deleted_from() -> None:
    made = OnePartition(cleanup_policy="compact")
    made.lead(isr=[0], replicas=[0])
    with pytest.raises(KafkaError) as raised:
        made.partition.delete_records_on_leader(0)
    assert raised.value.code is ErrorCode.POLICY_VIOLATION


def test_the_low_watermark_is_the_smallest_log_start_of_live_replicas() -> None:
    made = led()
    made.append(b"a", b"b")
    made.fetched(1, 2, log_start_offset=1)
    made.fetched(2, 2, log_start_offset=0)
    made.partition.delete_records_on_leader(2)
    assert made.partition.low_watermark() == 0
    made.alive.discard(2)
    assert made.partition.low_watermark() == 1


# Following


def test_a_follower_takes_the_leaders_high_watermark_bounded_by_its_own_end(one: OnePartition) -> None:
    one.follow(1)
    one.partition.append_records_to_follower(batch([(None, b"a")], leader_epoch=0))
    one.partition.update_follower_offsets(9, 0)
    assert one.high_watermark == 1


def test_a_follower_takes_the_leaders_log_start(one: OnePartition) -> None:
    one.follow(1)
    one.partition.append_records_to_follower(batch([(None, b"a"), (None, b"b")], leader_epoch=0))
    one.partition.update_follower_offsets(2, 1)
    assert one.partition.local_log().log_start_offset == 1


def test_an_empty_log_begins_where_the_leaders_first_batch_does(one: OnePartition) -> None:
    one.follow(1)
    one.partition.local_log().truncate_fully_and_start_at(12)
    one.partition.append_records_to_follower(batch([(None, b"a"), (None, b"b"), (None, b"c")], base_offset=10, leader_epoch=0))
    assert one.partition.local_log().log_end_offset == 13


def test_a_follower_learns_epochs_from_the_batches(one: OnePartition) -> None:
    one.follow(1, 9)
    one.partition.append_records_to_follower(batch(leader_epoch=2))
    one.partition.append_records_to_follower(batch(base_offset=1, leader_epoch=4))
    assert one.partition.local_log().leader_epoch_cache.entries == [(2, 0), (4, 1)]


def test_truncation_lowers_the_high_watermark(one: OnePartition) -> None:
    one.follow(1)
    one.partition.append_records_to_follower(batch([(None, b"a"), (None, b"b")], leader_epoch=0))
    one.partition.update_follower_offsets(2, 0)
    one.partition.truncate_to(0)
    assert (one.partition.local_log().log_end_offset, one.high_watermark) == (0, 0)


def test_the_leader_stamps_its_epoch_into_what_it_appends(one: OnePartition) -> None:
    one.lead(6, isr=[0], replicas=[0])
    one.partition.append_records_to_leader(batch(timestamp=one.clock.now_ms()), AppendOrigin.CLIENT, required_acks=1)
    assert one.partition.local_log().leader_epoch_cache.latest_epoch() == 6
