"""A flipped bit in a leader's file: no follower takes it, and the leader says where it is."""

from __future__ import annotations

import pytest

from pykafka_classic.common.promise import Promise
from pykafka_classic.log.batch_header import iterate_headers
from pykafka_classic.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from tests.unit.server.replica_cluster import TP, ReplicaCluster, TestBroker

SEGMENT = "/data/flights-0/00000000000000000000.log"


def flip(broker: TestBroker, position: int) -> None:
    """The disk changes a byte of the first segment, behind the log's back."""
    file = broker.file_system.open(SEGMENT)
    file.write_at(position, bytes([file.read_at(position, 1)[0] ^ 0x04]))


def reports(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "Damaged log" in record.getMessage()]


@pytest.mark.parametrize("part", [18, 40, 70])  # in the checksum, the header, the records
def test_a_flipped_bit_is_not_replicated_and_the_leader_names_its_place(part: int, caplog: pytest.LogCaptureFixture) -> None:
    cluster = ReplicaCluster([0, 1])
    cluster.create([0, 1])
    cluster.isolate(1)
    for number in range(5):
        cluster[0].produce(b"value-%d" % number)
    third = list(iterate_headers(cluster[0].bytes_of()))[2]
    flip(cluster[0], third.position + part)
    cluster.reconnect(1)
    cluster.advance(40_000)  # what was under way times out first
    assert cluster[1].bytes_of() == b""  # one answer of the leader is appended whole or not at all, as Kafka does it
    [report] = reports(caplog)
    assert f"{SEGMENT} at position {third.position}" in report and "flights-0" in report and "follower 1" in report
    cluster.advance(70_000)
    assert len(reports(caplog)) == 2  # once a minute, not at each of the follower's tries


def session_fetch(broker: TestBroker, *, session_id: int, epoch: int, offset: int | None) -> FetchResponse:
    partitions = [] if offset is None else [FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)]
    topics = [FetchTopic(topic=TP.topic, partitions=partitions)] if partitions else []
    answer = broker.serve(FetchRequest(replica_id=-1, max_bytes=1 << 20, min_bytes=1, session_id=session_id, session_epoch=epoch, topics=topics), 11)
    response = answer.result() if isinstance(answer, Promise) else answer
    assert isinstance(response, FetchResponse)
    return response


def test_a_consumer_that_cannot_go_on_makes_the_leader_look(caplog: pytest.LogCaptureFixture) -> None:
    cluster = ReplicaCluster([0])
    cluster.create([0])
    cluster[0].produce(b"value")
    flip(cluster[0], 70)
    session = session_fetch(cluster[0], session_id=0, epoch=0, offset=0).session_id
    assert reports(caplog) == []
    session_fetch(cluster[0], session_id=session, epoch=1, offset=None)  # it was given records, and still wants the same offset
    [report] = reports(caplog)
    assert f"{SEGMENT} at position 0" in report and "a consumer" in report


def test_asking_twice_for_sound_records_reports_nothing(caplog: pytest.LogCaptureFixture) -> None:
    cluster = ReplicaCluster([0])
    cluster.create([0])
    cluster[0].produce(b"value")
    session = session_fetch(cluster[0], session_id=0, epoch=0, offset=0).session_id
    assert session_fetch(cluster[0], session_id=session, epoch=1, offset=None).responses
    assert reports(caplog) == []
