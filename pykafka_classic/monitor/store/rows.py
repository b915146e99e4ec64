"""What is written: frozen rows, grouped in a `Batch` for one cluster that is committed as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

KAFKA: Final = "kafka"  # the store of a group's offsets: __consumer_offsets
ZOOKEEPER: Final = "zookeeper"  # /consumers/G/offsets
NO_COMMIT: Final = -1  # as `committed`: the series has ended
NO_LOG: Final = -1  # as `log_end`: the same


class ChangeKind(IntEnum):
    """What became of a node; FOUND: it was there when first seen, made at some time before."""

    FOUND = 0
    CREATED = 1
    WRITTEN = 2
    REMOVED = 3


@dataclass(frozen=True, slots=True)
class ZNodeRow:
    """A change of a node; of a removal `data`, `version`, `owner` and `czxid` are what the node had."""

    path: str
    kind: ChangeKind
    t_ms: int
    seen_ms: int
    zxid: int
    version: int
    owner: int
    czxid: int
    data: bytes | None


class PartitionSample(NamedTuple):
    """A partition's log at a moment; size in bytes, -1: not known. `log_end` NO_LOG: the partition is gone."""

    topic: str
    partition: int
    log_start: int
    log_end: int
    size: int


class GroupSample(NamedTuple):
    """What a group has committed. `behind_since_ms`: when that was the end of the log, None where it is; `exact` False: then or before.

    `committed` NO_COMMIT: nothing any longer.
    """

    group: str
    store: str  # KAFKA, ZOOKEEPER
    topic: str
    partition: int
    committed: int
    lag: int
    behind_since_ms: int | None
    exact: bool


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member of a group, and the partitions it has: (topic, partition)."""

    member_id: str
    client_id: str
    host: str
    instance_id: str | None
    partitions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class GroupStateRow:
    """A group as its coordinator tells."""

    group: str
    state: str
    assignor: str
    coordinator: int
    members: tuple[MemberRow, ...]


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """The config of a topic or broker: key to (value, source); the value None: it is secret."""

    kind: str  # topic, broker
    name: str
    entries: Mapping[str, tuple[str | None, str]]


@dataclass(frozen=True, slots=True)
class LogDirRow:
    """A log directory: bytes of its replicas; total and usable bytes of its disk where the monitor can see it."""

    broker: int
    path: str
    size: int
    total: int | None = None
    usable: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class EventRow:
    """A line of a broker's events.log. `subject`: flights-0, broker 3, group G, or empty."""

    t_ms: int
    broker: int
    name: str
    subject: str
    facts: Mapping[str, Any]
    zxid: int = 0


@dataclass(frozen=True, slots=True)
class EventPosition:
    """Up to where a broker's events.log was read: the file's inode, and bytes in it."""

    broker: int
    inode: int
    offset: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one cluster; `t_ms` is the moment of the samples."""

    cluster: str
    t_ms: int
    znodes: Sequence[ZNodeRow] = ()
    partitions: Sequence[PartitionSample] = ()
    groups: Sequence[GroupSample] = ()
    group_states: Sequence[GroupStateRow] = ()
    gone_groups: Sequence[str] = ()  # no coordinator knows them any longer
    configs: Sequence[ConfigRow] = ()
    log_dirs: Sequence[LogDirRow] = ()
    events: Sequence[EventRow] = ()
    event_positions: Sequence[EventPosition] = ()


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """How the monitor stands with a cluster: `state` is connecting, connected, or a sentence of what is wrong."""

    name: str
    zookeeper: str
    kafka_id: str | None
    state: str
    t_ms: int


@dataclass(frozen=True, slots=True)
class AlarmRaised:
    """An alarm begins."""

    cluster: str
    rule: str
    subject: str
    t_ms: int
    sentence: str
    value: float


@dataclass(frozen=True, slots=True)
class AlarmCleared:
    """An alarm is over."""

    cluster: str
    rule: str
    subject: str
    t_ms: int
