"""The fetcher of the ZooKeeper-era consumer, over real sockets to fake brokers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from pykafka_classic.client.consumer_settings import ConsumerSettings
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.partition_fetching import PartitionFetching
from pykafka_classic.protocol.messages.fetch import FetchRequest
from pykafka_classic.records.batch_builder import build_batch
from pykafka_classic.records.record import Record
from tests.edges.reactor_thread import ReactorThread
from tests.edges.toy_cluster import ToyCluster

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
SETTINGS = ConsumerSettings("radar", auto_offset_reset="smallest", refresh_leader_backoff_ms=10, fetch_wait_max_ms=1, socket_timeout_ms=5_000)
ROUNDS = 200


@pytest.fixture
def cluster(reactor_thread: ReactorThread) -> Iterator[ToyCluster]:
    toy = ToyCluster(reactor_thread)
    toy.fake.make_topic("t", [0, 1])
    for partition in (T0, T1):
        write(toy, partition, 0, 1, 2)
    yield toy
    toy.stop()


@pytest.fixture
def fetching(cluster: ToyCluster) -> Iterator[PartitionFetching]:
    made = PartitionFetching(SETTINGS)
    made.set_brokers(cluster.addresses)
    yield made
    made.close()


def write(cluster: ToyCluster, partition: TopicPartition, *values: int) -> None:
    cluster.fake.partition(partition).append(build_batch([Record(number, 0, None, str(value).encode()) for number, value in enumerate(values)]))


def take(fetching: PartitionFetching, count: int) -> list[ConsumerRecord]:
    """So many records, within a bounded number of rounds."""
    found: list[ConsumerRecord] = []
    for _ in range(ROUNDS):
        record = fetching.take(0.01)
        if record is not None:
            found.append(record)
        if len(found) == count:
            return found
    raise AssertionError(f"only {len(found)} of {count} records in {ROUNDS} rounds")


def places(records: list[ConsumerRecord]) -> list[tuple[int, int]]:
    return sorted((record.partition, record.offset) for record in records)


def test_records_of_all_leaders_come_and_positions_count_what_was_handed_out(fetching: PartitionFetching) -> None:
    fetching.start({T0: 0, T1: 1})
    assert fetching.positions() == {T0: 0, T1: 1}
    assert places(take(fetching, 5)) == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2)]
    assert fetching.positions() == {T0: 3, T1: 3}


def test_a_partition_that_is_stopped_gives_nothing_more_and_tells_how_far_it_came(fetching: PartitionFetching) -> None:
    fetching.start({T0: 0, T1: 0})
    first = take(fetching, 1)[0]
    stopped = TopicPartition("t", first.partition)
    assert fetching.stop([stopped, TopicPartition("never", 0)]) == {stopped: 1}
    rest = take(fetching, 3)
    assert {record.partition for record in rest} == {1 - first.partition}
    assert fetching.take(0.01) is None
    fetching.start({stopped: 1})
    assert places(take(fetching, 2)) == [(first.partition, 1), (first.partition, 2)]


@pytest.mark.parametrize(("policy", "offsets"), [("smallest", [0, 1, 2]), ("earliest", [0, 1, 2]), ("largest", [3]), ("latest", [3])])
def test_without_an_offset_and_beyond_the_log_the_reset_policy_says_where_to_begin(cluster: ToyCluster, policy: str, offsets: list[int]) -> None:
    for beginning in (None, 99):
        fetching = PartitionFetching(replace(SETTINGS, auto_offset_reset=policy))
        fetching.set_brokers(cluster.addresses)
        fetching.start({T0: beginning})
        for _ in range(ROUNDS):
            if fetching.positions().get(T0) == offsets[0]:
                break
            if offsets == [0, 1, 2]:
                assert [record.offset for record in take(fetching, 3)] == offsets
                break
            fetching.take(0.01)
        else:
            raise AssertionError(f"the position is {fetching.positions()}")
        fetching.close()


def test_a_new_leader_is_found(cluster: ToyCluster, fetching: PartitionFetching) -> None:
    fetching.start({T0: 0})
    take(fetching, 3)
    cluster.fake.move_leader(T0, 1)
    write(cluster, T0, 3)
    assert [record.offset for record in take(fetching, 1)] == [3]
    assert {broker for broker, request in cluster.fake.requests if isinstance(request, FetchRequest)} == {0, 1}


def test_a_broker_that_is_gone_holds_up_only_its_own_partitions(cluster: ToyCluster, fetching: PartitionFetching) -> None:
    fetching.start({T0: 0, T1: 0})
    take(fetching, 6)
    cluster.stop_broker(0)
    write(cluster, T1, 3)
    assert places(take(fetching, 1)) == [(1, 3)]
    cluster.fake.move_leader(T0, 1)
    write(cluster, T0, 3)
    assert places(take(fetching, 1)) == [(0, 3)]


def test_errors_that_pass_do_not_lose_the_place(cluster: ToyCluster, fetching: PartitionFetching) -> None:
    errors = iter([ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR])
    cluster.fake.refuse = lambda broker, name, request: next(errors, None) if isinstance(request, FetchRequest) else None
    fetching.start({T0: 1})
    assert [record.offset for record in take(fetching, 2)] == [1, 2]


def test_without_partitions_or_brokers_a_take_waits_no_longer_than_told(fetching: PartitionFetching) -> None:
    began = time.monotonic()
    assert fetching.take(0.05) is None
    assert 0.04 < time.monotonic() - began < 5
    fetching.set_brokers({})
    fetching.start({T0: 0})
    assert fetching.take(0.01) is None
    assert fetching.addresses() == []


def test_waking_ends_a_wait_and_all_later_ones(fetching: PartitionFetching) -> None:
    taken: list[ConsumerRecord | None] = []
    thread = threading.Thread(target=lambda: taken.append(fetching.take(60)))
    thread.start()
    fetching.wake()
    thread.join(10)
    assert not thread.is_alive()
    fetching.start({T0: 0})
    assert taken == [None]
    assert fetching.take(60) is None
