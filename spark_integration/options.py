"""The options of the source: read, checked, and explained in words before anything else happens.

`OPTIONS` is the table: every option, its other names (those of the official connector, spark-sql-kafka-0-10), its default and what it means. Names are not
case-sensitive, as everywhere in Spark. docs/spark.md shows the same table; a test holds the two together.

An option that is not in the table, or whose value means nothing, is an `InvalidOption` that names it, raised when the source is loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final, TypeVar

from pykafka_classic.client.bootstrap import parse_bootstrap
from pykafka_classic.client.client_errors import InvalidSetting
from pykafka_classic.client.starts import AtTime, ByPartition, LastN, PartitionStart, Reset, Start, Word, parse_reset, parse_start
from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.columns import COLUMNS, HEADERS

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


class InvalidOption(ValueError):
    """An option that there is not, whose value means nothing, or that contradicts another; the text names it."""


class Membership(Enum):
    """`membership`: what the stream is to its group."""

    SOLE = "sole"
    SHARING = "sharing"
    NONE = "none"


class Storage(Enum):
    """`offsets.storage`: where the group keeps its offsets, and its members."""

    KAFKA = "kafka"
    ZOOKEEPER = "zookeeper"


class Resume(Enum):
    """`resume`: which wins where a checkpoint and the group's offsets disagree."""

    CHECKPOINT = "checkpoint"
    GROUP = "group"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Option:
    """A row of the table."""

    name: str
    default: str
    meaning: str
    aliases: tuple[str, ...] = ()


OPTIONS: Final = (
    Option("bootstrap.servers", "", "some brokers: host:port,host:port", ("kafka.bootstrap.servers",)),
    Option("zookeeper.connect", "", "the cluster's ZooKeeper; instead of bootstrap.servers, or for offsets.storage zookeeper", ("kafka.zookeeper.connect",)),
    Option("subscribe", "", "topics, with commas between them"),
    Option("subscribePattern", "", "a regular expression that whole names of topics match; topics that come later too"),
    Option("assign", "", 'partitions: {"flights": [0, 2]}; for reading without membership'),
    Option("group.id", "", "the group that the job reads for; without one nothing is committed", ("kafka.group.id",)),
    Option("start", "committed with a group; else earliest in batch, latest in a stream", "where reading begins: docs/starts.md", ("startingOffsets",)),
    Option("end", "latest", "where a batch ends: latest, an offset, @time, or JSON by topic and partition; not included", ("endingOffsets",)),
    Option("startingTimestamp", "", "start at that time: milliseconds since the epoch"),
    Option("endingTimestamp", "", "end at that time"),
    Option("startingOffsetsByTimestamp", "", 'start at times: {"flights": {"0": 1700000000000}}'),
    Option("endingOffsetsByTimestamp", "", "end at times"),
    Option("startingOffsetsByTimestampStrategy", "error", "where no record is as late as the time asked for: error, or latest"),
    Option("auto.offset.reset", "earliest", "where the group has committed nothing: earliest, latest, none (an error)", ("kafka.auto.offset.reset",)),
    Option("membership", "sole", "what a stream is in its group: sole (refuses to share), sharing, none"),
    Option("offsets.storage", "kafka", "kafka: __consumer_offsets; zookeeper: /consumers/GROUP/offsets", ("kafka.offsets.storage",)),
    Option("resume", "checkpoint", "who wins where a checkpoint and the group disagree: checkpoint, group, fail"),
    Option("failOnDataLoss", "true", "fail where records to be read are gone; false: log it and read on at the first one there is"),
    Option("minPartitions", "", "at least so many Spark tasks, if there are as many records: large ranges are split"),
    Option("maxRecordsPerPartition", "", "at most so many offsets in a Spark task"),
    Option("maxOffsetsPerTrigger", "", "at most so many offsets in a micro-batch, shared out by what each partition has", ("maxTriggerOffsets",)),
    Option("minOffsetsPerTrigger", "", "wait for so many, but not longer than maxTriggerDelay"),
    Option("maxTriggerDelay", "15m", "the longest such wait: 500ms, 30s, 15m, 2h"),
    Option("includeHeaders", "false", "a column of headers"),
    Option("columns", "all", "the columns that are wanted, with commas; the others are not even decoded"),
    Option("isolation.level", "read_uncommitted", "read_committed hides what transactions did not commit", ("kafka.isolation.level",)),
    Option("client.id", "spark-GROUP", "what brokers and kafka-consumer-groups call the job", ("kafka.client.id",)),
    Option("groupIdPrefix", "", "as client.id, where there is no group: the official connector's name"),
    Option("session.timeout.ms", "10000", "how long after its death the group keeps the job's partitions", ("kafka.session.timeout.ms",)),
    Option("heartbeat.interval.ms", "3000", "how often the job says that it is there", ("kafka.heartbeat.interval.ms",)),
    Option("max.poll.interval.ms", "300000", "sharing: the longest micro-batch during which partitions are kept", ("kafka.max.poll.interval.ms",)),
    Option("metadata.max.age.ms", "30000", "sharing: how soon new topics and partitions are noticed", ("kafka.metadata.max.age.ms",)),
    Option("partition.assignment.strategy", "range", "sharing: how partitions are divided", ("kafka.partition.assignment.strategy",)),
    Option("request.timeout.ms", "30000", "how long a broker may take for an answer", ("kafka.request.timeout.ms", "fetchOffset.retryIntervalMs")),
    Option("default.api.timeout.ms", "60000", "how long planning tries while leaders or coordinators move", ("kafka.default.api.timeout.ms",)),
    Option("fetch.max.bytes", "52428800", "at most so much in an answer to an executor", ("kafka.fetch.max.bytes",)),
)
# Accepted, for jobs of the official connector have them; they mean nothing here.
WITHOUT_MEANING: Final = frozenset({"kafkaconsumer.polltimeoutms", "fetchoffset.numretries", "kafka.security.protocol", "kafka.key.deserializer"})

