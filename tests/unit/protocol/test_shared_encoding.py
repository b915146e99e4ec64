"""Messages that are encoded once have the bytes that each of those who get them would get alone."""

from __future__ import annotations

from dataclasses import fields

import pytest

from pykafka_classic.protocol import codec
from pykafka_classic.protocol.messages.metadata import MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic
from pykafka_classic.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from pykafka_classic.protocol.shared_encoding import KeptMetadata, for_each_broker

EPOCHS = (17, -1, 1 << 40)
STATE = UpdateMetadataPartitionState("", 3, 7, 1, 5, [1, 2], 9, [1, 2, 3], [3])
BROKER = UpdateMetadataBroker(1, endpoints=[UpdateMetadataEndpoint(9092, "b1", "PLAINTEXT", 0)], rack="r")


def request(version: int) -> UpdateMetadataRequest:
    """With partitions in the form of this version."""
    told = UpdateMetadataRequest(controller_id=2, controller_epoch=4, live_brokers=[BROKER])
    if version < 5:
        told.ungrouped_partition_states = [UpdateMetadataPartitionState("t", 3, 7, 1, 5, [1, 2], 9, [1, 2, 3])]
    else:
        told.topic_states = [UpdateMetadataTopicState("t", bytes(range(16)), [STATE])]
    return told


@pytest.mark.parametrize("version", UpdateMetadataRequest.VALID_VERSIONS)
def test_each_broker_gets_the_bytes_that_it_would_get_alone(version: int) -> None:
    for epoch, shared in zip(EPOCHS, for_each_broker(request(version), EPOCHS), strict=True):
        alone = request(version)
        alone.broker_epoch = epoch
        assert codec.encode(shared, version) == codec.encode(alone, version)


def test_what_they_share_is_encoded_once() -> None:
    first, second = for_each_broker(request(7), (1, 2))
    codec.encode(first, 7)
    second.topic_states = []  # nobody does this: it shows that the first one's bytes are used
    assert codec.encode(second, 7)[16:] == codec.encode(first, 7)[16:]


def test_all_fields_are_those_of_the_request() -> None:
    [shared] = for_each_broker(request(7), (5,))
    assert {each.name: getattr(shared, each.name) for each in fields(shared)} == {
        **{each.name: getattr(request(7), each.name) for each in fields(shared)},
        "broker_epoch": 5,
    }


def metadata() -> MetadataResponse:
    topic = MetadataResponseTopic(0, "t", partitions=[MetadataResponsePartition(0, 3, 1, 7, [1, 2], [1])])
    return MetadataResponse(brokers=[MetadataResponseBroker(1, "b1", 9092, None)], cluster_id="c", controller_id=1, topics=[topic])


@pytest.mark.parametrize("version", MetadataResponse.VALID_VERSIONS)
def test_a_kept_answer_has_the_bytes_of_its_original(version: int) -> None:
    kept = KeptMetadata.of(metadata())
    assert codec.encode(kept, version) == codec.encode(metadata(), version)
    kept.topics = []  # as above: the second time, the bytes of the first are used
    assert codec.encode(kept, version) == codec.encode(metadata(), version)
