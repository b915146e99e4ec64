"""Which partitions kafka-get-offsets is asked for in the form of Kafka 3: a pattern of topics and some numbers, or `--topic-partitions`.

| `--topic-partitions` | which |
|---|---|
| `flights` | all partitions of topics that match |
| `flights:3` | one |
| `flights:3-5` | 3 and 4 |
| `flights:3-`, `flights:-3` | from 3 on; up to 2 |
| `:0` | of all topics |

Patterns are regular expressions that match the whole name. Source: facts/tools.md 13; 3.9 GetOffsetShell.java, PartitionFilter.java, TopicFilter.java.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition

Filter = Callable[[TopicPartition], bool]

ANY_TOPIC: Final = ".*"
_RULE: Final = re.compile(r"([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?")


class InvalidPattern(Exception):
    """Not a pattern; the text is a sentence."""


def by_topic_and_numbers(topic: str | None, numbers: Sequence[int]) -> Filter:
    """Partitions of topics that match, these only if any are named."""
    matches = _topics(ANY_TOPIC if topic is None else topic)
    return lambda each: matches(each.topic) and (not numbers or each.partition in numbers)


def by_rules(text: str) -> Filter:
    """Partitions that one of the rules of `--topic-partitions` wants."""
    rules = [_rule(word) for word in text.split(",")]
    return lambda each: any(rule(each) for rule in rules)


def _rule(text: str) -> Filter:
    found = _RULE.fullmatch(text)
    if found is None:
        raise InvalidPattern(f"Invalid rule specification: {text}")
    topic, single, low, high = (group or None for group in found.groups())
    matches = _topics(topic or ANY_TOPIC)
    if single is not None:
        return lambda each: matches(each.topic) and each.partition == int(single)
    return lambda each: matches(each.topic) and int(low or 0) <= each.partition and (high is None or each.partition < int(high))


def _topics(text: str) -> Callable[[str], bool]:
    pattern = text.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise InvalidPattern(f"{pattern} is an invalid regex.") from error
    return lambda topic: compiled.fullmatch(topic) is not None
