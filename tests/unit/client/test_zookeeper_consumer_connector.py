"""One member after another: how a ZooKeeper group divides its partitions, and what old clients got wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pykafka_classic.client.offset_storage import OffsetStorageFailed
from pykafka_classic.client.subscription import Subscription
from pykafka_classic.client.zookeeper_consumer_connector import ConsumerClosed, ConsumerRebalanceFailed
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import SessionExpired
from tests.unit.client.members import SETTINGS, World
from zk_schema import consumers


def t(*numbers: int) -> set[TopicPartition]:
    return {TopicPartition("t", number) for number in numbers}


def test_the_first_member_reads_everything_from_what_is_committed() -> None:
    world = World({"t": 3})
    world.server.put("/consumers/g/offsets/t/1", b"17")
    first = world.join("first")
    assert first.started.result() is None
    assert first.readers.started == [(TopicPartition("t", 0), None), (TopicPartition("t", 1), 17), (TopicPartition("t", 2), None)]
    assert world.owners() == {0: "g_first-0", 1: "g_first-0", 2: "g_first-0"}
    assert first.readers.brokers == {0: ("localhost", 9092)}


def test_members_divide_by_range_and_each_starts_where_the_former_owner_stopped() -> None:
    world = World({"t": 4})
    first = world.join("first")
    first.readers.read(10)
    second = world.join("second")
    assert (first.reads, second.reads) == (t(0, 1), t(2, 3))
    assert second.readers.started == [(TopicPartition("t", 2), 10), (TopicPartition("t", 3), 10)]
    assert world.owners() == {0: "g_first-0", 1: "g_first-0", 2: "g_second-0", 3: "g_second-0"}


def test_what_stays_with_a_member_is_neither_released_nor_stopped_by_a_rebalance() -> None:
    world = World({"t": 4})
    first = world.join("first")
    world.server.log.clear()
    world.join("second")
    deleted = [change.path for change in world.server.changes("/consumers/g/owners") if change.event == "delete"]
    assert deleted == ["/consumers/g/owners/t/2", "/consumers/g/owners/t/3"]
    assert len(first.readers.started) == 4


def test_a_member_that_leaves_commits_and_frees_its_share() -> None:
    world = World({"t": 4})
    first, second = world.join("first"), world.join("second")
    second.readers.read(5)
    assert second.connector.close().result() is None
    assert first.reads == t(0, 1, 2, 3)
    assert world.committed() == {2: 5, 3: 5}
    assert world.server.children("/consumers/g/ids") == ["g_first"]


def test_without_auto_commit_only_what_the_user_commits_is_stored() -> None:
    world = World({"t": 2})
    member = world.join("first", settings=replace(SETTINGS, auto_commit_enable=False))
    member.readers.read(3)
    assert member.connector.commit().result() is None
    member.readers.read(3)
    world.settle()
    member.connector.close().result()
    assert world.committed() == {0: 3, 1: 3}


def test_offsets_are_committed_each_interval_and_only_where_they_moved() -> None:
    world = World({"t": 2})
    member = world.join("first", settings=replace(SETTINGS, auto_commit_interval_ms=1000))
    member.readers.at[TopicPartition("t", 1)] = 8
    world.clock.advance(999)
    assert world.committed() == {}
    world.clock.advance(1)
    assert world.committed() == {0: 0, 1: 8}
    world.server.log.clear()
    world.clock.advance(5000)
    assert world.server.changes("/consumers/g/offsets") == []


def test_more_partitions_are_read_as_soon_as_the_topic_has_them() -> None:
    world = World({"t": 1})
    member = world.join("first")
    world.set_partitions("t", 3)
    assert member.reads == t(0, 1, 2)


def test_a_filter_reads_topics_that_appear_later_but_not_internal_ones() -> None:
    world = World({"t1": 1, "other": 1})
    white, black = world.join("white", Subscription.white_list(" 't.*, u' ")), world.join("black", Subscription.black_list("t.*,u"))
    world.set_partitions("u", 1)
    world.set_partitions("__consumer_offsets", 1)
    assert white.reads == {TopicPartition("t1", 0), TopicPartition("u", 0)}
    assert black.reads == {TopicPartition("other", 0)}
    assert consumers.decode_id(world.server.data("/consumers/g/ids/g_white")).subscription == {"t.*|u": 1}


def test_a_topic_that_does_not_exist_yet_is_read_once_it_does() -> None:
    world = World({})
    member = world.join("first")
    assert (member.started.result(), member.reads) == (None, set())
    world.set_partitions("t", 2)
    assert member.reads == t(0, 1)


def test_without_brokers_nothing_is_owned_until_one_comes() -> None:
    world = World({"t": 1})
    world.server.remove("/brokers/ids/0")
    member = world.join("first")
    assert (member.started.result(), world.owners()) == (None, {})
    world.add_broker()
    assert member.reads == t(0)


def test_a_member_whose_registration_is_rubble_counts_as_one_that_reads_nothing() -> None:
    world = World({"t": 2})
    world.server.put("/consumers/g/ids/g_broken", b"{")
    world.server.put("/consumers/g/ids/g_regex", b'{"version":1,"subscription":{"(":1},"pattern":"white_list","timestamp":"1"}')
    assert world.join("first").reads == t(0, 1)


# What old clients got wrong


def test_a_member_that_died_in_its_rebalance_delays_the_others_only_until_its_session_ends() -> None:
    world = World({"t": 4})
    first = world.join("first")
    world.server.held = True
    second = world.join("second")
    while "g_second-0" not in world.owners().values():  # it dies as soon as it has claimed its first partition
        assert world.server.step()
    session = second.kill()
    third = world.join("third")
    world.server.held = False
    world.server.deliver()
    stuck = set(world.owners().values())
    assert "g_second-0" in stuck
    world.clock.advance(4000)
    world.server.close_session(session)
    assert (first.reads, third.reads) == (t(0, 1), t(2, 3))
    assert third.started.result() is None
    assert set(world.owners().values()) == {"g_first-0", "g_third-0"}


def test_the_dead_owner_in_the_way_is_named_when_the_retries_are_used_up_and_the_group_heals_afterwards() -> None:
    world = World({"t": 2})
    world.server.put("/consumers/g/owners/t/1", b"g_stranger-0")
    first = world.join("first")
    assert first.reads == t(0)
    world.clock.advance(7999)
    assert not first.started.settled
    world.clock.advance(1)
    error = first.started.error()
    assert isinstance(error, ConsumerRebalanceFailed)
    assert "t-1 is owned by g_stranger-0" in str(error)
    world.server.remove("/consumers/g/owners/t/1")
    assert first.reads == t(0, 1)


def test_a_member_that_had_started_tells_of_a_failed_rebalance_and_goes_on_trying_without_any_watch() -> None:
    world = World({"t": 1})
    first = world.join("first", settings=replace(SETTINGS, partition_assignment_strategy="roundrobin"))
    world.server.put("/consumers/g/ids/g_other", b'{"version":1,"subscription":{"u":1},"pattern":"static","timestamp":"1"}')
    assert (first.reads, world.owners()) == (set(), {})
    world.clock.advance(8000)
    assert [str(each).partition(": ")[2].startswith("roundrobin needs all members") for each in first.failures] == [True]
    world.server.remove("/consumers/g/ids/g_other")
    assert first.reads == t(0)


def test_the_nodes_of_the_previous_session_are_neither_trusted_nor_deleted_but_awaited() -> None:
    world = World({"t": 2})
    dead = world.join("same").kill()
    world.server.log.clear()
    again = world.join("same")
    world.clock.advance(3000)
    assert (again.reads, world.server.changes("/consumers/g")) == (set(), [])
    world.server.close_session(dead)
    assert again.started.result() is None
    assert again.reads == t(0, 1)
    assert {world.server.stat(f"/consumers/g/owners/t/{number}").ephemeral_owner for number in (0, 1)} == {again.zk.session_id}


def test_a_second_process_under_the_same_name_fails_with_a_sentence_and_does_no_harm() -> None:
    world = World({"t": 2})
    first, twin = world.join("same"), world.join("same")
    world.clock.advance(8000)
    assert "group g has a member g_same in another session" in str(twin.started.error())
    twin.connector.close().result()
    assert first.reads == t(0, 1)
    assert world.owners() == {0: "g_same-0", 1: "g_same-0"}


def test_an_expired_session_stops_reading_at_once_and_the_next_one_claims_again() -> None:
    world = World({"t": 2})
    member = world.join("first")
    member.readers.read(4)
    member.zk.expire(renew=False)
    assert (member.reads, world.owners()) == (set(), {})
    member.zk.renew()
    assert member.reads == t(0, 1)
    assert world.committed() == {}  # what was read in the lost session is not committed: another could own it by now


def test_a_commit_of_a_lost_session_never_reaches_zookeeper() -> None:
    world = World({"t": 1})
    old = world.join("old")
    old.readers.read(3)
    old.zk.disconnect()
    done = old.connector.commit()
    old.zk.expire()
    new = world.join("young")
    new.readers.read(9)
    new.connector.commit().result()
    old.zk.reconnect()
    assert isinstance(done.error(), SessionExpired)
    assert world.committed() == {0: 9}


def test_a_claim_whose_answer_was_lost_is_recognised_as_ones_own() -> None:
    world = World({"t": 2}, held=True)
    member = world.join("first")
    while not world.owners():
        assert world.server.step()
    member.zk.disconnect()
    member.zk.reconnect()
    world.settle(0)
    assert (member.reads, member.started.result()) == (t(0, 1), None)


def test_closing_in_the_middle_of_a_rebalance_leaves_no_owner_node_behind() -> None:
    world = World({"t": 8}, held=True)
    member = world.join("first")
    while len(world.owners()) < 3:
        assert world.server.step()
    closed = member.connector.close()
    world.settle(0)
    assert closed.result() is None
    assert (world.owners(), world.server.children("/consumers/g/ids"), member.reads) == ({}, [], set())
    assert isinstance(member.started.error(), ConsumerClosed)


def test_a_registration_that_somebody_deleted_is_made_again() -> None:
    world = World({"t": 2})
    member = world.join("first")
    world.server.remove("/consumers/g/ids/g_first")
    world.clock.advance(2000)
    assert (member.reads, world.server.children("/consumers/g/ids")) == (t(0, 1), ["g_first"])


def test_a_burst_of_members_does_not_make_everybody_claim_everything_again() -> None:
    world = World({"t": 40}, held=True)
    members = [world.join(f"m{number}") for number in range(20)]
    world.settle(0)
    assert [len(member.reads) for member in members] == [2] * 20
    assert len(world.server.changes("/consumers/g/owners/t")) - 1 <= 40 * 20


@pytest.mark.parametrize("data", [b"", b"x", b"-", None])
def test_an_offset_that_is_no_number_is_a_failure_and_not_a_start_from_the_end(data: bytes | None) -> None:
    world = World({"t": 1})
    world.server.put("/consumers/g/offsets/t/0", data)
    member = world.join("first")
    world.clock.advance(8000)
    assert (member.reads, "/consumers/g/offsets/t/0" in str(member.started.error())) == (set(), True)
    world.server.put("/consumers/g/offsets/t/0", b"5")
    world.clock.advance(2000)
    assert member.readers.started == [(TopicPartition("t", 0), 5)]


class FailingOffsets:
    """A store that is away."""

    async def fetch(self, *_: object) -> dict[TopicPartition, int]:
        return {}

    async def commit(self, *_: object) -> None:
        raise OffsetStorageFailed("away")


def test_a_store_that_is_away_does_not_keep_partitions_from_changing_hands() -> None:
    world = World({"t": 2})
    first = world.join("first", storage=FailingOffsets())
    second = world.join("second")
    assert (first.reads, second.reads) == (t(0), t(1))
    assert isinstance(first.connector.commit().error(), OffsetStorageFailed)
    assert first.connector.close().result() is None


def test_commits_after_the_end_are_refused() -> None:
    world = World({"t": 1})
    member = world.join("first")
    member.connector.close().result()
    assert isinstance(member.connector.commit().error(), ConsumerClosed)


class SlowOffsets:
    """A store that answers when the test says so."""

    def __init__(self) -> None:
        self.fetches: list[Promise[dict[TopicPartition, int]]] = []
        self.commits: list[Promise[None]] = []

    async def fetch(self, *_: object) -> dict[TopicPartition, int]:
        self.fetches.append(Promise())
        return await self.fetches[-1]

    async def commit(self, *_: object) -> None:
        self.commits.append(Promise())
        await self.commits[-1]


def test_offsets_that_come_after_the_session_ended_start_no_reading() -> None:
    world = World({"t": 2})
    storage = SlowOffsets()
    first = world.join("first", storage=storage)
    first.zk.expire()
    young = world.join("young")
    assert young.reads == t(0, 1)
    storage.fetches[0].resolve({})
    assert (first.reads, young.reads) == (set(), t(1))
    storage.fetches[1].resolve({})
    assert (first.reads, world.owners()) == (t(0), {0: "g_first-0", 1: "g_young-0"})


def test_a_commit_answered_after_the_session_ended_counts_as_failed_and_is_made_again_by_the_owner() -> None:
    world = World({"t": 1})
    storage = SlowOffsets()
    member = world.join("first", storage=storage)
    storage.fetches[0].resolve({})
    member.readers.read(4)
    done = member.connector.commit()
    member.zk.expire()
    storage.commits[0].resolve(None)
    assert isinstance(done.error(), SessionExpired)
    storage.fetches[1].resolve({})
    member.readers.read(4)  # from the beginning again, as nothing is committed
    member.connector.commit()
    assert len(storage.commits) == 2
