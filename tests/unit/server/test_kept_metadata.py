"""Metadata about all topics is kept between requests, and never longer than it is true."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykafka_classic.protocol import codec
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataResponse
from pykafka_classic.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from pykafka_classic.server.handlers import metadata
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.request import Request

VERSION = 9


def told(partition: int, leader: int, brokers: int = 1) -> UpdateMetadataRequest:
    """The controller's word about one partition of topic t."""
    live = [UpdateMetadataBroker(number, endpoints=[UpdateMetadataEndpoint(9092, f"b{number}", "PLAINTEXT", 0)]) for number in range(1, brokers + 1)]
    state = UpdateMetadataPartitionState("", partition, 1, leader, 0, [1], 0, [1])
    return UpdateMetadataRequest(controller_id=1, controller_epoch=1, live_brokers=live, topic_states=[UpdateMetadataTopicState("t", bytes(16), [state])])


class Asker:
    """Asks for all topics, and reads the answer from its bytes."""

    def __init__(self) -> None:
        self.cache = MetadataCache(1)
        self._broker: Any = SimpleNamespace(metadata_cache=self.cache, cluster_id="c")

    def ask(self, *, operations: bool = False) -> MetadataResponse:
        request = MetadataRequest(topics=None, include_topic_authorized_operations=operations)
        answer = metadata.handle(self._broker, Request(request, VERSION, "me", "PLAINTEXT", "here"))
        assert isinstance(answer, MetadataResponse)
        return codec.decode(MetadataResponse, VERSION, codec.encode(answer, VERSION))[0]


def leaders(answer: MetadataResponse) -> dict[int, int]:
    """By partition of the only topic."""
    return {partition.partition_index: partition.leader_id for topic in answer.topics for partition in topic.partitions}


def test_every_word_of_the_controller_shows_in_the_next_answer() -> None:
    asker = Asker()
    assert leaders(asker.ask()) == {}
    asker.cache.update(told(0, leader=1))
    assert leaders(asker.ask()) == {0: 1}
    asker.cache.update(told(0, leader=2, brokers=2))
    assert leaders(asker.ask()) == {0: 2}
    assert [broker.host for broker in asker.ask().brokers] == ["b1", "b2"]
    asker.cache.update(told(1, leader=1, brokers=2))
    assert leaders(asker.ask()) == {0: 2, 1: 1}
    asker.cache.forget(["t"])
    assert leaders(asker.ask()) == {}


def test_answers_with_and_without_operations_are_told_apart() -> None:
    asker = Asker()
    asker.cache.update(told(0, leader=1))
    plain, full = asker.ask(), asker.ask(operations=True)
    assert plain.topics[0].topic_authorized_operations != full.topics[0].topic_authorized_operations
    assert asker.ask() == plain


def test_the_second_answer_is_the_first_one() -> None:
    asker = Asker()
    asker.cache.update(told(0, leader=1))
    asker.ask()
    [kept] = asker.cache.kept.values()
    asker.ask()
    assert next(iter(asker.cache.kept.values())) is kept
