"""What old Fetch versions get of zstd and of newer formats.

`ANSWERS` is what Apache Kafka 2.8.2 answered: three topics with three batches each at most, asked with every version named; (error, magic and codec of the
first batch).
"""

from __future__ import annotations

from typing import Final

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchResponse
from pykafka_classic.protocol.schema import Message, join_records
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.compression import GZIP, NONE, ZSTD
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import AnyBatch, iterate_batches
from pykafka_classic.server.append_values import AppendParams
from tests.unit.server.replica_cluster import ReplicaCluster, TestBroker

PRODUCER, CONFIGURED, MIXED = (TopicPartition(name, 0) for name in ("producers-zstd", "configured-zstd", "mixed"))
CONFIGS = {CONFIGURED.topic: {"compression.type": "zstd"}, "no-rewriting": {"message.downconversion.enable": "false"}}
WRITTEN = {PRODUCER: [ZSTD], CONFIGURED: [NONE, ZSTD], MIXED: [GZIP, ZSTD, GZIP]}

UNSUPPORTED = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
REFUSED = (UNSUPPORTED, None, None)
Answer = tuple[int, int | None, int | None]
ANSWERS: Final[dict[tuple[TopicPartition, int], dict[int, Answer]]] = {
    (PRODUCER, 0): {1: REFUSED, 3: REFUSED, 4: (0, 2, ZSTD), 9: (0, 2, ZSTD), 10: (0, 2, ZSTD), 11: (0, 2, ZSTD)},
    (CONFIGURED, 0): {1: REFUSED, 3: REFUSED, 4: REFUSED, 9: REFUSED, 10: (0, 2, ZSTD), 11: (0, 2, ZSTD)},
    (MIXED, 0): {1: (0, 0, GZIP), 3: (0, 1, GZIP), 4: (0, 2, GZIP), 9: (0, 2, GZIP), 10: (0, 2, GZIP), 11: (0, 2, GZIP)},
    (MIXED, 3): {1: REFUSED, 3: REFUSED, 4: (0, 2, ZSTD), 9: (0, 2, ZSTD), 10: (0, 2, ZSTD)},
}
CASES = [(partition, offset, version, answer) for (partition, offset), answers in ANSWERS.items() for version, answer in answers.items()]


@pytest.fixture(scope="module")
def broker() -> TestBroker:
    cluster = ReplicaCluster([0], topic_configs=CONFIGS)
    for partition, codecs in WRITTEN.items():
        cluster.create([0], partition)
        for codec in codecs:
            produce(cluster[0], partition, codec)
    return cluster[0]


def produce(broker: TestBroker, partition: TopicPartition, codec: int) -> None:
    records = [Record(index, 1600000000000 + index, b"k", b"v" * 50) for index in range(3)]
    outcome = broker.replica_manager.append_records(AppendParams(required_acks=1), [(partition, memoryview(build_batch(records, BatchFields(codec=codec))))])
    results = outcome.result() if isinstance(outcome, Promise) else outcome
    assert results[partition].error == ErrorCode.NONE


def fetch(broker: TestBroker, partition: TopicPartition, offset: int, version: int) -> Promise[Message] | FetchResponse:
    return broker.consume(offset, partition, version=version)


def told(answer: Promise[Message] | FetchResponse) -> FetchablePartitionResponse:
    response = answer.result() if isinstance(answer, Promise) else answer
    assert isinstance(response, FetchResponse)
    return response.responses[0].partition_responses[0]


def batches_of(partition: FetchablePartitionResponse) -> list[AnyBatch]:
    records = partition.record_set
    if records is None:
        return []
    return list(iterate_batches(join_records([records])))


@pytest.mark.parametrize(("partition", "offset", "version", "answer"), CASES)
def test_zstd_is_answered_as_kafka_answers_it(broker: TestBroker, partition: TopicPartition, offset: int, version: int, answer: Answer) -> None:
    got = told(fetch(broker, partition, offset, version))
    first = next(iter(batches_of(got)), None)
    assert (got.error_code, first and first.magic, first and first.codec) == answer


def test_rewriting_is_done_in_a_thread(broker: TestBroker) -> None:
    broker.background.queued = True
    try:
        answer = fetch(broker, MIXED, 0, 1)
        assert isinstance(answer, Promise) and not answer.settled
        broker.background.run_all()
        assert [record.value for record in batches_of(told(answer))[0].records()] == [b"v" * 50] * 3
        assert isinstance(fetch(broker, MIXED, 0, 4), FetchResponse)
    finally:
        broker.background.queued = False


def test_a_topic_may_forbid_rewriting(broker: TestBroker) -> None:
    partition = TopicPartition("no-rewriting", 0)
    broker.cluster.create([0], partition)
    produce(broker, partition, NONE)
    assert told(fetch(broker, partition, 0, 3)).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert told(fetch(broker, partition, 0, 4)).error_code == ErrorCode.NONE


def test_damaged_records_are_not_rewritten_but_refused_and_their_place_is_logged(broker: TestBroker, caplog: pytest.LogCaptureFixture) -> None:
    partition = TopicPartition("damaged", 0)
    broker.cluster.create([0], partition)
    produce(broker, partition, GZIP)
    file = broker.log(partition).active_segment.file()
    file.write_at(70, bytes([file.read_at(70, 1)[0] ^ 0xFF]))
    assert told(fetch(broker, partition, 0, 3)).error_code == ErrorCode.CORRUPT_MESSAGE
    [line] = [record.getMessage() for record in caplog.records if "damaged-0" in record.getMessage()]
    assert "position 0" in line