_NAMES: Final = {spelled.lower(): option.name for option in OPTIONS for spelled in (option.name, *option.aliases)}
_STARTS: Final = ("start", "startingTimestamp", "startingOffsetsByTimestamp")
_ENDS: Final = ("end", "endingTimestamp", "endingOffsetsByTimestamp")
_TOPICS: Final = ("subscribe", "subscribePattern", "assign")
_DELAY: Final = re.compile(r"\s*([0-9]{1,9})\s*(ms|s|m|min|h)?\s*")
_DELAY_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, None: 1}
_BOOLEANS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Topics:
    """What to read; exactly one is set."""

    names: tuple[str, ...] = ()
    pattern: str = ""
    partitions: tuple[TopicPartition, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a micro-batch and a task may hold; None: no limit."""

    max_offsets: int | None = None
    min_offsets: int | None = None
    max_delay_ms: int = 900_000
    min_partitions: int | None = None
    max_per_partition: int | None = None


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """The job as a member of its group."""

    group_id: str
    membership: Membership
    storage: Storage
    resume: Resume
    session_timeout_ms: int
    heartbeat_interval_ms: int
    max_poll_interval_ms: int
    metadata_max_age_ms: int
    strategy: str


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """All options of a source, checked. `start` and `end` None: the default, which depends on what kind of reading it is."""

    bootstrap_servers: str  # "": to be found in ZooKeeper
    zookeeper_connect: str  # "": none is known
    topics: Topics
    group: GroupOptions | None
    start: Start | None
    end: Start | None
    reset: Reset
    strict_times: bool  # a time that no record has is an error
    fail_on_data_loss: bool
    limits: Limits
    columns: tuple[str, ...]
    isolation: str
    client_id: str
    request_timeout_ms: int
    api_timeout_ms: int
    fetch_max_bytes: int

    @property
    def include_headers(self) -> bool:
        """Whether the headers are to be decoded."""
        return HEADERS in self.columns


class _Given:
    """The options as they were given, by the names of the table."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._values: dict[str, str] = {}
        self._spelled: dict[str, str] = {}
        for spelled, value in options.items():
            if spelled.lower() in WITHOUT_MEANING:
                continue
            name = _NAMES.get(spelled.lower())
            if name is None:
                raise InvalidOption(_unknown(spelled))
            if name in self._values and self._values[name] != value:
                raise InvalidOption(f"options {self._spelled[name]!r} and {spelled!r} mean the same, and have two values")
            self._values[name], self._spelled[name] = value, spelled

    def spelled(self, name: str) -> str:
        """As the user wrote it."""
        return self._spelled.get(name, name)

    def has(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str, default: str = "") -> str:
        return self._values.get(name, default).strip()

    def read(self, name: str, reader: Callable[[str], T], default: T) -> T:
        """The value, read; InvalidOption with the reader's sentence where it cannot be."""
        if not self.has(name):
            return default
        try:
            return reader(self.text(name))
        except (InvalidSetting, ValueError) as error:
            raise InvalidOption(f"option {self.spelled(name)!r}: {error}") from error

    def number(self, name: str, default: int, *, least: int = 1) -> int:
        return self.read(name, lambda text: _number(text, least), default)

    def limit(self, name: str) -> int | None:
        return self.number(name, 0) or None

    def boolean(self, name: str, *, default: bool) -> bool:
        return self.read(name, _boolean, default)

    def choice(self, name: str, kind: type[E], default: E) -> E:
        return self.read(name, lambda text: _choice(text, kind), default)

    def only_one(self, names: tuple[str, ...]) -> str | None:
        given = [name for name in names if self.has(name)]
        if len(given) > 1:
            raise InvalidOption(f"options {self.spelled(given[0])!r} and {self.spelled(given[1])!r} contradict each other: give one of them")
        return given[0] if given else None


def parse_options(options: Mapping[str, str]) -> SourceOptions:
    """Read all options. InvalidOption.

    >>> parse_options({"kafka.bootstrap.servers": "localhost:9092", "subscribe": "flights, airports", "group.id": "radar"}).topics.names
    ('flights', 'airports')
    """
    given = _Given(options)
    group = _group(given)
    if not given.text("bootstrap.servers") and not given.text("zookeeper.connect"):
        raise InvalidOption("option 'bootstrap.servers' is missing: where is a broker? (or 'zookeeper.connect')")
    if group is not None and group.storage is Storage.ZOOKEEPER and not given.text("zookeeper.connect"):
        raise InvalidOption(f"option {given.spelled('offsets.storage')!r} is zookeeper: 'zookeeper.connect' must say where that is")
    start, end = _start(given), _end(given)
    if start is Word.COMMITTED and group is None:
        raise InvalidOption(f"option {given.spelled('start')!r} is committed: 'group.id' must say by whom")
    return SourceOptions(
        bootstrap_servers=given.read("bootstrap.servers", _bootstrap, ""),
        zookeeper_connect=given.text("zookeeper.connect"),
        topics=_topics(given, group),
        group=group,
        start=start,
        end=end,
        reset=given.read("auto.offset.reset", parse_reset, Reset.EARLIEST),
        strict_times=not given.has("start") and _strategy(given),
        fail_on_data_loss=given.boolean("failOnDataLoss", default=True),
        limits=_limits(given),
        columns=_columns(given),
        isolation=given.read("isolation.level", _isolation, "read_uncommitted"),
        client_id=given.text("client.id") or given.text("groupIdPrefix") or (f"spark-{group.group_id}" if group else "spark"),
        request_timeout_ms=given.number("request.timeout.ms", 30_000),
        api_timeout_ms=given.number("default.api.timeout.ms", 60_000),
        fetch_max_bytes=given.number("fetch.max.bytes", 52_428_800),
    )


def _group(given: _Given) -> GroupOptions | None:
    membership = given.choice("membership", Membership, Membership.SOLE)
    storage = given.choice("offsets.storage", Storage, Storage.KAFKA)
    resume = given.choice("resume", Resume, Resume.CHECKPOINT)
    if not given.has("group.id"):
        needing = next((name for name in ("membership", "offsets.storage", "resume") if given.has(name)), None)
        if needing is not None:
            raise InvalidOption(f"option {given.spelled(needing)!r} is about a group, and there is no 'group.id'")
        return None
    group_id = given.text("group.id")
    if not group_id or (storage is Storage.ZOOKEEPER and "/" in group_id):
        raise InvalidOption(f"option {given.spelled('group.id')!r} is {group_id!r}, which cannot be the name of a group")
    return GroupOptions(
        group_id=group_id,
        membership=membership,
        storage=storage,
        resume=resume,
        session_timeout_ms=given.number("session.timeout.ms", 10_000),
        heartbeat_interval_ms=given.number("heartbeat.interval.ms", 3_000),
        max_poll_interval_ms=given.number("max.poll.interval.ms", 300_000),
        metadata_max_age_ms=given.number("metadata.max.age.ms", 30_000),
        strategy=given.text("partition.assignment.strategy", "range"),
    )


def _topics(given: _Given, group: GroupOptions | None) -> Topics:
    chosen = given.only_one(_TOPICS)
    if chosen is None:
        raise InvalidOption("nothing to read: give one of the options 'subscribe', 'subscribePattern' and 'assign'")
    if chosen == "assign" and group is not None and group.membership is Membership.SHARING:
        raise InvalidOption(f"option {given.spelled('assign')!r} names the partitions, and membership sharing lets the group decide: give 'subscribe'")
    nothing = Topics()
    readers: dict[str, Callable[[str], Topics]] = {
        "subscribe": lambda text: Topics(names=_topic_names(text)),
        "subscribePattern": lambda text: Topics(pattern=_pattern(text)),
        "assign": lambda text: Topics(partitions=_assigned(text)),
    }
    return given.read(chosen, readers[chosen], nothing)


def _start(given: _Given) -> Start | None:
    readers: dict[str, Callable[[str], Start | None]] = {"start": parse_start, "startingTimestamp": _time, "startingOffsetsByTimestamp": _times}
    chosen = given.only_one(_STARTS)
    return None if chosen is None else given.read(chosen, readers[chosen], None)


def _end(given: _Given) -> Start | None:
    readers: dict[str, Callable[[str], Start | None]] = {"end": _parse_end, "endingTimestamp": _time, "endingOffsetsByTimestamp": _times}
    chosen = given.only_one(_ENDS)
    return None if chosen is None else given.read(chosen, readers[chosen], None)


def _parse_end(text: str) -> Start:
    end = parse_start(text)
    ends = set(end.starts.values()) if isinstance(end, ByPartition) else {end}
    if ends & {Word.EARLIEST, Word.COMMITTED}:
        raise InvalidOption("a batch cannot end at earliest, nor at what is committed")
    return end


def _limits(given: _Given) -> Limits:
    limits = Limits(
        max_offsets=given.limit("maxOffsetsPerTrigger"),
        min_offsets=given.limit("minOffsetsPerTrigger"),
        max_delay_ms=given.read("maxTriggerDelay", _delay_ms, 900_000),
        min_partitions=given.limit("minPartitions"),
        max_per_partition=given.limit("maxRecordsPerPartition"),
    )
    if limits.max_offsets is not None and limits.min_offsets is not None and limits.min_offsets > limits.max_offsets:
        raise InvalidOption(f"option 'minOffsetsPerTrigger' is {limits.min_offsets}, more than 'maxOffsetsPerTrigger', which is {limits.max_offsets}")
    return limits


def _columns(given: _Given) -> tuple[str, ...]:
    includes = given.boolean("includeHeaders", default=False)
    every = tuple(name for name in COLUMNS if includes or name != HEADERS)
    chosen = given.read("columns", _column_names, every)
    if includes and HEADERS not in chosen:
        raise InvalidOption("option 'includeHeaders' is true, and 'columns' does not name headers")
    return chosen


def _column_names(text: str) -> tuple[str, ...]:
    by_name = {name.lower(): name for name in COLUMNS}
    names = [each.strip() for each in text.split(",") if each.strip()]
    unknown = [name for name in names if name.lower() not in by_name]
    if unknown or not names or len({name.lower() for name in names}) != len(names):
        raise ValueError(f"{', '.join(unknown) or text!r} is not some of {', '.join(COLUMNS)}, each once")
    return tuple(by_name[name.lower()] for name in names)


def _topic_names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if not names:
        raise ValueError("it names no topic")
    return names


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from error
    return text


def _assigned(text: str) -> tuple[TopicPartition, ...]:
    try:
        topics = json.loads(text)
        found = tuple(TopicPartition(topic, number) for topic, numbers in topics.items() for number in numbers)
    except (json.JSONDecodeError, AttributeError, TypeError):
        found = ()
    if not found or not all(isinstance(each.partition, int) and not isinstance(each.partition, bool) and each.partition >= 0 for each in found):
        raise ValueError(f'{text!r:.80} is not JSON of the form {{"topic": [0, 1]}}')
    return found


def _time(text: str) -> Start:
    return AtTime(_number(text, 0))


def _times(text: str) -> Start:
    parsed = parse_start(text)
    if not isinstance(parsed, ByPartition):
        raise ValueError(f'{text!r:.80} is not JSON of the form {{"topic": {{"0": 1700000000000}}}}')
    return ByPartition({partition: _as_time(each) for partition, each in parsed.starts.items()})


def _as_time(start: PartitionStart) -> PartitionStart:
    if isinstance(start, Word | AtTime | LastN):
        raise ValueError(f"{start} is no time: milliseconds since the epoch are wanted")
    return AtTime(start.offset)


def _strategy(given: _Given) -> bool:
    strategy = given.text("startingOffsetsByTimestampStrategy", "error").lower()
    if strategy not in {"error", "latest"}:
        raise InvalidOption(f"option 'startingOffsetsByTimestampStrategy' is {strategy!r}, not error or latest")
    return strategy == "error"


def _isolation(text: str) -> str:
    if text not in {"read_uncommitted", "read_committed"}:
        raise ValueError(f"{text!r} is not read_uncommitted or read_committed")
    return text


def _bootstrap(text: str) -> str:
    parse_bootstrap(text)
    return text


def _number(text: str, least: int) -> int:
    if not (text.isascii() and text.lstrip("-").isdecimal() and len(text) < 20):
        raise ValueError(f"{text!r:.40} is not a whole number")
    if int(text) < least:
        raise ValueError(f"{text} is less than {least}")
    return int(text)


def _delay_ms(text: str) -> int:
    found = _DELAY.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r:.40} is no time: 500ms, 30s, 15m or 2h is wanted")
    return int(found[1]) * _DELAY_MS[found[2]]


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError(f"{text!r:.40} is not true or false")
    return _BOOLEANS[text.lower()]


def _choice(text: str, kind: type[E]) -> E:
    known: dict[Any, E] = {each.value: each for each in kind}
    if text.lower() not in known:
        raise ValueError(f"{text!r:.40} is not one of {', '.join(known)}")
    return known[text.lower()]


def _unknown(spelled: str) -> str:
    alike = get_close_matches(spelled.lower(), _NAMES, n=1)
    return f"there is no option {spelled!r}" + (f"; is {_NAMES[alike[0]]!r} meant?" if alike else "; docs/spark.md has a table of all")
