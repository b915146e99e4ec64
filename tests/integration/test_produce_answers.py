"""A broker process is sent every record set of golden/data/records/answers.jsonl and must answer as Apache Kafka 2.8.2 did, and give back what was accepted.

The topics have the configurations of the recording: formats 0.9, 0.10 and 2.8, both timestamp types, compacted, with a codec of their own. Where ours answers
something else on purpose, tests/golden/test_records_append.py says what and why.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.protocol.messages.create_topics import CreatableTopic, CreateableTopicConfig, CreateTopicsRequest, CreateTopicsResponse
from pykafka_classic.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from pykafka_classic.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from pykafka_classic.protocol.schema import join_records
from pykafka_classic.records.record_batch import AnyBatch, iterate_batches
from pykafka_classic.testing.cluster import LocalCluster
from tests.golden.records_data import Line, check_record, lines, of_kind
from tests.golden.test_records_append import difference

APPENDS: Final = {line["name"]: line for line in of_kind("append") if line["ibp"] == "2.8" and line["timestamp_difference_max_ms"] > 10**15}
MAGIC_2_VERSION: Final = 4  # of Fetch


@dataclass(frozen=True)
class Place:
    """A partition of its own for each record set."""

    topic: str
    partition: int


def places() -> dict[str, tuple[Place, dict[str, str]]]:
    """By the name of the append line: where it is sent, and the configuration of that topic."""
    names: dict[str, list[str]] = defaultdict(list)
    for line in lines("answers"):
        group = names[json.dumps(line["topic"], sort_keys=True)]
        if line["name"] not in group:
            group.append(line["name"])
    return {
        name: (Place(f"answers-{number}", partition), json.loads(config))
        for number, (config, group) in enumerate(names.items())
        for partition, name in enumerate(group)
    }


PLACES: Final = places()


@pytest.fixture(scope="module")
def client(single_broker: LocalCluster) -> Iterator[BlockingClient]:
    counts: dict[str, int] = defaultdict(int)
    configs = {place.topic: config for place, config in PLACES.values()}
    for place, _ in PLACES.values():
        counts[place.topic] += 1
    topics = [
        CreatableTopic(
            name=topic, num_partitions=counts[topic], replication_factor=1, configs=[CreateableTopicConfig(name=k, value=v) for k, v in config.items()]
        )
        for topic, config in configs.items()
    ]
    with BlockingClient("127.0.0.1", single_broker.ports[0], client_id="answers") as connected:
        created = connected.send(CreateTopicsRequest(topics=topics, timeout_ms=30_000), 4)
        assert isinstance(created, CreateTopicsResponse)
        assert {topic.error_code for topic in created.topics} == {ErrorCode.NONE}
        told = list(configs)
        wait_until(lambda: all_led(single_broker, told), seconds=30)
        yield connected


def all_led(cluster: LocalCluster, topics: list[str]) -> bool:
    metadata = cluster.metadata(0, topics)
    return metadata is not None and all(not topic.error_code and all(not each.error_code for each in topic.partitions) for topic in metadata.topics)


def produce(client: BlockingClient, place: Place, records: bytes, line: Line) -> PartitionProduceResponse:
    version = line["produce_version"]
    data = PartitionProduceData(index=place.partition, records=memoryview(records))
    request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name=place.topic, partition_data=[data])])
    if version >= 3:
        request.transactional_id = line.get("transactional_id")
    response = client.send(request, version)
    assert isinstance(response, ProduceResponse)
    return response.responses[0].partition_responses[0]


def as_recorded(got: PartitionProduceResponse, asked_ms: int) -> dict[str, Any]:
    """An answer in the recording's form."""
    near = abs(got.log_append_time_ms - asked_ms) < 60_000
    return {
        "error": got.error_code,
        "base_offset": got.base_offset,
        "log_append_time": "now" if near else got.log_append_time_ms,
        "log_start_offset": got.log_start_offset,
        "record_errors": [{"batch_index": each.batch_index, "message": each.batch_index_error_message} for each in got.record_errors],
        "error_message": got.error_message,
    }


