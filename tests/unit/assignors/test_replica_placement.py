"""Replica placement: what holds for any cluster. That single placements equal Kafka's is in tests/golden/test_placement.py."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.assignors.replica_placement import BrokerMetadata, assign_replicas_to_brokers, rack_alternated_list
from pykafka_classic.common.errors import ErrorCode, KafkaError
from tests.fakes.clock import SeededRandom


def _brokers(count: int, racks: int = 0) -> list[BrokerMetadata]:
    return [BrokerMetadata(broker, f"r{broker % racks}" if racks else None) for broker in range(count)]


class _Draws:
    """A Random that gives these numbers in turn."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = list(numbers)
        self.stops: list[int] = []

    def randrange(self, stop: int) -> int:
        self.stops.append(stop)
        return self._numbers.pop(0)

    def getrandbits(self, k: int) -> int:
        raise AssertionError("a placement draws no bits")


def test_start_and_shift_are_drawn_in_this_order() -> None:
    draws = _Draws(1, 2)
    assignment = assign_replicas_to_brokers(_brokers(5), partitions=range(2), replication_factor=2, random=draws)
    assert draws.stops == [5, 5]
    assert assignment == {0: (1, 4), 1: (2, 0)}  # leader at start; its follower 1 + shift further on


def test_a_fixed_start_draws_nothing() -> None:
    draws = _Draws()
    assert assign_replicas_to_brokers(_brokers(3), partitions=range(1), replication_factor=1, random=draws, fixed_start_index=2) == {0: (2,)}


def test_added_partitions_are_numbered_from_the_existing_ones() -> None:
    added = assign_replicas_to_brokers(_brokers(3), partitions=range(4, 6), replication_factor=1, random=_Draws(), fixed_start_index=0)
    assert added == {4: (1,), 5: (2,)}


def test_one_broker_takes_all() -> None:
    assert assign_replicas_to_brokers(_brokers(1), partitions=range(3), replication_factor=1, random=SeededRandom()) == {0: (0,), 1: (0,), 2: (0,)}


@pytest.mark.parametrize(
    ("partitions", "factor", "code"),
    [(0, 1, ErrorCode.INVALID_PARTITIONS), (1, 0, ErrorCode.INVALID_REPLICATION_FACTOR), (1, 4, ErrorCode.INVALID_REPLICATION_FACTOR)],
)
def test_impossible_numbers_are_refused(partitions: int, factor: int, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as caught:
        assign_replicas_to_brokers(_brokers(3), partitions=range(partitions), replication_factor=factor, random=SeededRandom())
    assert caught.value.code is code


def test_racks_known_of_some_brokers_only_are_refused() -> None:
    with pytest.raises(KafkaError, match="Not all brokers have rack information"):
        assign_replicas_to_brokers([BrokerMetadata(0, "a"), BrokerMetadata(1)], partitions=range(1), replication_factor=1, random=SeededRandom())


@given(st.integers(1, 12), st.integers(1, 40), st.integers(0, 5), st.integers(0, 99), st.data())
def test_every_partition_has_different_brokers_and_every_broker_its_share_of_leaders(
    brokers: int, partitions: int, racks: int, seed: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, brokers))
    assignment = assign_replicas_to_brokers(_brokers(brokers, racks), partitions=range(partitions), replication_factor=factor, random=SeededRandom(seed))
    assert sorted(assignment) == list(range(partitions))
    assert all(len(set(replicas)) == len(replicas) == factor for replicas in assignment.values())
    leaders = Counter(replicas[0] for replicas in assignment.values())
    assert max(leaders.values()) - min(leaders.get(broker, 0) for broker in range(brokers)) <= 1


@given(st.integers(2, 4), st.integers(1, 4), st.integers(1, 30), st.integers(0, 99), st.data())
def test_replicas_are_on_as_many_racks_as_possible(racks: int, per_rack: int, partitions: int, seed: int, data: st.DataObject) -> None:
    brokers = _brokers(racks * per_rack, racks)
    factor = data.draw(st.integers(1, len(brokers)))
    assignment = assign_replicas_to_brokers(brokers, partitions=range(partitions), replication_factor=factor, random=SeededRandom(seed))
    assert all(len({broker % racks for broker in replicas}) == min(factor, racks) for replicas in assignment.values())


def test_racks_alternate_by_name_and_brokers_by_id() -> None:
    assert rack_alternated_list({0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}) == [0, 3, 1, 5, 4, 2]
