"""What the hot paths cost, counted: a slow path that creeps in is seen here, on any machine, however busy it is.

A bound is what was counted when it was written, and a tenth more. Whoever exceeds one either finds a way that costs less, or writes down here what it is worth.
Fewer calls are always fine. Everything is counted from the bytes of a request to the parts of its answer.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence

import pytest

from pykafka_classic.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykafka_classic.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataResponse
from pykafka_classic.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse
from pykafka_classic.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from pykafka_classic.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.fakes.file_system import FakeFile
from tests.unit.log.helpers import batch
from tests.unit.performance.counted_broker import TOPIC, Counted, CountedCluster, count, is_slice, memory_peak

PRODUCE, FETCH, METADATA = 8, 11, 9  # versions, those of today's librdkafka
MB = 1_000_000


def produce(records: int, size: int, *, partitions: int = 1, acks: int = 1) -> ProduceRequest:
    """A batch of so many records for each partition."""
    data = memoryview(batch([(None, bytes(size))] * records))
    topic = TopicProduceData(TOPIC, [PartitionProduceData(index, data) for index in range(partitions)])
    return ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=[topic])


def fetch(offset: int, *, max_bytes: int = MB) -> FetchRequest:
    """A consumer's, of partition 0."""
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    return FetchRequest(replica_id=-1, max_bytes=50 * MB, min_bytes=1, session_epoch=-1, topics=[FetchTopic(topic=TOPIC, partitions=[partition])])


def require(counted: Counted, calls: int, **disk: int) -> None:
    """No more calls than that, and exactly these of the disk."""
    assert counted.calls <= calls, f"{counted.calls} calls:\n{counted.tell()}"
    assert dict(counted.disk) == disk


@pytest.fixture(scope="module")
def one() -> Iterator[CountedCluster]:
    """One broker; partition 0 has some megabytes."""
    cluster = CountedCluster(partitions=20)
    for _ in range(20):
        response = cluster.ask(produce(1_000, 100), PRODUCE)
        assert isinstance(response, ProduceResponse)
        assert response.responses[0].partition_responses[0].error_code == 0
    yield cluster
    assert not cluster.cluster.failures


def test_produce_of_one_record_is_one_write(one: CountedCluster) -> None:
    require(one.count_request(produce(1, 100), PRODUCE), 124, append=1)


def test_produce_takes_no_longer_for_more_records_in_a_batch(one: CountedCluster) -> None:
    few, many = (one.count_request(produce(records, 1_000), PRODUCE) for records in (16, 900))  # fewer than 16 are looked at one by one: log_validator.py
    assert many.calls <= few.calls + 5, many.tell()  # an entry in the index now and then


def test_produce_to_more_partitions_costs_the_appends_alone(one: CountedCluster) -> None:
    counted = one.count_request(produce(1, 100, partitions=20), PRODUCE)
    require(counted, 20 * 85, append=20)


def test_produce_copies_no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = CountedCluster()
    request = produce(1_000, 1_000)
    cluster.ask(request, PRODUCE)
    frame = cluster.frame(request, PRODUCE)
    written: list[int] = []

    def append(file: FakeFile, buffers: Sequence[bytes]) -> int:
        written.append(sum(map(len, buffers)))
        return file.size()

    monkeypatch.setattr(FakeFile, "append", append)  # a disk in memory would take memory
    peak = memory_peak(lambda: cluster.send(frame))
    assert sum(written) > MB
    assert peak < 40_000  # 32 KB of the batch are looked at in a copy of their own: log_validator.py


class Frame(bytearray):
    """Bytes that a test can see die."""


def test_a_request_that_waits_for_followers_keeps_none_of_its_records() -> None:
    cluster = CountedCluster(machines=2)
    request = produce(1_000, 1_000, acks=-1)
    cluster.ask(request, PRODUCE)
    frame = Frame(cluster.frame(request, PRODUCE))
    dead = weakref.ref(frame)
    cluster.send(frame)  # type: ignore[arg-type]  # a subclass of bytes would not tell
    del frame
    assert dead() is None
    assert cluster.log(1).log_end_offset == 2_000 > cluster.log(1).high_watermark  # it waits
    response = cluster.answer()
    assert isinstance(response, ProduceResponse)
    assert response.responses[0].partition_responses[0].base_offset == 1_000