def fetch(client: BlockingClient, place: Place, offset: int, version: int) -> bytes:
    partition = FetchPartition(partition=place.partition, fetch_offset=offset, partition_max_bytes=4 << 20)
    request = FetchRequest(replica_id=-1, max_wait_ms=100, min_bytes=1, max_bytes=4 << 20, topics=[FetchTopic(topic=place.topic, partitions=[partition])])
    response = client.send(request, version)
    assert isinstance(response, FetchResponse)
    [answer] = response.responses[0].partition_responses
    assert answer.error_code == ErrorCode.NONE
    return b"" if answer.record_set is None else join_records([answer.record_set])


def fetch_all(client: BlockingClient, place: Place, version: int, end: int) -> list[AnyBatch]:
    """Everything, as a consumer goes on: an answer is as long as the stored records, so what grows in the old format is cut and comes with the next."""
    found: list[AnyBatch] = []
    offset = 0
    while offset < end:
        more = [batch for batch in iterate_batches(fetch(client, place, offset, version)) if batch.last_offset >= offset]
        assert more, f"nothing from offset {offset} of {place} with Fetch v{version}"
        found += more
        offset = more[-1].last_offset + 1
    return found


def check_read(client: BlockingClient, place: Place, line: Line, base_offset: int) -> None:
    """What was accepted is read back with the offsets that were answered: keys, values, headers, and timestamps where they are the producer's."""
    read = [record for batch in iterate_batches(fetch(client, place, base_offset, 11)) for record in batch.records()]
    stored = [record for batch in line["batches"] for record in batch["records"]]
    shift = base_offset - line["first_offset"]
    for record, expected in zip(read, stored, strict=True):
        timestamp = record.timestamp if line["timestamp_type"] == "LogAppendTime" else expected["timestamp"]
        check_record(record, {**expected, "offset": expected["offset"] + shift, "timestamp": timestamp})


@pytest.mark.parametrize("name", PLACES)
def test_a_broker_answers_as_kafka_did_and_gives_back_what_it_took(client: BlockingClient, name: str) -> None:
    place, _ = PLACES[name]
    for recorded in [line for line in lines("answers") if line["name"] == name]:
        asked_ms = int(time.time() * 1000)
        got = produce(client, place, bytes.fromhex(APPENDS[name]["from"]), recorded)
        code = difference(name)
        if code is not None and recorded["error"] in (0, -1):
            assert got.error_code == code
            continue
        ours = as_recorded(got, asked_ms)
        assert {key: ours[key] for key in ours if key in recorded} == {key: recorded[key] for key in ours if key in recorded}
        if got.error_code == ErrorCode.NONE and "batches" in APPENDS[name]:
            check_read(client, place, APPENDS[name], got.base_offset)


def test_old_fetch_versions_get_old_formats_of_everything(client: BlockingClient) -> None:
    """After all these: for every partition, Fetch 0 to 3 give messages that decode, with the keys and values of what Fetch 11 gives."""
    compared = 0
    for place, _ in PLACES.values():
        batches = list(iterate_batches(fetch(client, place, 0, 11)))
        if not batches or any(batch.codec == 4 for batch in batches):
            continue  # nothing was accepted; zstd: tests/unit/server/test_fetch_conversion.py
        expected = [(record.offset, record.key, record.value) for batch in batches if not batch.is_control for record in batch.records()]
        for version, magic in ((0, 0), (1, 0), (2, 1), (3, 1)):
            old = fetch_all(client, place, version, expected[-1][0] + 1)
            assert all(batch.magic <= magic and batch.is_valid() for batch in old)
            assert [(record.offset, record.key, record.value) for batch in old for record in batch.records()] == expected
            compared += 1
    assert compared > 400
