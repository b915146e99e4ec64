"""The options of the source: read, checked, and explained in words before anything else happens.

`option_table` has the table and reads by names, `option_values` reads single values; here they become one frozen value. An option that is not in the table,
or whose value means nothing, is an `InvalidOption` that names it, raised when the source is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pykafka_classic.assignors.sole_owner import NAME as SOLE_OWNER
from pykafka_classic.client.consumer_settings import ConsumerSettings as OldConsumerSettings
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.starts import Reset, Start, Word, parse_reset, parse_start
from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.columns import COLUMNS, HEADERS
from spark_integration.option_table import GivenOptions, InvalidOption
from spark_integration.option_values import assigned, batch_end, bootstrap, column_names, delay_ms, isolation, pattern, time, times, topic_names


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


RETRIES: Final = 10  # of a rebalance over ZooKeeper: one lost session of another member is outlived
_STARTS: Final = ("start", "startingTimestamp", "startingOffsetsByTimestamp")
_ENDS: Final = ("end", "endingTimestamp", "endingOffsetsByTimestamp")
_TOPICS: Final = ("subscribe", "subscribePattern", "assign")


@dataclass(frozen=True, slots=True)
class Topics:
    """What to read; exactly one is set."""

    names: tuple[str, ...] = ()
    pattern: str = ""
    partitions: tuple[TopicPartition, ...] = ()

    @property
    def option(self) -> str:
        """Which option says so."""
        return "assign" if self.partitions else "subscribePattern" if self.pattern else "subscribe"


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


def parse_options(options: Mapping[str, str]) -> SourceOptions:
    """Read all options. InvalidOption.

    >>> parse_options({"kafka.bootstrap.servers": "localhost:9092", "subscribe": "flights, airports", "group.id": "radar"}).topics.names
    ('flights', 'airports')
    """
    given = GivenOptions(options)
    group = _group(given)
    if not given.text("bootstrap.servers") and not given.text("zookeeper.connect"):
        raise InvalidOption("option 'bootstrap.servers' is missing: where is a broker? (or 'zookeeper.connect')")
    if group is not None and group.storage is Storage.ZOOKEEPER and not given.text("zookeeper.connect"):
        raise InvalidOption(f"option {given.spelled('offsets.storage')!r} is zookeeper: 'zookeeper.connect' must say where that is")
    start, end = _start(given), _end(given)
    if start is Word.COMMITTED and group is None:
        raise InvalidOption(f"option {given.spelled('start')!r} is committed: 'group.id' must say by whom")
    return SourceOptions(
        bootstrap_servers=given.read("bootstrap.servers", bootstrap, ""),
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
        isolation=given.read("isolation.level", isolation, "read_uncommitted"),
        client_id=given.text("client.id") or given.text("groupIdPrefix") or (f"spark-{group.group_id}" if group else "spark"),
        request_timeout_ms=given.number("request.timeout.ms", 30_000),
        api_timeout_ms=given.number("default.api.timeout.ms", 60_000),
        fetch_max_bytes=given.number("fetch.max.bytes", 52_428_800),
    )


def _group(given: GivenOptions) -> GroupOptions | None:
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
    options = GroupOptions(
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
    try:
        old_member_settings(options) if storage is Storage.ZOOKEEPER else member_settings(options, "localhost")
    except ValueError as error:
        raise InvalidOption(f"the options of a member of group {group_id!r}: {error}") from error
    return options


def old_member_settings(group: GroupOptions) -> OldConsumerSettings:
    """The job as a member of a group of ZooKeeper's era. ValueError where they make no sense."""
    return OldConsumerSettings(group.group_id, partition_assignment_strategy=group.strategy, auto_offset_reset="smallest", rebalance_max_retries=RETRIES)


def member_settings(group: GroupOptions, bootstrap: str) -> ConsumerSettings:
    """The job as a member of a group whose coordinator is a broker. InvalidSetting where they make no sense."""
    return ConsumerSettings(
        bootstrap_servers=bootstrap,
        group_id=group.group_id,
        partition_assignment_strategy=SOLE_OWNER if group.membership is Membership.SOLE else group.strategy,
        session_timeout_ms=group.session_timeout_ms,
        heartbeat_interval_ms=group.heartbeat_interval_ms,
        max_poll_interval_ms=group.max_poll_interval_ms,
        metadata_max_age_ms=group.metadata_max_age_ms,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        allow_auto_create_topics=False,  # a topic that was deleted under the job stays deleted
    )


def _topics(given: GivenOptions, group: GroupOptions | None) -> Topics:
    chosen = given.only_one(_TOPICS)
    if chosen is None:
        raise InvalidOption("nothing to read: give one of the options 'subscribe', 'subscribePattern' and 'assign'")
    if chosen == "assign" and group is not None and group.membership is Membership.SHARING:
        raise InvalidOption(f"option {given.spelled('assign')!r} names the partitions, and membership sharing lets the group decide: give 'subscribe'")
    nothing = Topics()
    readers: dict[str, Callable[[str], Topics]] = {
        "subscribe": lambda text: Topics(names=topic_names(text)),
        "subscribePattern": lambda text: Topics(pattern=pattern(text)),
        "assign": lambda text: Topics(partitions=assigned(text)),
    }
    return given.read(chosen, readers[chosen], nothing)


def _start(given: GivenOptions) -> Start | None:
    readers: dict[str, Callable[[str], Start | None]] = {"start": parse_start, "startingTimestamp": time, "startingOffsetsByTimestamp": times}
    chosen = given.only_one(_STARTS)
    return None if chosen is None else given.read(chosen, readers[chosen], None)


def _end(given: GivenOptions) -> Start | None:
    readers: dict[str, Callable[[str], Start | None]] = {"end": batch_end, "endingTimestamp": time, "endingOffsetsByTimestamp": times}
    chosen = given.only_one(_ENDS)
    return None if chosen is None else given.read(chosen, readers[chosen], None)


def _limits(given: GivenOptions) -> Limits:
    limits = Limits(
        max_offsets=given.limit("maxOffsetsPerTrigger"),
        min_offsets=given.limit("minOffsetsPerTrigger"),
        max_delay_ms=given.read("maxTriggerDelay", delay_ms, 900_000),
        min_partitions=given.limit("minPartitions"),
        max_per_partition=given.limit("maxRecordsPerPartition"),
    )
    if limits.max_offsets is not None and limits.min_offsets is not None and limits.min_offsets > limits.max_offsets:
        raise InvalidOption(f"option 'minOffsetsPerTrigger' is {limits.min_offsets}, more than 'maxOffsetsPerTrigger', which is {limits.max_offsets}")
    return limits


def _columns(given: GivenOptions) -> tuple[str, ...]:
    includes = given.boolean("includeHeaders", default=False)
    every = tuple(name for name in COLUMNS if includes or name != HEADERS)
    chosen = given.read("columns", column_names, every)
    if includes and HEADERS not in chosen:
        raise InvalidOption("option 'includeHeaders' is true, and 'columns' does not name headers")
    return chosen


def _strategy(given: GivenOptions) -> bool:
    strategy = given.text("startingOffsetsByTimestampStrategy", "error").lower()
    if strategy not in {"error", "latest"}:
        raise InvalidOption(f"option 'startingOffsetsByTimestampStrategy' is {strategy!r}, not error or latest")
    return strategy == "error"
