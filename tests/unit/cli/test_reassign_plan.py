"""Plans of kafka-reassign-partitions: what is wrong with one, and which replicas a throttle is for. Outputs of Apache's tool: tests/golden/data/cli."""

from __future__ import annotations

import json

import pytest

from pykafka_classic.cli.kafka_json import WrongJson
from pykafka_classic.cli.reassign_plan import BadPlan, as_json, check_generate, check_plan, parse_plan, parse_topics, throttles
from pykafka_classic.common.topic_partition import TopicPartition

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def plan_text(*rows: dict[str, object]) -> str:
    return json.dumps({"version": 1, "partitions": list(rows)})


def test_a_plan_is_read_with_the_directories_that_are_named() -> None:
    plan = parse_plan(
        plan_text({"topic": "t", "partition": 0, "replicas": [1, 2], "log_dirs": ["any", "/data"]}, {"topic": "u", "partition": 0, "replicas": [2]})
    )
    assert plan.replicas == {T0: (1, 2), U0: (2,)}
    assert plan.log_dirs == {("t", 0, 2): "/data"}
    assert (plan.topics, plan.brokers) == (["t", "u"], [1, 2])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{nothing", "Not JSON"),
        ("[]", r"Expected JSON object, received \[\]"),
        ("", "Not JSON"),
        (" ", "Expected JSON object, received "),
        ('{"version":"1","partitions":[]}', 'Expected `Int` value, received "1"'),
        ('{"version":1,"partitions":null}', "Expected JSON array, received null"),
        ('{"version":2,"partitions":[]}', "Not supported version field value 2"),
        (plan_text({"topic": "t", "partition": 0}), "No such field exists: `replicas`"),
        (plan_text({"topic": "t", "partition": 0, "replicas": [1], "log_dirs": []}), r"Size of replicas list List\(1\) is different"),
        (plan_text({"topic": "t", "partition": "0", "replicas": []}), 'Expected `Int` value, received "0"'),
        (plan_text({"topic": "t", "partition": 0, "replicas": ["1"]}), 'Expected `Int` value, received "1"'),
        (
            plan_text({"topic": "t", "partition": 0, "replicas": [1, 2], "log_dirs": ["any"]}),
            r"Size of replicas list List\(1, 2\) is different from size of log dirs list List\(any\) for partition t-0",
        ),
    ],
)
def test_a_file_that_is_no_plan_is_refused(text: str, said: str) -> None:
    with pytest.raises((BadPlan, WrongJson), match=said):
        parse_plan(text)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "Partition reassignment list cannot be empty"),
        ([{"topic": "t", "partition": 0, "replicas": []}], "Partition replica list cannot be empty"),
        ([{"topic": "t", "partition": 0, "replicas": [1]}] * 2, "Partition reassignment contains duplicate topic partitions: t-0"),
        (
            [{"topic": "t", "partition": 0, "replicas": [1, 1]}],
            "Partition replica lists may not contain duplicate entries: t-0 contains multiple entries for 1",
        ),
    ],
)
def test_what_no_cluster_could_do_is_refused_in_kafkas_words(rows: list[dict[str, object]], said: str) -> None:
    with pytest.raises(BadPlan) as caught:
        check_plan(parse_plan(plan_text(*rows)))
    assert str(caught.value) == said


def test_brokers_and_topics_of_a_proposal_are_named_once() -> None:
    assert check_generate(parse_topics('{"topics":[{"topic":"t"}]}'), "0,+1,2,") == [0, 1, 2]
    for topics, brokers in ((["t", "t"], "0"), (["t"], "0,0"), (["t"], "zero"), (["t"], " 0"), (["t"], "0,,1"), (["t"], "2147483648")):
        with pytest.raises(BadPlan):
            check_generate(topics, brokers)


def test_a_plan_is_printed_on_one_line_by_topic_and_partition() -> None:
    assert as_json({U0: [2], T0: [0, 1]}) == (
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[0,1],"log_dirs":["any","any"]},'
        '{"topic":"u","partition":0,"replicas":[2],"log_dirs":["any"]}]}'
    )


def test_throttles_are_for_where_data_comes_from_and_where_it_goes_to() -> None:
    wanted = throttles({T0: [1, 2], T1: [0, 1]}, {T0: [0, 1], T1: [0, 1]}, {})
    assert wanted.leaders == {"t": "0:0,0:1,1:0,1:1"}
    assert wanted.followers == {"t": "0:2"}
    assert wanted.brokers == [0, 1, 2]


def test_of_a_partition_that_is_moving_already_the_data_comes_from_where_it_did() -> None:
    wanted = throttles({T0: [3, 1]}, {T0: [0, 1, 2]}, {T0: ({0, 1}, {2}), U0: ({5}, {6})})
    assert wanted.leaders == {"t": "0:0,0:1", "u": "0:5"}
    assert wanted.followers == {"t": "0:3", "u": "0:6"}
