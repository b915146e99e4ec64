"""Which partitions a pattern wants; the cases are those of Kafka 3.9's own description of --topic-partitions."""

from __future__ import annotations

import pytest

from pykafka_classic.cli.offset_patterns import InvalidPattern, by_rules, by_topic_and_numbers
from pykafka_classic.common.topic_partition import TopicPartition

EVERY = [TopicPartition(topic, number) for topic in ("topic1", "topic2", "other") for number in range(5)]


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("topic1:1", ["topic1-1"]),
        ("topic2:0-3", ["topic2-0", "topic2-1", "topic2-2"]),
        ("other", ["other-0", "other-1", "other-2", "other-3", "other-4"]),
        ("topic1:3-", ["topic1-3", "topic1-4"]),
        ("topic1:-2", ["topic1-0", "topic1-1"]),
        (":4", ["topic1-4", "topic2-4", "other-4"]),
        ("topic.*:0,other:1", ["topic1-0", "topic2-0", "other-1"]),
        ("topic", []),  # the whole name must match
        ("", [str(each) for each in EVERY]),
    ],
)
def test_rules(rules: str, wanted: list[str]) -> None:
    assert [str(each) for each in EVERY if by_rules(rules)(each)] == wanted


@pytest.mark.parametrize("rules", ["t:a", "t:1:2", "t:1-2-3", "t:1,u:x"])
def test_what_is_no_rule_is_refused(rules: str) -> None:
    with pytest.raises(InvalidPattern, match="Invalid rule specification: "):
        by_rules(rules)


def test_a_pattern_of_topics_and_numbers() -> None:
    assert [str(each) for each in EVERY if by_topic_and_numbers("topic1,other", [0, 9])(each)] == ["topic1-0", "other-0"]
    assert all(by_topic_and_numbers(None, [])(each) for each in EVERY)
    with pytest.raises(InvalidPattern, match=r"\(x is an invalid regex\."):
        by_topic_and_numbers("(x", [])
