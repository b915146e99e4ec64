"""TxnOffsetCommit and WriteTxnMarkers as brokers of a replicated cluster serve them, and what becomes of the coordinator when leadership moves or stays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final, cast

import pytest

from pykafka_classic.broker_parts import join_coordinators
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_name import GROUP_METADATA_TOPIC
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.service import GroupService
from pykafka_classic.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from pykafka_classic.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.records.control import EndTransactionMarker, read_end_transaction_marker
from pykafka_classic.records.record_batch import iterate_batches
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers import txn_offset_commit, write_txn_markers
from pykafka_classic.server.replicated_topic import ReplicatedTopic
from pykafka_classic.server.request import Request
from tests.fakes.clock import SeededRandom
from tests.unit.server.replica_cluster import LISTENER, ReplicaCluster, TestBroker

OFFSETS: Final = TopicPartition("__consumer_offsets", 0)
FLIGHTS: Final = TopicPartition("flights", 0)
PRODUCER: Final = 9


class Coordinator:
    """One broker of the cluster with its group coordinator."""

    def __init__(self, broker: TestBroker) -> None:
        self.broker = broker
        config, clock = broker.config, broker.cluster.clock
        self.groups = GroupService(
            config,
            clock,
            SeededRandom(1),
            ReplicatedTopic(GROUP_METADATA_TOPIC, config.offsets_topic_num_partitions, broker.replica_manager, broker.metadata_cache),
        )
        self.groups.store.active = True
        join_coordinators(broker.replica_manager, {GROUP_METADATA_TOPIC: self.groups.loader})
        services = {"config": config, "clock": clock, "replica_manager": broker.replica_manager, "metadata_cache": broker.metadata_cache, "groups": self.groups}
        self._services = cast(BrokerServices, SimpleNamespace(**services))

    def _ask(self, handle: Any, request: Message, version: int) -> Any:
        answer = handle(self._services, Request(request, version, "test", LISTENER, "127.0.0.1"))
        self.broker.cluster.advance(1000)
        return answer.result() if isinstance(answer, Promise) else answer

    def commit(self, offset: int, *, group: str = "g", topic: str = "flights", producer_id: int = PRODUCER, version: int = 3) -> ErrorCode:
        """TxnOffsetCommit of one partition."""
        partitions = [TxnOffsetCommitRequestPartition(0, offset, -1, None)]
        request = TxnOffsetCommitRequest("t", group, producer_id, 0, topics=[TxnOffsetCommitRequestTopic(topic, partitions)])
        answer = self._ask(txn_offset_commit.handle, request, version)
        assert isinstance(answer, TxnOffsetCommitResponse)
        [[partition]] = [told.partitions for told in answer.topics]
        return ErrorCode(partition.error_code)

    def end(self, *places: TopicPartition, commit: bool, epoch: int = 0, coordinator_epoch: int = 0) -> list[ErrorCode]:
        """WriteTxnMarkers; an error for each place."""
        topics = [WritableTxnMarkerTopic(place.topic, [place.partition]) for place in places]
        request = WriteTxnMarkersRequest([WritableTxnMarker(PRODUCER, epoch, commit, topics, coordinator_epoch)])
        answer = self._ask(write_txn_markers.handle, request, 1)
        assert isinstance(answer, WriteTxnMarkersResponse)
        [marker] = answer.markers
        assert marker.producer_id == PRODUCER
        return [ErrorCode(partition.error_code) for topic in marker.topics for partition in topic.partitions]

    def fetch(self, *, require_stable: bool = False) -> tuple[int, ErrorCode]:
        """The group's offset."""
        error, found = self.groups.offsets.fetch("g", [FLIGHTS], require_stable=require_stable)
        return (-2, error) if error else (found[FLIGHTS].offset, found[FLIGHTS].error)


@pytest.fixture
def coordinators() -> list[Coordinator]:
    cluster = ReplicaCluster(properties={"offsets.topic.num.partitions": "1"})
    made = [Coordinator(cluster[number]) for number in range(3)]
    cluster.create([0, 1, 2], OFFSETS)
    cluster.create([0, 1, 2], FLIGHTS)
    cluster.advance()
    return made


@pytest.mark.parametrize(("commit", "offset"), [(True, 5), (False, -1)])
def test_an_offset_counts_when_its_transaction_commits(coordinators: list[Coordinator], commit: bool, offset: int) -> None:
    leader = coordinators[0]
    assert leader.commit(5) is ErrorCode.NONE
    assert leader.fetch() == (-1, ErrorCode.NONE)
    assert leader.fetch(require_stable=True)[1] is ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert leader.end(OFFSETS, commit=commit) == [ErrorCode.NONE]
    assert leader.fetch(require_stable=True) == (offset, ErrorCode.NONE)


