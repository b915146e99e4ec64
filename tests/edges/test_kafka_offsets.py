"""Offsets of a ZooKeeper group in __consumer_offsets, over real sockets to a fake coordinator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pykafka_classic.client.consumer_settings import ConsumerSettings
from pykafka_classic.client.group_session import GroupSession
from pykafka_classic.client.offset_storage import OffsetStorageFailed
from pykafka_classic.common.clock import Background
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Create, SessionExpired
from pykafka_classic.edges.kafka_offsets import KafkaOffsets
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest
from pykafka_classic.protocol.messages.offset_commit import OffsetCommitRequest
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest
from tests.edges.reactor_thread import ReactorThread
from tests.edges.toy_cluster import ToyCluster
from tests.fakes.clock import FakeBackground
from tests.fakes.zookeeper import FakeZooKeeper, FakeZooKeeperServer
from zk_schema import consumers

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
SETTINGS = ConsumerSettings("radar", offsets_channel_backoff_ms=10, offsets_commit_max_retries=3, offsets_channel_socket_timeout_ms=5_000)
MEMBER = "radar_one"


@pytest.fixture
def cluster(reactor_thread: ReactorThread) -> Iterator[ToyCluster]:
    toy = ToyCluster(reactor_thread)
    yield toy
    toy.stop()


@pytest.fixture
def zookeeper() -> FakeZooKeeper:
    """A session in which the member is registered."""
    server = FakeZooKeeperServer()
    client = server.connect()
    for path in ("/consumers", consumers.group_path("radar"), consumers.ids_path("radar")):
        server.put(path)
    client.submit([Create(consumers.id_path("radar", MEMBER), b"{}", ephemeral=True)]).result()
    return client


def offsets(cluster: ToyCluster, *, background: Background | None = None, settings: ConsumerSettings = SETTINGS) -> KafkaOffsets:
    return KafkaOffsets(settings, MEMBER, background or FakeBackground(), lambda: list(cluster.addresses.values()))


def test_what_is_committed_is_found_again_and_nothing_else(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    storage = offsets(cluster)
    session = GroupSession(zookeeper)
    assert spawn(storage.fetch(session, [T0, T1])).result() == {}
    spawn(storage.commit(session, {T0: 17})).result()
    assert spawn(storage.fetch(session, [T0, T1])).result() == {T0: 17}
    assert cluster.fake.committed == {("radar", T0): 17}


def test_a_commit_comes_from_outside_of_any_generation(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    spawn(offsets(cluster).commit(GroupSession(zookeeper), {T0: 1})).result()
    [commit] = [request for _, request in cluster.fake.requests if isinstance(request, OffsetCommitRequest)]
    assert (commit.group_id, commit.generation_id, commit.member_id, commit.retention_time_ms) == ("radar", -1, "", -1)


def test_nothing_wanted_asks_nobody(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    assert spawn(offsets(cluster).fetch(GroupSession(zookeeper), [])).result() == {}
    assert cluster.fake.requests == []


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS])
def test_a_coordinator_that_cannot_answer_yet_is_looked_for_and_asked_again(cluster: ToyCluster, zookeeper: FakeZooKeeper, code: ErrorCode) -> None:
    errors = iter([code, code])
    cluster.fake.refuse = lambda *_: next(errors, None)
    spawn(offsets(cluster).commit(GroupSession(zookeeper), {T0: 5})).result()
    assert cluster.fake.committed == {("radar", T0): 5}
    assert sum(isinstance(request, FindCoordinatorRequest) for _, request in cluster.fake.requests) == 3


def test_after_so_many_retries_it_gives_up_and_says_why(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    cluster.fake.refuse = lambda *_: ErrorCode.OFFSET_METADATA_TOO_LARGE
    with pytest.raises(OffsetStorageFailed, match="OffsetCommit of t-0: OFFSET_METADATA_TOO_LARGE"):
        spawn(offsets(cluster).commit(GroupSession(zookeeper), {T0: 5})).result()
    assert sum(isinstance(request, OffsetCommitRequest) for _, request in cluster.fake.requests) == 4
    with pytest.raises(OffsetStorageFailed, match="OffsetFetch of t-1"):
        spawn(offsets(cluster).fetch(GroupSession(zookeeper), [T1])).result()


def test_a_partition_that_is_not_known_has_nothing_committed(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    cluster.fake.refuse = lambda broker, name, request: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if isinstance(request, OffsetFetchRequest) else None
    assert spawn(offsets(cluster).fetch(GroupSession(zookeeper), [T0])).result() == {}


def test_another_broker_tells_where_the_coordinator_is(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    cluster.fake.coordinator = 1
    storage = offsets(cluster)
    addresses = list(cluster.addresses.values())
    cluster.stop_broker(0)
    storage._addresses = lambda: addresses  # the first of them is dead
    spawn(storage.commit(GroupSession(zookeeper), {T0: 5})).result()
    assert cluster.fake.committed == {("radar", T0): 5}


def test_without_brokers_it_fails_in_words(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    storage = KafkaOffsets(replace(SETTINGS, offsets_commit_max_retries=0), MEMBER, FakeBackground(), list)
    with pytest.raises(OffsetStorageFailed, match="no broker is alive"):
        spawn(storage.fetch(GroupSession(zookeeper), [T0])).result()
    cluster.stop()
    gone = KafkaOffsets(replace(SETTINGS, offsets_commit_max_retries=0), MEMBER, FakeBackground(), lambda: list(cluster.addresses.values()))
    with pytest.raises(OffsetStorageFailed, match="no broker at"):
        spawn(gone.fetch(GroupSession(zookeeper), [T0])).result()


def test_closing_ends_the_retries(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    cluster.fake.refuse = lambda *_: ErrorCode.NOT_COORDINATOR
    storage = offsets(cluster, settings=replace(SETTINGS, offsets_channel_backoff_ms=600_000))
    storage.close()
    with pytest.raises(OffsetStorageFailed):
        spawn(storage.commit(GroupSession(zookeeper), {T0: 5})).result()
    assert sum(isinstance(request, OffsetCommitRequest) for _, request in cluster.fake.requests) == 2


def test_who_is_not_registered_any_more_does_not_commit(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    stranger = KafkaOffsets(SETTINGS, "radar_another", FakeBackground(), lambda: list(cluster.addresses.values()))
    with pytest.raises(SessionExpired):
        spawn(stranger.commit(GroupSession(zookeeper), {T0: 5})).result()
    assert cluster.fake.requests == []


def test_offsets_that_come_when_the_session_is_over_are_not_believed(cluster: ToyCluster, zookeeper: FakeZooKeeper) -> None:
    background = FakeBackground(queued=True)
    fetching = spawn(offsets(cluster, background=background).fetch(GroupSession(zookeeper), [T0]))
    zookeeper.expire()
    background.run_all()
    with pytest.raises(SessionExpired):
        fetching.result()