def test_fetch_at_the_end_reads_nothing_from_the_disk(one: CountedCluster) -> None:
    require(one.count_request(fetch(one.log().log_end_offset - 500), FETCH), 109)


def test_fetch_of_old_records_reads_headers_alone(one: CountedCluster) -> None:
    one.log().active_segment._recent.forget()  # as if many more batches had come since
    require(one.count_request(fetch(2_500), FETCH), 145, read_at=3)  # of the batch that the index names, twice, and the one behind it


def test_fetched_records_stay_in_their_file(one: CountedCluster) -> None:
    parts = one.parts_of(fetch(0, max_bytes=2 * MB), FETCH)
    [records] = [part for part in parts if is_slice(part)]
    assert len(records) > MB
    assert sum(len(part) for part in parts if not is_slice(part)) < 200


def test_an_answer_of_a_megabyte_takes_a_few_kilobytes_of_memory(one: CountedCluster) -> None:
    one.ask(fetch(0), FETCH)
    frame = one.frame(fetch(0), FETCH)
    peak = memory_peak(lambda: one.send(frame))
    response = one.answer()
    assert isinstance(response, FetchResponse)
    records = response.responses[0].partition_responses[0].record_set
    assert records is not None
    assert len(records) > 0.9 * MB
    assert peak < 40_000  # the answer's own objects: nothing that grows with the records


def test_metadata_of_all_topics_is_not_built_again(one: CountedCluster) -> None:
    counted = one.count_request(MetadataRequest(topics=None), METADATA)
    require(counted, 40)
    response = one.ask(MetadataRequest(topics=None), METADATA)
    assert isinstance(response, MetadataResponse)
    assert sum(len(topic.partitions) for topic in response.topics) >= 20


def test_a_record_reaches_its_follower_in_one_round() -> None:
    cluster = CountedCluster(machines=2)
    request = produce(1, 100, acks=-1)
    for _ in range(5):
        cluster.ask(request, PRODUCE)
    cluster.pause(100)  # the follower's Fetch waits at the leader
    frame = cluster.frame(request, PRODUCE)

    def run() -> None:
        cluster.send(frame)
        cluster.answer()

    counted = count(run)
    assert cluster.log(1).high_watermark == cluster.log(2).log_end_offset
    # The leader appends and answers the Fetch; the follower appends, and fetches again; that raises the high watermark, and the producer is answered.
    require(counted, 596, append=2, read_at=1)  # here the network reads from the file what elsewhere the kernel sends


def test_heartbeat_touches_no_disk(one: CountedCluster) -> None:
    one.ask(FindCoordinatorRequest(key="g"), 2)
    one.pause(5_000)
    protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
    join = JoinGroupRequest(group_id="g", session_timeout_ms=300_000, rebalance_timeout_ms=300_000, protocol_type="consumer", protocols=[protocol])
    joined = one.ask(join, 2)
    assert isinstance(joined, JoinGroupResponse)
    member, generation = joined.member_id, joined.generation_id
    one.ask(SyncGroupRequest(group_id="g", generation_id=generation, member_id=member, assignments=[SyncGroupRequestAssignment(member, b"x")]), 2)
    heartbeat = HeartbeatRequest(group_id="g", generation_id=generation, member_id=member)
    answer = one.ask(heartbeat, 2)
    assert isinstance(answer, HeartbeatResponse)
    assert answer.error_code == 0
    require(one.count_request(heartbeat, 2), 49)


def test_offset_commit_is_one_write(one: CountedCluster) -> None:
    one.ask(FindCoordinatorRequest(key="g2"), 2)
    one.pause(5_000)
    partitions = [OffsetCommitRequestPartition(partition_index=index, committed_offset=7) for index in range(20)]
    commit = OffsetCommitRequest(group_id="g2", topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=partitions)])
    answer = one.ask(commit, 7)
    assert isinstance(answer, OffsetCommitResponse)
    assert {each.error_code for each in answer.topics[0].partitions} == {0}
    require(one.count_request(commit, 7), 928, append=1)  # each offset is a record of its own, with a key and a value
