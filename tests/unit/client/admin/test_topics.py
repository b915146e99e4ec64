"""Topics: outcomes, quotas on changes, old brokers."""

from __future__ import annotations

import pytest

from pykafka_classic.client.admin.topics import NewPartitions, NewTopic
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopicResult
from pykafka_classic.protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from pykafka_classic.protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataResponsePartition, MetadataResponseTopic
from tests.fakes.broker_connections import FakeBrokers, versions_up_to


def topic(name: str, leaders: list[int]) -> MetadataResponseTopic:
    partitions = [
        MetadataResponsePartition(ErrorCode.NONE if leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE, number, leader, 0, [0, 1], [0, 1], [])
        for number, leader in enumerate(leaders)
    ]
    return MetadataResponseTopic(ErrorCode.NONE, name, bytes(16), is_internal=name.startswith("__"), partitions=partitions[::-1])


def test_each_topic_has_its_own_outcome() -> None:
    brokers = FakeBrokers()
    brokers.on[ApiKey.CREATE_TOPICS] = lambda _, __: CreateTopicsResponse(
        topics=[
            CreatableTopicResult("new", num_partitions=3, replication_factor=2),
            CreatableTopicResult("old", error_code=ErrorCode.TOPIC_ALREADY_EXISTS, error_message="Topic 'old' already exists."),
        ]
    )
    outcomes = brokers.run(brokers.admin().create_topics([NewTopic("new", 3, 2), NewTopic("old", 1, 1), NewTopic("forgotten", 1, 1)]))
    assert {name: error.code for name, error in outcomes.errors().items()} == {
        "old": ErrorCode.TOPIC_ALREADY_EXISTS,
        "forgotten": ErrorCode.UNKNOWN_SERVER_ERROR,
    }
    assert outcomes.values_only()["new"].partitions == 3
    with pytest.raises(KafkaError, match=r"old: Topic 'old' already exists\."):
        outcomes.check()


def test_numbers_are_left_to_the_broker_where_an_assignment_or_nothing_is_given() -> None:
    brokers = FakeBrokers()
    brokers.on[ApiKey.CREATE_TOPICS] = lambda _, __: CreateTopicsResponse()
    brokers.run(brokers.admin().create_topics([NewTopic("default"), NewTopic("placed", assignment={0: [2, 1]}), NewTopic("counted", 4, 3)]))
    (asked,) = brokers.requests(CreateTopicsRequest)
    placed = {each.name: [(one.partition_index, one.broker_ids) for one in each.assignments] for each in asked.topics}
    told = {each.name: (each.num_partitions, each.replication_factor, placed[each.name]) for each in asked.topics}
    assert told == {"default": (-1, -1, []), "placed": (-1, -1, [(0, [2, 1])]), "counted": (4, 3, [])}


def test_a_broker_without_defaults_is_not_asked_for_them() -> None:
    brokers = FakeBrokers(serve=versions_up_to(ApiKey.CREATE_TOPICS, 3))
    with pytest.raises(KafkaError, match="default") as raised:
        brokers.run(brokers.admin().create_topics([NewTopic("default")]))
    assert raised.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_only_what_a_quota_held_up_is_asked_again_after_the_time_told() -> None:
    brokers = FakeBrokers()
    asked: list[list[str]] = []

    def create(_: int, request: CreateTopicsRequest) -> CreateTopicsResponse:
        asked.append([each.name for each in request.topics])
        codes = {name: ErrorCode.THROTTLING_QUOTA_EXCEEDED if name == "b" and len(asked) == 1 else ErrorCode.NONE for name in asked[-1]}
        return CreateTopicsResponse(700, [CreatableTopicResult(name, error_code=code) for name, code in codes.items()])

    brokers.on[ApiKey.CREATE_TOPICS] = create
    brokers.run(brokers.admin().create_topics([NewTopic("a", 1, 1), NewTopic("b", 1, 1)])).check()
    assert asked == [["a", "b"], ["b"]]
    assert brokers.clock.monotonic_ms() == 700


@pytest.mark.parametrize("version", [0, 1, 5, 6])
def test_topics_are_deleted_by_brokers_of_every_version(version: int) -> None:
    brokers = FakeBrokers(serve=versions_up_to(ApiKey.DELETE_TOPICS, version))
    brokers.on[ApiKey.DELETE_TOPICS] = lambda _, __: DeleteTopicsResponse(responses=[DeletableTopicResult("t")])
    brokers.run(brokers.admin().delete_topics(["t"])).check()
    (asked,) = brokers.requests(DeleteTopicsRequest)
    assert [each.name for each in asked.topics] + asked.topic_names == ["t"]


def test_partitions_are_added() -> None:
    brokers = FakeBrokers()
    brokers.on[ApiKey.CREATE_PARTITIONS] = lambda _, request: CreatePartitionsResponse(
        results=[CreatePartitionsTopicResult(each.name, ErrorCode.NONE if each.count > 2 else ErrorCode.INVALID_PARTITIONS) for each in request.topics]
    )
    outcomes = brokers.run(brokers.admin().create_partitions({"t": NewPartitions(3, [[0, 1]]), "u": NewPartitions(2)}))
    assert {name: error.code for name, error in outcomes.errors().items()} == {"u": ErrorCode.INVALID_PARTITIONS}
    (request,) = brokers.requests(CreatePartitionsRequest)
    assert [None if each.assignments is None else [one.broker_ids for one in each.assignments] for each in request.topics] == [[[0, 1]], None]


@pytest.mark.parametrize("version", [0, 1, 3, 4, 11])
def test_topics_are_described_without_being_created(version: int) -> None:
    brokers = FakeBrokers(serve=versions_up_to(ApiKey.METADATA, version))
    brokers.topics = [topic("t", [1, -1]), topic("other", [0])]
    # What version 0 asks by name a broker may create: so an old one is asked for all topics.
    found = brokers.run(brokers.admin().describe_topics(["t"])).check()["t"]
    assert [(each.partition, each.leader) for each in found.partitions] == [(0, 1), (1, None)]
    asked = brokers.requests(MetadataRequest)[0]
    if 1 <= version < 4:
        assert asked.topics is None
    if version >= 4:
        assert asked.allow_auto_topic_creation is False


def test_an_unknown_topic_is_looked_for_again_for_a_second() -> None:
    brokers = FakeBrokers()
    brokers.clock.call_later(800, lambda: brokers.topics.append(topic("late", [0])))
    outcomes = brokers.run(brokers.admin().describe_topics(["late", "never"]))
    assert outcomes.values_only().keys() == {"late"}
    assert outcomes.errors()["never"].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert brokers.clock.monotonic_ms() <= 1_000


def test_internal_topics_are_listed_only_if_asked_for() -> None:
    brokers = FakeBrokers()
    brokers.topics = [topic("t", [0]), topic("__consumer_offsets", [0])]
    assert list(brokers.run(brokers.admin().list_topics())) == ["t"]
    assert list(brokers.run(brokers.admin().list_topics(internal=True))) == ["t", "__consumer_offsets"]
