"""Readers of single values. Each raises ValueError, or InvalidSetting, with a sentence that says what is wanted."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import Any, Final, TypeVar

from pykafka_classic.client.bootstrap import parse_bootstrap
from pykafka_classic.client.starts import AtTime, ByPartition, LastN, PartitionStart, Start, Word, parse_start
from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.columns import COLUMNS

E = TypeVar("E", bound=Enum)

_DELAY: Final = re.compile(r"\s*([0-9]{1,9})\s*(ms|s|m|min|h)?\s*")
_DELAY_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, None: 1}
_BOOLEANS: Final = {"true": True, "false": False}


def batch_end(text: str) -> Start:
    """Where a batch ends."""
    end = parse_start(text)
    ends = set(end.starts.values()) if isinstance(end, ByPartition) else {end}
    if ends & {Word.EARLIEST, Word.COMMITTED}:
        raise ValueError("a batch cannot end at earliest, nor at what is committed")
    return end


def column_names(text: str) -> tuple[str, ...]:
    """Some of the columns, in the order given."""
    by_name = {name.lower(): name for name in COLUMNS}
    names = [each.strip() for each in text.split(",") if each.strip()]
    unknown = [name for name in names if name.lower() not in by_name]
    if unknown or not names or len({name.lower() for name in names}) != len(names):
        raise ValueError(f"{', '.join(unknown) or text!r:.80} is not some of {', '.join(COLUMNS)}, each once")
    return tuple(by_name[name.lower()] for name in names)


def topic_names(text: str) -> tuple[str, ...]:
    """With commas between them."""
    names = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if not names:
        raise ValueError("it names no topic")
    return names


def pattern(text: str) -> str:
    """A regular expression."""
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from error
    return text


def assigned(text: str) -> tuple[TopicPartition, ...]:
    """Partitions as JSON."""
    try:
        topics = json.loads(text)
        found = tuple(TopicPartition(topic, number) for topic, numbers in topics.items() for number in numbers)
    except (json.JSONDecodeError, AttributeError, TypeError):
        found = ()
    if not found or not all(isinstance(each.partition, int) and not isinstance(each.partition, bool) and each.partition >= 0 for each in found):
        raise ValueError(f'{text!r:.80} is not JSON of the form {{"topic": [0, 1]}}')
    return found


def time(text: str) -> Start:
    """Milliseconds since the epoch."""
    return AtTime(number(text, 0))


def times(text: str) -> Start:
    """Times by partition as JSON."""
    parsed = parse_start(text)
    if not isinstance(parsed, ByPartition):
        raise ValueError(f'{text!r:.80} is not JSON of the form {{"topic": {{"0": 1700000000000}}}}')
    return ByPartition({partition: _as_time(each) for partition, each in parsed.starts.items()})


def _as_time(start: PartitionStart) -> PartitionStart:
    if isinstance(start, Word | AtTime | LastN):
        raise ValueError(f"{start} is no time: milliseconds since the epoch are wanted")
    return AtTime(start.offset)


def isolation(text: str) -> str:
    """One of Kafka's two."""
    if text.lower() not in {"read_uncommitted", "read_committed"}:
        raise ValueError(f"{text!r} is not read_uncommitted or read_committed")
    return text.lower()


def bootstrap(text: str) -> str:
    """Addresses."""
    parse_bootstrap(text)
    return text


def number(text: str, least: int) -> int:
    """A whole number that is not less than `least`."""
    if not (text.isascii() and text.lstrip("-").isdecimal() and len(text) < 20):
        raise ValueError(f"{text!r:.40} is not a whole number")
    if int(text) < least:
        raise ValueError(f"{text} is less than {least}")
    return int(text)


def delay_ms(text: str) -> int:
    """A time with a unit; milliseconds without."""
    found = _DELAY.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r:.40} is no time: 500ms, 30s, 15m or 2h is wanted")
    return int(found[1]) * _DELAY_MS[found[2]]


def boolean(text: str) -> bool:
    """true or false, as Spark writes them."""
    if text.lower() not in _BOOLEANS:
        raise ValueError(f"{text!r:.40} is not true or false")
    return _BOOLEANS[text.lower()]


def choice(text: str, kind: type[E]) -> E:
    """A member of an enumeration, by its value."""
    known: dict[Any, E] = {each.value: each for each in kind}
    if text.lower() not in known:
        raise ValueError(f"{text!r:.40} is not one of {', '.join(known)}")
    return known[text.lower()]
