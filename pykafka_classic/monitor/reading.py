"""What people ask of a store: the timeline, and why. Here the pure parts (timeline, why) meet the reader."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Final

from pykafka_classic.monitor.store.answers import Span
from pykafka_classic.monitor.store.reader import StoreReader
from pykafka_classic.monitor.timeline import TimelineLine, folded, timeline, with_causes
from pykafka_classic.monitor.why import Answer, Unknown, Why

FETCHED_MAX: Final = 20_000  # changes, and events, of which a timeline is made
QUESTIONS: Final = "TOPIC-PARTITION, broker N, group G"
_PARTITION: Final = re.compile(r"(.+)-(\d+)")


def read_timeline(reader: StoreReader, cluster: str, span: Span, *, subject: str | None = None, fold: bool = True) -> list[TimelineLine]:
    """What happened in a span, the earliest first, in order of cause.

    With a subject (flights-0, topic flights, broker 3, group G, controller): what is about it, and what led to that. Without one, and with `fold`, steps that
    are told of many partitions at once stand there twice, with a number for the others.
    """
    much = replace(span, limit=max(span.limit, FETCHED_MAX))  # what led to a line may be far from it
    changes = reader.znode_changes(cluster, much, offsets=False)
    events = reader.broker_events(cluster, much)
    groups = reader.group_changes(cluster, much)
    gaps = [gap for gap in reader.gaps(span.since_ms) if gap.to_ms <= span.end_ms]
    lines = timeline(changes, events, groups, gaps)
    if subject is not None:
        lines = with_causes(lines, subject)
    elif fold:
        lines = folded(lines)
    return lines[-span.limit :]


def explain(reader: StoreReader, cluster: str, question: str, t_ms: int | None = None) -> Answer:
    """Why something is as it is, or was. `question`: one of QUESTIONS. Raises Unknown, and UnknownCluster; the texts are for the user."""
    why = Why(reader, cluster, clock_time, t_ms)
    words = question.split(maxsplit=1)
    if len(words) == 2 and words[0] == "broker" and words[1].isdecimal():
        return why.broker(int(words[1]))
    if len(words) == 2 and words[0] == "group":
        return why.group(words[1])
    partition = _PARTITION.fullmatch(question)
    if partition is None:
        raise Unknown(f"{question!r} is no question: {QUESTIONS}.")
    return why.partition(partition[1], int(partition[2]))


def clock_time(t_ms: int) -> str:
    """14:03:11, with the day before it where that is not today."""
    moment = time.localtime(t_ms / 1000)
    today = time.localtime()
    same_day = (moment.tm_year, moment.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M:%S", moment)
