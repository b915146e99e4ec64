"""How long messages take to be read and written: the small ones of the data path, and the big ones of metadata.

    python tools/bench/codec.py [--seconds 0.2]

Prints microseconds for each message: the best of five runs. The aim for the small ones is 8 microseconds.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable
from typing import Any

from pykafka_classic.protocol.api_keys import zk_broker_apis
from pykafka_classic.protocol.codec import decode, encode, encode_parts
from pykafka_classic.protocol.connection import ClientConnection, RequestContext, ServerConnection
from pykafka_classic.protocol.messages import fetch, produce, update_metadata
from pykafka_classic.protocol.schema import Message, join_records

Case = Callable[[], object]


def produce_request() -> produce.ProduceRequest:
    """One partition with 1,500 bytes of records."""
    partition = produce.PartitionProduceData(index=3, records=bytes(1500))
    return produce.ProduceRequest(acks=-1, timeout_ms=30000, topic_data=[produce.TopicProduceData(name="flights", partition_data=[partition])])


def produce_response() -> produce.ProduceResponse:
    """One partition."""
    partition = produce.PartitionProduceResponse(index=3, base_offset=123456789, log_append_time_ms=-1, log_start_offset=0)
    return produce.ProduceResponse(responses=[produce.TopicProduceResponse(name="flights", partition_responses=[partition])])


def fetch_request(partitions: int) -> fetch.FetchRequest:
    """All partitions of one topic, as a new session asks for them."""
    wanted = [fetch.FetchPartition(index, 5, 123456 + index, 4, 0, 1048576) for index in range(partitions)]
    topic = fetch.FetchTopic(topic="flights", partitions=wanted)
    return fetch.FetchRequest(replica_id=-1, max_wait_ms=500, min_bytes=1, max_bytes=52428800, session_id=7, session_epoch=3, topics=[topic])


def fetch_response(partitions: int) -> fetch.FetchResponse:
    """2,000 bytes of records in each partition."""
    found = [
        fetch.FetchablePartitionResponse(
            partition=index, high_watermark=10**6, last_stable_offset=10**6, log_start_offset=0, aborted_transactions=None, record_set=bytes(2000)
        )
        for index in range(partitions)
    ]
    return fetch.FetchResponse(session_id=7, responses=[fetch.FetchableTopicResponse(topic="flights", partition_responses=found)])


def metadata_update(partitions: int) -> update_metadata.UpdateMetadataRequest:
    """As the controller sends it: topics of 10 partitions, three replicas."""
    states = [
        update_metadata.UpdateMetadataTopicState(
            topic_name=f"topic-{number}",
            topic_id=bytes(16),
            partition_states=[
                update_metadata.UpdateMetadataPartitionState(
                    partition_index=index, controller_epoch=4, leader=index % 3, leader_epoch=9, isr=[0, 1, 2], zk_version=12, replicas=[0, 1, 2]
                )
                for index in range(10)
            ],
        )
        for number in range(partitions // 10)
    ]
    return update_metadata.UpdateMetadataRequest(controller_id=1, controller_epoch=4, broker_epoch=77, topic_states=states)


def both_ways(name: str, message: Message, version: int) -> dict[str, Case]:
    """Reading and writing of one message."""
    frame = memoryview(encode(message, version))
    return {
        f"{name} v{version} decode": lambda: decode(type(message), version, frame),
        f"{name} v{version} encode": lambda: encode_parts(message, version),
    }


def over_a_connection(name: str, request: Message, response: Message, version: int) -> dict[str, Case]:
    """What a broker pays for a request: cut the frame, read both headers, read the body, write the response."""
    frame = join_records(ClientConnection("bench").send(request, version)[1])
    connection = ServerConnection(zk_broker_apis())

    def serve() -> Any:
        (context,) = connection.receive_data(frame)
        assert isinstance(context, RequestContext)
        return connection.encode_response(context, response)

    return {f"{name} v{version} served": serve}


def cases() -> dict[str, Case]:
    """What is measured."""
    result: dict[str, Case] = {}
    for version in (7, 9):
        result |= both_ways("ProduceRequest, 1 partition", produce_request(), version)
        result |= both_ways("ProduceResponse, 1 partition", produce_response(), version)
        result |= over_a_connection("Produce, 1 partition", produce_request(), produce_response(), version)
    for partitions in (1, 100):
        result |= both_ways(f"FetchRequest, {partitions} partitions", fetch_request(partitions), 12)
        result |= both_ways(f"FetchResponse, {partitions} partitions", fetch_response(partitions), 12)
    result |= over_a_connection("Fetch, 1 partition", fetch_request(1), fetch_response(1), 12)
    return result | both_ways("UpdateMetadataRequest, 1000 partitions", metadata_update(1000), 7)


def microseconds(case: Case, seconds: float) -> float:
    """Of one call, the best of five runs."""
    once = max(timeit.timeit(case, number=3) / 3, 1e-7)
    number = max(1, int(seconds / 5 / once))
    return min(timeit.repeat(case, number=number, repeat=5)) / number * 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.2, help="time for each message")
    seconds = parser.parse_args().seconds
    for name, case in cases().items():
        print(f"{name:50} {microseconds(case, seconds):10.2f} us")


if __name__ == "__main__":
    main()
