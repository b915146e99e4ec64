"""Committed offsets: who may commit, what is seen when, what is forgotten (facts/coordination.md 5.7)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group import group_records
from pykafka_classic.coordinator.group.group_offsets import Committer, FetchedOffset
from pykafka_classic.coordinator.group.group_records import GroupKey, OffsetAndMetadata, OffsetKey
from pykafka_classic.records.record_batch import iterate_batches
from tests.fakes.clock import FakeTimer
from tests.unit.coordinator.helpers import GROUP, Harness

FLIGHTS = TopicPartition("flights", 0)
DAY_MS = 24 * 3_600_000


def commit(harness: Harness, offset: int, *, metadata: str = "", committer: Committer | None = None) -> ErrorCode:
    value = OffsetAndMetadata(offset, metadata, harness.clock.now_ms(), 3)
    return harness.groups.offsets.commit(committer or Committer(GROUP), {FLIGHTS: value}).result()[FLIGHTS]


def fetched(harness: Harness) -> FetchedOffset:
    error, found = harness.groups.offsets.fetch(GROUP, [FLIGHTS], require_stable=False)
    assert error is ErrorCode.NONE
    return found[FLIGHTS]


def test_a_simple_consumer_commits_without_being_a_member() -> None:
    harness = Harness()
    assert commit(harness, 42, metadata="note") is ErrorCode.NONE
    assert fetched(harness) == FetchedOffset(42, 3, "note")


def test_a_group_without_a_commit_has_offset_minus_one() -> None:
    assert fetched(Harness()) == FetchedOffset(-1, -1, "")


def test_a_commit_is_seen_only_when_it_is_replicated() -> None:
    harness = Harness()
    commit(harness, 1)
    harness.topic.hold = True
    value = OffsetAndMetadata(2, "", 0)
    pending = harness.groups.offsets.commit(Committer(GROUP), {FLIGHTS: value})
    assert fetched(harness).offset == 1
    harness.topic.release()
    assert pending.result()[FLIGHTS] is ErrorCode.NONE
    assert fetched(harness).offset == 2


def test_a_member_commits_in_its_generation_only() -> None:
    harness = Harness()
    [member] = harness.stable_group()
    good = Committer(GROUP, member.member_id, None, member.generation_id)
    assert commit(harness, 5, committer=good) is ErrorCode.NONE
    assert commit(harness, 6, committer=Committer(GROUP, member.member_id, None, 0)) is ErrorCode.ILLEGAL_GENERATION
    assert commit(harness, 6, committer=Committer(GROUP, "nobody", None, 1)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(harness, 6) is ErrorCode.UNKNOWN_MEMBER_ID
    assert fetched(harness).offset == 5


def test_a_generation_of_a_group_that_is_gone_is_refused() -> None:
    assert commit(Harness(), 1, committer=Committer(GROUP, "m", None, 3)) is ErrorCode.ILLEGAL_GENERATION


def test_nobody_commits_while_the_assignment_is_awaited() -> None:
    harness = Harness()
    joined = harness.join()
    harness.clock.advance(0)
    member = joined.result()
    assert commit(harness, 1, committer=Committer(GROUP, member.member_id, None, member.generation_id)) is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_commit_counts_as_a_heartbeat() -> None:
    harness = Harness()
    [member] = harness.stable_group()
    harness.clock.advance(9_000)
    commit(harness, 1, committer=Committer(GROUP, member.member_id, None, member.generation_id))
    harness.clock.advance(9_000)
    assert harness.heartbeat(member) is ErrorCode.NONE


def test_too_long_metadata_is_refused_alone() -> None:
    harness = Harness(offset_metadata_max_bytes=3)
    other = TopicPartition("flights", 1)
    errors = harness.groups.offsets.commit(Committer(GROUP), {FLIGHTS: OffsetAndMetadata(1, "1234", 0), other: OffsetAndMetadata(2, "123", 0)}).result()
    assert errors == {FLIGHTS: ErrorCode.OFFSET_METADATA_TOO_LARGE, other: ErrorCode.NONE}


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REQUEST_TIMED_OUT),
    ],
)
def test_a_commit_that_is_not_stored_is_told_and_not_seen(stored: ErrorCode, told: ErrorCode) -> None:
    harness = Harness()
    commit(harness, 1)
    harness.topic.error = stored
    assert commit(harness, 2) is told
    assert fetched(harness).offset == 1


def test_offsets_of_a_simple_group_expire_and_the_group_with_them() -> None:
    harness = Harness(offsets_retention_minutes=60)
    commit(harness, 1)
    harness.clock.advance(3_000_000)
    assert fetched(harness).offset == 1
    harness.clock.advance(1_200_000)
    assert harness.groups.store.get(GROUP) is None
    keys = [group_records.read_key(record.key or b"") for record in next(iterate_batches(harness.topic.batches[-1][1])).records()]
    assert keys == [OffsetKey(GROUP, FLIGHTS)]


def test_offsets_of_a_group_with_members_do_not_expire() -> None:
    harness = Harness(offsets_retention_minutes=1)
    [member] = harness.stable_group()
    commit(harness, 1, committer=Committer(GROUP, member.member_id, None, member.generation_id))
    for _ in range(150):
        harness.clock.advance(9_000)
        harness.heartbeat(member)
    assert fetched(harness).offset == 1


def test_deleting_needs_an_empty_group_and_writes_tombstones_in_one_batch() -> None:
    harness = Harness()
    [member] = harness.stable_group()
    commit(harness, 1, committer=Committer(GROUP, member.member_id, None, member.generation_id))
    assert harness.groups.admin.delete(GROUP) is ErrorCode.NON_EMPTY_GROUP
    harness.groups.coordinator.leave(GROUP, [(member.member_id, None)])
    assert harness.groups.admin.delete(GROUP) is ErrorCode.NONE
    assert harness.groups.admin.delete(GROUP) is ErrorCode.GROUP_ID_NOT_FOUND
    records = list(next(iterate_batches(harness.topic.batches[-1][1])).records())
    assert [(group_records.read_key(record.key or b""), record.value) for record in records] == [(OffsetKey(GROUP, FLIGHTS), None), (GroupKey(GROUP), None)]


def test_a_transactional_commit_waits_for_its_marker() -> None:
    harness = Harness()
    commit(harness, 1)
    commit(harness, 2, committer=Committer(GROUP, producer=(9, 0)))
    assert fetched(harness).offset == 1
    _, unstable = harness.groups.offsets.fetch(GROUP, [FLIGHTS], require_stable=True)
    assert unstable[FLIGHTS].error is ErrorCode.UNSTABLE_OFFSET_COMMIT
    harness.groups.offsets.complete_transaction(9, [0], commit=True)
    assert fetched(harness).offset == 2


def test_an_aborted_transaction_leaves_the_offset_as_it_was() -> None:
    harness = Harness()
    commit(harness, 1)
    commit(harness, 2, committer=Committer(GROUP, producer=(9, 0)))
    harness.groups.offsets.complete_transaction(9, [0], commit=False)
    assert fetched(harness).offset == 1


def test_offsets_of_a_deleted_topic_go_in_every_group_and_others_stay() -> None:
    harness = Harness()
    other = TopicPartition("weather", 0)
    for group in ("a", "b"):
        harness.groups.offsets.commit(Committer(group), {FLIGHTS: OffsetAndMetadata(1, "", 0), other: OffsetAndMetadata(2, "", 0)})
    harness.groups.offsets.commit(Committer("only weather"), {other: OffsetAndMetadata(2, "", 0)})
    harness.groups.offsets.commit(Committer("only flights"), {FLIGHTS: OffsetAndMetadata(1, "", 0)})
    harness.groups.offsets.commit(Committer("in a transaction", producer=(9, 0)), {FLIGHTS: OffsetAndMetadata(1, "", 0)})
    written = len(harness.topic.batches)
    harness.groups.admin.forget_partitions([FLIGHTS, TopicPartition("flights", 1)])
    left = {group.group_id: list(harness.groups.store.offsets_of(group.group_id).acknowledged) for group in harness.groups.store.groups()}
    assert left == {"a": [other], "b": [other], "only weather": [other]}
    harness.groups.offsets.complete_transaction(9, [0], commit=True)
    assert fetched(harness).offset == -1
    keys = [group_records.read_key(record.key or b"") for _, raw in harness.topic.batches[written:] for record in next(iterate_batches(raw)).records()]
    assert keys == [OffsetKey(group, FLIGHTS) for group in ("a", "b", "only flights")]


def test_a_topic_that_nobody_has_read_is_deleted_without_a_record() -> None:
    harness = Harness()
    commit(harness, 1)
    written = len(harness.topic.batches)
    harness.groups.admin.forget_partitions([TopicPartition("weather", 0)])
    assert (len(harness.topic.batches), fetched(harness).offset) == (written, 1)


def test_expiry_looks_at_many_groups_in_many_turns_and_leaves_alone_what_was_unloaded_in_between() -> None:
    harness = Harness(offsets_retention_minutes=1)
    places = {TopicPartition("flights", number): OffsetAndMetadata(number, "", harness.clock.now_ms()) for number in range(3_000)}
    for number in range(6):
        harness.groups.offsets.commit(Committer(f"group-{number}"), places)
    written = len(harness.topic.batches)
    delays: list[float] = []
    call_later = harness.clock.call_later

    def unload_in_the_first_pause(delay_ms: float, call: Callable[[], None]) -> FakeTimer:
        if not delays:
            harness.groups.loader.on_resignation(0, 1)
        delays.append(delay_ms)
        return call_later(delay_ms, call)

    harness.clock.advance(599_000)
    harness.clock.call_later = unload_in_the_first_pause  # type: ignore[method-assign]
    harness.clock.advance(1_000)
    assert len(harness.topic.batches) - written == 2, "tombstones of the two groups of the first turn"
    assert delays == [0, 600_000], "a pause, and the next check"
