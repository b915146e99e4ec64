"""What a coordinator answers that may not, cannot or does not yet answer for a group: the validation of facts/coordination.md 5.3, request by request.

States that a real broker can be brought into are in tests/golden/test_group_states.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_coordinator import Syncing
from pykafka_classic.coordinator.group.group_metadata import GroupState
from pykafka_classic.coordinator.group.group_offsets import Committer
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from tests.unit.coordinator.helpers import GROUP, Harness

FLIGHTS = TopicPartition("flights", 0)
COMMIT = {FLIGHTS: OffsetAndMetadata(1, "", 0)}


def sync(harness: Harness, group_id: str) -> ErrorCode:
    return harness.groups.coordinator.sync(Syncing(group_id, 1, "m", None, None, None, {})).result().error


def commit(harness: Harness, group_id: str) -> ErrorCode:
    return harness.groups.offsets.commit(Committer(group_id), COMMIT).result()[FLIGHTS]


def transactional(harness: Harness, group_id: str) -> ErrorCode:
    return harness.groups.offsets.commit(Committer(group_id, producer=(9, 0)), COMMIT).result()[FLIGHTS]


REQUESTS: Mapping[str, Callable[[Harness, str], ErrorCode]] = {
    "JoinGroup": lambda harness, group_id: harness.join(group_id=group_id).result().error,
    "SyncGroup": sync,
    "Heartbeat": lambda harness, group_id: harness.groups.coordinator.heartbeat(group_id, "m", None, 1),
    "LeaveGroup": lambda harness, group_id: harness.groups.coordinator.leave(group_id, [("m", None)])[0],
    "OffsetCommit": commit,
    "TxnOffsetCommit": transactional,
    "OffsetFetch": lambda harness, group_id: harness.groups.offsets.fetch(group_id, [FLIGHTS], require_stable=True)[0],
    "OffsetDelete": lambda harness, group_id: harness.groups.admin.delete_offsets(group_id, [FLIGHTS])[0],
    "DescribeGroups": lambda harness, group_id: harness.groups.admin.describe(group_id)[0],
    "DeleteGroups": lambda harness, group_id: harness.groups.admin.delete(group_id),
}

NONE, LOADING, UNAVAILABLE = ErrorCode.NONE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE


@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_broker_that_stops_is_no_coordinator(request_name: str) -> None:
    harness = Harness()
    harness.groups.shutdown()
    assert REQUESTS[request_name](harness, GROUP) is UNAVAILABLE


@pytest.mark.parametrize("request_name", REQUESTS)
def test_another_broker_is_the_coordinator(request_name: str) -> None:
    harness = Harness()
    harness.groups.loader.on_resignation(0, 1)
    assert REQUESTS[request_name](harness, GROUP) is ErrorCode.NOT_COORDINATOR


@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_group_that_is_loading_has_to_wait(request_name: str) -> None:
    """Members of old clients do not expect to be told so: their sync is sent back to the join, and their heartbeat is fine."""
    told = {"SyncGroup": ErrorCode.REBALANCE_IN_PROGRESS, "Heartbeat": NONE}.get(request_name, LOADING)
    harness = Harness()
    harness.groups.store.begin_loading(0)
    assert REQUESTS[request_name](harness, GROUP) is told


@pytest.mark.parametrize("request_name", REQUESTS)
def test_an_empty_group_id_is_good_for_offsets_and_admins_only(request_name: str) -> None:
    told = {"OffsetCommit": NONE, "OffsetFetch": NONE, "DescribeGroups": NONE, "DeleteGroups": ErrorCode.GROUP_ID_NOT_FOUND}
    assert REQUESTS[request_name](Harness(), "") is told.get(request_name, ErrorCode.INVALID_GROUP_ID)


@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_dead_group_has_no_coordinator(request_name: str) -> None:
    told = {"OffsetFetch": NONE, "DescribeGroups": NONE, "DeleteGroups": ErrorCode.GROUP_ID_NOT_FOUND, "OffsetDelete": ErrorCode.GROUP_ID_NOT_FOUND}
    harness = Harness()
    group = harness.groups.store.create(GROUP)
    group.transition_to(GroupState.DEAD, 0)
    assert REQUESTS[request_name](harness, GROUP) is told.get(request_name, UNAVAILABLE)
    assert harness.clock.pending == 1, "no timer but the expiry's"


def test_listing_while_loading_gives_the_others_with_the_error() -> None:
    harness = Harness()
    harness.stable_group()
    harness.groups.store.loading.add(7)
    error, groups = harness.groups.admin.list([])
    assert (error, [group.group_id for group in groups]) == (LOADING, [GROUP])
    harness.groups.shutdown()
    assert harness.groups.admin.list([]) == (UNAVAILABLE, [])


# What the append to __consumer_offsets says, and what the client is told: facts/coordination.md 5.6 and 5.7.
STORE_ERRORS = [
    (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, UNAVAILABLE, UNAVAILABLE),
    (ErrorCode.NOT_ENOUGH_REPLICAS, UNAVAILABLE, UNAVAILABLE),
    (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, UNAVAILABLE, UNAVAILABLE),
    (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR),
    (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR),
    (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.REQUEST_TIMED_OUT),
    (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
    (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
    (ErrorCode.INVALID_FETCH_SIZE, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
    (ErrorCode.CORRUPT_MESSAGE, ErrorCode.CORRUPT_MESSAGE, ErrorCode.CORRUPT_MESSAGE),
]


@pytest.mark.parametrize(("stored", "group_told", "commit_told"), STORE_ERRORS)
def test_what_cannot_be_stored_is_told_in_the_clients_terms(stored: ErrorCode, group_told: ErrorCode, commit_told: ErrorCode) -> None:
    harness = Harness()
    joined = harness.join()
    harness.clock.advance(0)
    harness.topic.error = stored
    assert commit(harness, "simple") is commit_told
    assert transactional(harness, "simple") is commit_told
    assert harness.groups.offsets.fetch("simple", [FLIGHTS], require_stable=True)[1][FLIGHTS].offset == -1
    assert harness.sync(joined.result(), {}).result().error is group_told
    harness.topic.error = NONE
    again = harness.join(joined.result().member_id)  # the group is healthy: it rebalances and goes on
    assert harness.sync(again.result(), {again.result().member_id: b"x"}).result().assignment == b"x"
    assert commit(harness, "simple") is NONE


@pytest.mark.parametrize("stored", [ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.REQUEST_TIMED_OUT])
def test_a_static_member_whose_return_is_not_stored_keeps_its_old_id(stored: ErrorCode) -> None:
    harness = Harness()
    joined = harness.join(group_instance_id="a")
    harness.clock.advance(0)
    before = joined.result()
    harness.sync(before, {before.member_id: b"mine"})
    harness.topic.error = stored
    refused = harness.join(group_instance_id="a").result()
    assert (refused.member_id, refused.error is NONE) == ("", False)
    harness.topic.error = NONE
    assert harness.heartbeat(replace(before)) is NONE
    assert harness.join(group_instance_id="a").result().error is NONE
