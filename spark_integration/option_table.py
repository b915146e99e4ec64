"""The table of the options, and how they are read by their names.

Every option, its other names (those of the official connector, spark-sql-kafka-0-10), its default and what it means. Names are not case-sensitive, as
everywhere in Spark. docs/spark.md shows the same table; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Final, TypeVar

from pykafka_classic.client.client_errors import InvalidSetting
from spark_integration.option_values import boolean, choice, number

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


class InvalidOption(ValueError):
    """An option that there is not, whose value means nothing, or that contradicts another; the text names it."""


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
    Option("request.timeout.ms", "30000", "how long a broker may take for an answer", ("kafka.request.timeout.ms",)),
    Option("default.api.timeout.ms", "60000", "how long planning tries while leaders or coordinators move", ("kafka.default.api.timeout.ms",)),
    Option("fetch.max.bytes", "52428800", "at most so much in an answer to an executor", ("kafka.fetch.max.bytes",)),
)
# Accepted, for jobs of the official connector have them; they mean nothing here, and change nothing of what is read.
_TUNING: Final = (
    "check.crcs client.dns.lookup connections.max.idle.ms fetch.max.wait.ms fetch.min.bytes max.partition.fetch.bytes max.poll.records receive.buffer.bytes"
    " reconnect.backoff.max.ms reconnect.backoff.ms retry.backoff.ms send.buffer.bytes"
)
WITHOUT_MEANING: Final = frozenset(
    {"kafkaconsumer.polltimeoutms", "fetchoffset.numretries", "fetchoffset.retryintervalms", *(f"kafka.{name}" for name in _TUNING.split())}
)
SECURITY: Final = "kafka.security.protocol"  # accepted for the one value that is true
PLAINTEXT: Final = "PLAINTEXT"
_NAMES: Final = {spelled.lower(): option.name for option in OPTIONS for spelled in (option.name, *option.aliases)}


class GivenOptions:
    """The options as they were given, by the names of the table."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._values: dict[str, str] = {}
        self._spelled: dict[str, str] = {}
        for spelled, value in options.items():
            if spelled.lower() in WITHOUT_MEANING:
                continue
            if spelled.lower() == SECURITY:
                if value.upper() != PLAINTEXT:
                    raise InvalidOption(f"option {spelled!r} is {value!r:.40}, and brokers are spoken to in {PLAINTEXT} only")
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
        """Whether it was given, by whatever name."""
        return name in self._values

    def text(self, name: str, default: str = "") -> str:
        """As it was given."""
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
        """A whole number. InvalidOption."""
        return self.read(name, lambda text: number(text, least), default)

    def limit(self, name: str) -> int | None:
        """A number from 1 on; None: no limit. InvalidOption."""
        return self.number(name, 0) or None

    def boolean(self, name: str, *, default: bool) -> bool:
        """true or false. InvalidOption."""
        return self.read(name, boolean, default)

    def choice(self, name: str, kind: type[E], default: E) -> E:
        """One of an enumeration. InvalidOption."""
        return self.read(name, lambda text: choice(text, kind), default)

    def only_one(self, names: tuple[str, ...]) -> str | None:
        """Which of these was given; None: none. InvalidOption where there are two."""
        given = [name for name in names if self.has(name)]
        if len(given) > 1:
            raise InvalidOption(f"options {self.spelled(given[0])!r} and {self.spelled(given[1])!r} contradict each other: give one of them")
        return given[0] if given else None


def _unknown(spelled: str) -> str:
    alike = get_close_matches(spelled.lower(), _NAMES, n=1)
    return f"there is no option {spelled!r}" + (f"; is {_NAMES[alike[0]]!r} meant?" if alike else "; docs/spark.md has a table of all")
