"""The four starts: where reading begins, in one spelling for all that reads (the consumer, the console consumer, pkc, Spark).

| written | start |
|---|---|
| `earliest` (`beginning`, `smallest`) | 1: the first record that there is |
| `latest` (`end`, `largest`) | 2: behind the last one |
| `17` | 3: that offset, in every partition |
| `-5` | 3: the last 5 records of every partition |
| `@1700000000000`, `@2023-11-14T22:13:20Z` | 3: the first record of that time (ms since the epoch, or ISO 8601; without a zone: UTC) or later |
| `{"flights": {"0": 17, "1": "earliest", "2": -1}}` | 3: partition by partition; numbers as in Spark: -2 earliest, -1 latest |
| `committed` (`stored`) | 4: where the group last finished; the default where a group is named and has commits |
| `A..B` | from A up to B, B not included; either may be left out: `@t1..@t2`, `10..20`, `..latest` |

A committed offset may be missing, or gone: retention has deleted it. Then, and for the partitions that a JSON text leaves out, `auto.offset.reset` says what is
to be done: `earliest`, `latest`, or `none` (an error).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final, TypeAlias

from pykafka_classic.client.client_errors import InvalidSetting
from pykafka_classic.common.topic_partition import TopicPartition


class Word(Enum):
    """The starts that need no number."""

    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"


@dataclass(frozen=True, slots=True)
class AtOffset:
    """This offset."""

    offset: int


@dataclass(frozen=True, slots=True)
class LastN:
    """So many records before the end (fewer where compaction or transactions made holes)."""

    count: int


@dataclass(frozen=True, slots=True)
class AtTime:
    """The first record with this timestamp or a later one; behind the last where there is none."""

    timestamp_ms: int


PartitionStart: TypeAlias = Word | AtOffset | LastN | AtTime


@dataclass(frozen=True, slots=True)
class ByPartition:
    """Partition by partition; those left out: as `auto.offset.reset` says."""

    starts: Mapping[TopicPartition, PartitionStart]


Start: TypeAlias = PartitionStart | ByPartition


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` up to `end`, which is not included; None: no end, or the default start."""

    start: Start | None
    end: Start | None = None


class Reset(Enum):
    """`auto.offset.reset`."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


_WORDS: Final = {
    "earliest": Word.EARLIEST,
    "beginning": Word.EARLIEST,
    "smallest": Word.EARLIEST,
    "latest": Word.LATEST,
    "end": Word.LATEST,
    "largest": Word.LATEST,
    "committed": Word.COMMITTED,
    "stored": Word.COMMITTED,
}
_SPARK_EARLIEST: Final = -2
_SPARK_LATEST: Final = -1
_OFFSET: Final = re.compile(r"-?[0-9]{1,19}")
_OFFSET_MAX: Final = 2**63 - 1
_FORMS: Final = "earliest, latest, committed, an offset, -N (the last N), @time, or JSON by topic and partition"


def parse_start(text: str) -> Start:
    """One start. InvalidSetting with a sentence."""
    cleaned = text.strip()
    if cleaned.startswith("{"):
        return _parse_json(cleaned)
    return _parse_partition_start(cleaned)


def parse_span(text: str) -> Span:
    """A start, or two with `..` between them. InvalidSetting with a sentence."""
    first, dots, last = (text.strip(), "", "") if text.strip().startswith("{") else text.partition("..")
    span = Span(parse_start(first) if first.strip() else None, parse_start(last) if last.strip() else None)
    if dots and span.start is None and span.end is None:
        raise InvalidSetting(f"{text!r} has neither a start nor an end")
    if span.end is Word.EARLIEST:
        raise InvalidSetting(f"{text!r} ends before anything begins")
    return span


def parse_reset(text: str) -> Reset:
    """`auto.offset.reset`; 0.8's words smallest and largest, and librdkafka's, mean the same. InvalidSetting."""
    word = _WORDS.get(text.lower())
    if text.lower() in {"none", "error"}:
        return Reset.NONE
    if word is None or word is Word.COMMITTED:
        raise InvalidSetting(f"auto.offset.reset is {text!r:.80}, not earliest, latest or none")
    return Reset(word.value)


def _parse_partition_start(text: str) -> PartitionStart:
    word = _WORDS.get(text.lower())
    if word is not None:
        return word
    if _OFFSET.fullmatch(text):
        number = int(text)
        if abs(number) > _OFFSET_MAX:
            raise InvalidSetting(f"{text} is beyond any offset")
        return AtOffset(number) if number >= 0 and text[0] != "-" else LastN(-number)
    if text.startswith("@"):
        return AtTime(_parse_time(text[1:]))
    raise InvalidSetting(f"{text!r:.80} is no start: {_FORMS} is wanted")


def _parse_time(text: str) -> int:
    if text.isdecimal() and text.isascii():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidSetting(f"{text!r:.80} is no time: milliseconds since the epoch, or 2023-11-14T22:13:20Z, is wanted") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _parse_json(text: str) -> ByPartition:
    try:
        topics = json.loads(text)
        starts = {TopicPartition(topic, _partition(number)): _parse_value(value) for topic, some in topics.items() for number, value in some.items()}
    except (json.JSONDecodeError, AttributeError, RecursionError):
        raise InvalidSetting(f'{text!r:.80} is not JSON of the form {{"topic": {{"0": 17, "1": "earliest"}}}}') from None
    return ByPartition(starts)


def _partition(text: str) -> int:
    if not (text.isdecimal() and text.isascii()):
        raise InvalidSetting(f"{text!r:.80} is not the number of a partition")
    return int(text)


def _parse_value(value: Any) -> PartitionStart:
    if isinstance(value, str):
        return _parse_partition_start(value.strip())
    if not isinstance(value, int) or isinstance(value, bool) or not _SPARK_EARLIEST <= value <= _OFFSET_MAX:
        raise InvalidSetting(f"{value!r:.80} is no start of a partition: an offset, -2 (earliest), -1 (latest) or a text is wanted")
    return {_SPARK_EARLIEST: Word.EARLIEST, _SPARK_LATEST: Word.LATEST}.get(value) or AtOffset(value)
