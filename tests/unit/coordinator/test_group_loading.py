"""Taking over a partition of `__consumer_offsets`: what was written is there again, and what is unloaded is dead (facts/coordination.md 5.8)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group import group_records
from pykafka_classic.coordinator.group.group_metadata import GroupState
from pykafka_classic.coordinator.group.group_offsets import Committer
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from pykafka_classic.records.control import EndTransactionMarker, build_end_transaction_marker
from pykafka_classic.records.record_batch import BatchFields, Record, build_batch
from tests.unit.coordinator.helpers import GROUP, Harness
from tests.unit.coordinator.test_group_offsets import DAY_MS, FLIGHTS, commit, fetched

PRODUCER = 9


def batch(pairs: Sequence[tuple[bytes, bytes | None]], *, producer_id: int = -1) -> bytes:
    records = [Record(index, 0, key, value) for index, (key, value) in enumerate(pairs)]
    return build_batch(records, BatchFields(producer_id=producer_id, producer_epoch=0, base_sequence=0, is_transactional=producer_id >= 0))


def marker(*, commit: bool, producer_id: int = PRODUCER) -> bytes:
    return build_end_transaction_marker(EndTransactionMarker(commit, 0), timestamp=0, producer_id=producer_id, producer_epoch=0)


def offset_record(offset: int, key_version: int = 1) -> tuple[bytes, bytes]:
    ibp = Harness().config.inter_broker_api_version
    key = group_records.offset_key(GROUP, FLIGHTS)
    return key_version.to_bytes(2, "big") + key[2:], group_records.offset_value(OffsetAndMetadata(offset, "", 0), ibp)


def loaded_from(*batches: bytes) -> Harness:
    harness = Harness()
    for each in batches:
        harness.topic.logs[0].append(each)
    return harness.successor()


def test_members_assignments_and_offsets_are_there_after_a_failover_and_the_group_goes_on() -> None:
    before = Harness()
    members = before.stable_group(members=3)
    first = members[0]
    commit(before, 7, metadata="m", committer=Committer(GROUP, first.member_id, None, first.generation_id))
    after = before.successor()
    assert [after.heartbeat(member) for member in members] == [ErrorCode.NONE] * 3
    assert [after.sync(member).result().assignment for member in members] == [member.member_id.encode() for member in members]
    assert (fetched(after).offset, fetched(after).metadata) == (7, "m")
    assert commit(after, 8, committer=Committer(GROUP, first.member_id, None, first.generation_id)) is ErrorCode.NONE


def test_a_member_that_died_with_the_old_coordinator_expires_at_the_new_one() -> None:
    before = Harness()
    alive, dead = before.stable_group(members=2)
    after = before.successor()
    after.clock.advance(9_999)
    assert after.heartbeat(alive) is ErrorCode.NONE
    after.clock.advance(1)
    assert after.heartbeat(dead) is ErrorCode.UNKNOWN_MEMBER_ID
    assert after.heartbeat(alive) is ErrorCode.REBALANCE_IN_PROGRESS


def test_the_last_value_of_a_key_counts_and_a_tombstone_removes() -> None:
    key, _ = offset_record(0)
    assert fetched(loaded_from(batch([offset_record(1)]), batch([offset_record(2), offset_record(3)]))).offset == 3
    assert fetched(loaded_from(batch([offset_record(1)]), batch([(key, None)]))).offset == -1
    assert fetched(loaded_from(batch([(key, None)]), batch([offset_record(1)]))).offset == 1


def test_keys_of_both_versions_are_one_key() -> None:
    assert fetched(loaded_from(batch([offset_record(1, key_version=1)]), batch([offset_record(2, key_version=0)]))).offset == 2
    assert fetched(loaded_from(batch([offset_record(1, key_version=0)]), batch([offset_record(2, key_version=1)]))).offset == 2


@pytest.mark.parametrize("key", [b"", b"\0", b"\0\1cut", b"\0\1\0\1g\0\1t\0", b"\0\1\xff\xff\0\1t\0\0\0\0", b"\0\2\0\5g", b"\0\7newer"])
def test_a_key_that_cannot_be_read_keeps_no_other_record_from_being_loaded(key: bytes) -> None:
    value = offset_record(9)[1]
    assert fetched(loaded_from(batch([(key, value)]), batch([offset_record(7)]), batch([(key, value)]))).offset == 7


@pytest.mark.parametrize("value", [b"", b"\0", b"\0\3", b"\0\4" + bytes(40), b"\0\3" + bytes(21), b"\0\3" + bytes(12) + b"\xff\xff" + bytes(8)], ids=repr)
def test_a_commit_that_cannot_be_read_leaves_the_one_before(value: bytes) -> None:
    key, _ = offset_record(0)
    assert fetched(loaded_from(batch([offset_record(7)]), batch([(key, value)]))).offset == 7


@pytest.mark.parametrize("value", [b"\0\7", b"\0\3\0\5cut"])
def test_a_group_that_cannot_be_read_keeps_its_offsets(value: bytes) -> None:
    after = loaded_from(batch([offset_record(7)]), batch([(group_records.group_key(GROUP), value)]))
    group = after.groups.store.get(GROUP)
    assert group is not None and group.state is GroupState.EMPTY
    assert fetched(after).offset == 7


def test_a_log_whose_tail_was_compacted_away_is_loaded_to_its_end() -> None:
    harness = Harness()
    harness.topic.logs[0].append(batch([offset_record(7)]))
    harness.topic.logs[0].log_end_offset += 5
    assert fetched(harness.successor()).offset == 7


def test_a_log_that_lacks_records_is_not_taken_over(caplog: pytest.LogCaptureFixture) -> None:
    harness = Harness()
    harness.topic.logs[0].append(batch([offset_record(7)]))
    [(end, whole)] = harness.topic.logs[0].batches
    harness.topic.logs[0].batches = [(end, whole[:-3])]
    after = Harness(topic=harness.topic, clock=harness.clock)
    after.groups.loader.on_election(0, 1)
    after.clock.advance(0)
    assert after.join().result().error is ErrorCode.NOT_COORDINATOR
    assert "Error loading offsets" in caplog.text


# transactions


@pytest.mark.parametrize(("commits", "offset"), [(True, 2), (False, 1)])
def test_a_transaction_that_had_ended_is_honoured(commits: bool, offset: int) -> None:
    after = loaded_from(batch([offset_record(1)]), batch([offset_record(2)], producer_id=PRODUCER), marker(commit=commits))
    assert fetched(after).offset == offset
    _, stable = after.groups.offsets.fetch(GROUP, [FLIGHTS], require_stable=True)
    assert stable[FLIGHTS].error is ErrorCode.NONE


@pytest.mark.parametrize(("commits", "offset"), [(True, 2), (False, 1)])
def test_a_transaction_that_was_open_ends_at_the_new_coordinator(commits: bool, offset: int) -> None:
    after = loaded_from(batch([offset_record(1)]), batch([offset_record(2)], producer_id=PRODUCER))
    _, unstable = after.groups.offsets.fetch(GROUP, [FLIGHTS], require_stable=True)
    assert (fetched(after).offset, unstable[FLIGHTS].error) == (1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    after.groups.offsets.complete_transaction(PRODUCER, [0], commit=commits)
    _, stable = after.groups.offsets.fetch(GROUP, [FLIGHTS], require_stable=True)
    assert (fetched(after).offset, stable[FLIGHTS].error) == (offset, ErrorCode.NONE)


def test_a_later_plain_commit_is_not_undone_by_a_transaction_that_ends_after_it() -> None:
    assert fetched(loaded_from(batch([offset_record(2)], producer_id=PRODUCER), batch([offset_record(3)]), marker(commit=True))).offset == 3


def test_each_producer_has_its_own_transaction() -> None:
    transactions = [batch([offset_record(2)], producer_id=PRODUCER), batch([offset_record(3)], producer_id=10)]
    assert fetched(loaded_from(*transactions, marker(commit=False, producer_id=10), marker(commit=True))).offset == 2


def test_a_tombstone_in_a_transaction_drops_what_the_transaction_wrote() -> None:
    key, _ = offset_record(0)
    transaction = [batch([offset_record(2)], producer_id=PRODUCER), batch([(key, None)], producer_id=PRODUCER), marker(commit=True)]
    assert fetched(loaded_from(batch([offset_record(1)]), *transaction)).offset == 1


def test_a_marker_that_comes_while_the_partition_is_loading_counts_when_it_is_loaded() -> None:
    before = Harness()
    before.topic.logs[0].append(batch([offset_record(2)], producer_id=PRODUCER))
    after = Harness(topic=before.topic, clock=before.clock)
    after.groups.loader.on_election(0, 1)
    after.groups.offsets.complete_transaction(PRODUCER, [0], commit=True)
    after.clock.advance(0)
    assert fetched(after).offset == 2


def test_a_marker_in_another_partition_leaves_the_transaction_open() -> None:
    harness = Harness()
    commit(harness, 2, committer=Committer(GROUP, producer=(PRODUCER, 0)))
    harness.groups.offsets.complete_transaction(PRODUCER, [1], commit=True)
    assert fetched(harness).offset == -1


# elections and resignations


def test_an_election_of_an_old_epoch_is_ignored() -> None:
    harness = Harness()
    harness.stable_group()
    after = harness.successor()
    reads = harness.topic.logs[0].reads
    for epoch in (0, 1):
        after.groups.loader.on_election(0, epoch)
    assert (after.groups.store.owned, harness.topic.logs[0].reads) == ({0}, reads)


def test_a_resignation_of_an_old_epoch_is_ignored() -> None:
    harness = Harness()
    [member] = harness.stable_group()
    harness.load(leader_epoch=5)
    harness.groups.loader.on_resignation(0, 4)
    assert harness.heartbeat(member) is ErrorCode.NONE


def test_a_topic_that_was_deleted_and_made_again_has_a_coordinator_again() -> None:
    harness = Harness()
    harness.load(leader_epoch=5)
    harness.groups.loader.on_resignation(0, None)
    assert harness.join().result().error is ErrorCode.NOT_COORDINATOR
    harness.load(leader_epoch=0)
    assert harness.join(require_known_member_id=True).result().error is ErrorCode.MEMBER_ID_REQUIRED


def test_unloading_ends_every_timer_of_the_groups() -> None:
    harness = Harness(group_initial_rebalance_delay_ms=3000)
    idle = harness.clock.pending  # the expiry's
    joined = harness.join()
    harness.clock.advance(3000)
    member = joined.result()
    harness.sync(member, {})
    harness.join(group_id="waits for the initial delay")
    harness.join(group_id="has a pending member", require_known_member_id=True)
    assert harness.clock.pending > idle
    harness.groups.loader.on_resignation(0, 2)
    assert harness.clock.pending == idle


@pytest.mark.parametrize("error", [ErrorCode.NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER])
def test_what_is_acknowledged_after_unloading_wakes_no_group(error: ErrorCode) -> None:
    harness = Harness()
    idle = harness.clock.pending
    joined = harness.join(group_instance_id="a")
    harness.clock.advance(0)
    before = joined.result()
    harness.sync(before, {before.member_id: b"mine"})
    harness.topic.hold = True
    returning = harness.join(group_instance_id="a")
    harness.groups.loader.on_resignation(0, 2)
    assert returning.result().error is ErrorCode.NOT_COORDINATOR
    harness.topic.error = error
    harness.topic.release()
    assert harness.clock.pending == idle


def test_a_second_election_reads_again_and_the_first_terms_timers_are_dead() -> None:
    harness = Harness()
    [member] = harness.stable_group()
    first_term = harness.groups.store.get(GROUP)
    waiting = harness.join()
    assert first_term is not None
    harness.groups.loader.on_election(0, 7)
    assert waiting.result().error is ErrorCode.NOT_COORDINATOR
    assert harness.heartbeat(member) is ErrorCode.NONE  # loading: the member shall go on
    written = len(harness.topic.batches)
    harness.clock.advance(0)
    group = harness.groups.store.get(GROUP)
    assert group is not None and group is not first_term and group.state is GroupState.STABLE
    for _ in range(12):  # past every timer that the first term had set
        harness.clock.advance(9_000)
        assert harness.heartbeat(member) is ErrorCode.NONE
    assert len(harness.topic.batches) == written


def test_an_election_while_loading_starts_again_and_only_the_last_one_counts() -> None:
    before = Harness()
    before.stable_group()
    after = Harness(topic=before.topic, clock=before.clock)
    after.groups.loader.on_election(0, 1)
    after.groups.loader.on_election(0, 2)
    after.clock.advance(0)
    assert after.groups.store.owned == {0}
    assert after.groups.store.loading == set()


def test_a_load_that_fails_late_does_not_undo_the_next_one(caplog: pytest.LogCaptureFixture) -> None:
    before = Harness()
    before.stable_group()
    after = Harness(topic=before.topic, clock=before.clock)
    log = before.topic.logs[0]

    def fails_once(*_: int, **__: int) -> object:
        del log.read  # the next one is the class's again
        after.groups.loader.on_election(0, 2)  # while epoch 1 is reading
        raise OSError("disk")

    log.read = fails_once  # type: ignore[assignment, method-assign]
    after.groups.loader.on_election(0, 1)
    after.clock.advance(0)
    assert after.groups.store.owned == {0}
    assert "in epoch 1" in caplog.text


def test_a_resignation_while_loading_ends_it() -> None:
    before = Harness()
    before.stable_group()
    after = Harness(topic=before.topic, clock=before.clock)
    after.groups.loader.on_election(0, 1)
    after.groups.loader.on_resignation(0, 2)
    after.clock.advance(DAY_MS)
    assert after.groups.store.owned == after.groups.store.loading == set()
    assert after.join().result().error is ErrorCode.NOT_COORDINATOR


def test_a_group_over_its_size_rebalances_when_it_is_loaded() -> None:
    before = Harness()
    members = before.stable_group(members=3)
    after = before.successor(group_max_size=2)
    assert after.heartbeat(members[0]) is ErrorCode.REBALANCE_IN_PROGRESS
    joins = [after.join(member.member_id) for member in members]
    assert joins[2].result().error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert {join.result().generation_id for join in joins[:2]} == {members[0].generation_id + 1}


def test_many_groups_are_loaded_in_many_turns() -> None:
    before = Harness()
    for number in range(1200):
        before.groups.offsets.commit(Committer(f"group-{number}"), {TopicPartition("t", number): OffsetAndMetadata(number, "", 0)})
    after = Harness(topic=before.topic, clock=before.clock)
    turns: list[float] = []
    call_later = after.clock.call_later
    after.clock.call_later = lambda delay_ms, call: turns.append(delay_ms) or call_later(delay_ms, call)  # type: ignore[method-assign, func-returns-value]
    after.load()
    assert len(turns) > 4 and set(turns) == {0}
    for number in (0, 777, 1199):
        error, found = after.groups.offsets.fetch(f"group-{number}", None, require_stable=True)
        assert (error, {place.partition: offset.offset for place, offset in found.items()}) == (ErrorCode.NONE, {number: number})
