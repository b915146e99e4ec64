"""Messages: what lies in a topic, by partition, offset or time; and a form to produce one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.client.admin.offsets import EARLIEST, LATEST
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.client.partition_reader import PartitionReader
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.web.decoding import FORMATS, ShownRecord, fits, shown_record
from pykafka_classic.monitor.web.exchange import JSON, Response, bad_request, not_found
from pykafka_classic.monitor.web.fields import NUMBER, TEXT, Field
from pykafka_classic.monitor.web.jsonable import encoded
from pykafka_classic.monitor.web.operations.operation import API, refusing
from pykafka_classic.monitor.web.operations.topics import INT32_MAX
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import Page, View
from pykafka_classic.monitor.web.work import Work

LIMIT: Final = 50
LIMIT_MAX: Final = 500
FETCH_BYTES: Final = 256 << 10
SEARCHED: Final = 10_000  # the last records of each partition, in search of a text from nowhere in particular
FETCHES_MAX: Final = 40  # of one partition, in search of a text
QUERY: Final = (
    Field("partition", NUMBER, "Of this partition; missing: of all.", most=INT32_MAX),
    Field("offset", NUMBER, "From this offset on."),
    Field("time", NUMBER, "From the first record on that is as late as this, in ms since 1970."),
    Field("limit", NUMBER, "So many records; without offset and time the last ones.", default=LIMIT, least=1, most=LIMIT_MAX),
    Field("q", TEXT, "Only with this text in key, value or headers."),
    Field("format", TEXT, "How values are shown.", default="auto", choices=FORMATS),
)


@dataclass(frozen=True, slots=True)
class Ends:
    """A partition's log."""

    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Messages:
    """What was found. `looked_at`: records that were fetched for it; `more`: the search was ended before the end of the log."""

    records: tuple[ShownRecord, ...]
    ends: tuple[Ends, ...]
    looked_at: int
    more: bool


@ROUTES.page("/c/{cluster}/messages")
def topics(view: View) -> Page:
    """Of which topic?"""
    return Page("messages_topics.html", "Messages", {"topics": view.reader.topics_at(view.cluster)})


@ROUTES.action("GET", "/c/{cluster}/topics/{topic}/messages")
async def messages(work: Work) -> Response:
    """The page."""
    asked = _asked(work)
    found, error = Messages((), (), 0, more=False), ""
    partitions = await _partitions(work, None)
    try:
        found = await look(work, asked)
    except KafkaError as failure:
        error = str(failure)
    values = {"topic": work.request.parts["topic"], "asked": asked, "found": found, "error": error, "formats": FORMATS, "partitions": partitions}
    return await work.page(Page("messages.html", f"Messages in {work.request.parts['topic']}", values))


@ROUTES.action("GET", f"{API}/topics/{{topic}}/messages", tag="messages", summary="Records of a topic.", query=QUERY, answers=Messages)
async def messages_as_json(work: Work) -> Response:
    """The same as JSON."""
    found = await refusing(look(work, _asked(work)))
    return Response(body=encoded(found), content_type=JSON)


def _asked(work: Work) -> dict[str, Any]:
    """Raises Refused."""
    request = work.request
    form = request.text("format", "auto")
    if form not in FORMATS:
        raise bad_request(f"format must be one of {', '.join(FORMATS)}.")
    return {
        "partition": request.integer("partition", most=INT32_MAX),
        "offset": request.integer("offset"),
        "time": request.integer("time"),
        "limit": request.number("limit", LIMIT, least=1, most=LIMIT_MAX),
        "q": request.text("q"),
        "format": form,
    }


async def look(work: Work, asked: Mapping[str, Any]) -> Messages:
    """Fetch and sift. Raises KafkaError, Refused."""
    partitions = await _partitions(work, asked["partition"])
    admin = work.collector.admin.core
    starts = (await admin.list_offsets(dict.fromkeys(partitions, EARLIEST))).check()
    ends = (await admin.list_offsets(dict.fromkeys(partitions, LATEST))).check()
    timed = (await admin.list_offsets(dict.fromkeys(partitions, asked["time"]))).check() if asked["time"] is not None else {}
    ends_found = [Ends(each.partition, starts[each].offset, ends[each].offset) for each in partitions]

    def begin(each: TopicPartition) -> int:
        start, end = starts[each].offset, ends[each].offset
        offset: int | None = asked["offset"]
        if offset is not None:
            return min(max(offset, start), end)
        if each in timed:
            return timed[each].offset if timed[each].offset >= 0 else end
        back: int = asked["limit"] if not asked["q"] else SEARCHED
        return max(start, end - back)

    searches = [spawn(_search(work, each, (begin(each), ends[each].offset), asked)) for each in partitions]
    told = await gather(searches)
    records = sorted((record for part, _, _ in told for record in part), key=lambda each: (each.timestamp, each.partition, each.offset))
    forwards = asked["offset"] is not None or asked["time"] is not None
    chosen = records[: asked["limit"]] if forwards else records[-asked["limit"] :][::-1]
    return Messages(
        tuple(shown_record(each, asked["format"]) for each in chosen), tuple(ends_found), sum(count for _, count, _ in told), any(more for *_, more in told)
    )


async def _search(work: Work, partition: TopicPartition, span: tuple[int, int], asked: Mapping[str, Any]) -> tuple[list[ConsumerRecord], int, bool]:
    """Those that fit, how many were looked at, and whether it was given up early."""
    reader = PartitionReader(work.collector.admin.core.requests)
    position, end = span
    found: list[ConsumerRecord] = []
    looked_at = 0
    for _ in range(FETCHES_MAX):
        if position >= end or (len(found) >= asked["limit"] and (asked["offset"] is not None or asked["time"] is not None)):
            return found, looked_at, False
        fetched = (await reader.fetch(partition, position, max_bytes=FETCH_BYTES)).fetched
        looked_at += len(fetched.records)
        found += [record for record in fetched.records if record.offset < end and fits(record, asked["q"])]
        if fetched.next_offset == position:
            return found, looked_at, False
        position = fetched.next_offset
    return found, looked_at, position < end


async def _partitions(work: Work, wanted: int | None) -> list[TopicPartition]:
    """Raises Refused."""
    topic = work.request.parts["topic"]
    states = await work.read(lambda: work.app.monitor.reader.partitions_at(work.cluster, topic=topic))
    if not states:
        raise not_found(f"Cluster {work.cluster} has no topic {topic!r}.")
    chosen = [TopicPartition(topic, each.partition) for each in states if wanted in (None, each.partition)]
    if not chosen:
        raise not_found(f"{topic} has no partition {wanted}.")
    return chosen