def test_the_batches_are_those_of_a_transaction_and_reach_every_replica(coordinators: list[Coordinator]) -> None:
    leader = coordinators[0]
    leader.commit(5)
    leader.end(OFFSETS, commit=True, coordinator_epoch=7)
    leader.broker.cluster.advance(1000)
    data, marker = iterate_batches(leader.broker.bytes_of(OFFSETS))
    assert (data.is_transactional, data.is_control, data.producer_id, data.producer_epoch, data.base_sequence) == (True, False, PRODUCER, 0, 0)
    assert (marker.is_transactional, marker.is_control, read_end_transaction_marker(marker)) == (True, True, EndTransactionMarker(True, 7))
    assert len({coordinator.broker.bytes_of(OFFSETS) for coordinator in coordinators}) == 1


@pytest.mark.parametrize(("commit", "offset"), [(True, 5), (False, -1)])
def test_a_transaction_that_is_open_when_the_coordinator_moves_ends_at_the_next_one(coordinators: list[Coordinator], commit: bool, offset: int) -> None:
    before, after, _ = coordinators
    before.commit(5)
    before.broker.cluster.elect(1, OFFSETS)
    after.broker.cluster.advance(1000)
    assert before.fetch() == (-2, ErrorCode.NOT_COORDINATOR)
    assert after.fetch(require_stable=True)[1] is ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert before.end(OFFSETS, commit=commit) == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    assert after.end(OFFSETS, commit=commit) == [ErrorCode.NONE]
    assert after.fetch(require_stable=True) == (offset, ErrorCode.NONE)
    after.broker.cluster.elect(2, OFFSETS)
    after.broker.cluster.advance(1000)
    assert coordinators[2].fetch(require_stable=True) == (offset, ErrorCode.NONE)


def test_markers_reach_ordinary_partitions_too_and_each_has_its_own_error(coordinators: list[Coordinator]) -> None:
    missing, leader = TopicPartition("missing", 0), coordinators[0]
    errors = leader.end(FLIGHTS, missing, OFFSETS, commit=True)
    assert errors == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE]
    [marker] = iterate_batches(leader.broker.bytes_of(FLIGHTS))
    assert marker.is_control


def test_a_log_of_an_older_format_takes_no_marker() -> None:
    cluster = ReplicaCluster(topic_configs={"flights": {"message.format.version": "0.10.2"}})
    leader = Coordinator(cluster[0])
    cluster.create([0, 1, 2], FLIGHTS)
    cluster.advance()
    assert leader.end(FLIGHTS, commit=True) == [ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT]
    assert leader.broker.bytes_of(FLIGHTS) == b""


def test_a_zombie_producer_or_coordinator_is_fenced(coordinators: list[Coordinator]) -> None:
    leader = coordinators[0]
    assert leader.end(OFFSETS, commit=True, epoch=3, coordinator_epoch=4) == [ErrorCode.NONE]
    assert leader.end(OFFSETS, commit=True, epoch=2, coordinator_epoch=4) == [ErrorCode.INVALID_PRODUCER_EPOCH]
    assert leader.end(OFFSETS, commit=True, epoch=3, coordinator_epoch=3) == [ErrorCode.TRANSACTION_COORDINATOR_FENCED]


def test_what_apache_refuses_is_refused(coordinators: list[Coordinator]) -> None:  # asked of 2.8.2: 24 and 3
    assert coordinators[0].commit(5, group="") is ErrorCode.INVALID_GROUP_ID
    assert coordinators[0].commit(5, topic="missing") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert coordinators[1].commit(5) is ErrorCode.NOT_COORDINATOR


@pytest.mark.parametrize(("version", "told"), [(1, ErrorCode.COORDINATOR_NOT_AVAILABLE), (2, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)])
def test_loading_is_told_to_those_who_know_it(coordinators: list[Coordinator], version: int, told: ErrorCode) -> None:
    coordinators[0].groups.store.begin_loading(0)
    assert coordinators[0].commit(5, version=version) is told


def test_a_leader_that_is_elected_again_keeps_its_groups_as_they_are(coordinators: list[Coordinator]) -> None:
    leader = coordinators[0]
    leader.commit(5)
    group = leader.groups.store.get("g")
    leader.broker.cluster.elect(0, OFFSETS)
    leader.broker.cluster.advance(1000)
    assert leader.groups.store.get("g") is group is not None
    assert leader.fetch(require_stable=True)[1] is ErrorCode.UNSTABLE_OFFSET_COMMIT
