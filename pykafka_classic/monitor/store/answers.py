"""What the store answers: frozen values. Times are ms since 1970; a `None` says that it is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.common.zookeeper import session_name
from pykafka_classic.monitor.store.rows import ChangeKind, MemberRow
from zk_schema.partition_state import NO_LEADER

END_OF_TIME: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Span:
    """What part of a history is wanted: between two times (both included; `until_ms` None: up to now), and at most so many rows of it, the latest ones."""

    since_ms: int = 0
    until_ms: int | None = None
    limit: int = 1_000

    @property
    def end_ms(self) -> int:
        """`until_ms`, or later than anything."""
        return END_OF_TIME if self.until_ms is None else self.until_ms


ALL: Final = Span()


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """A cluster of the monitor's. `state`: "connected", or a sentence of what is wrong, since `state_ms`."""

    name: str
    zookeeper: str
    kafka_id: str | None
    state: str
    state_ms: int


@dataclass(frozen=True, slots=True)
class Gap:
    """The monitor did not look between these times."""

    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class BrokerState:
    """A broker's registration in /brokers/ids. `session`: id of the ephemeral node's owner, as ZooKeeper writes it: 0x1000a5f3c2d0001."""

    broker: int
    alive: bool
    endpoints: tuple[str, ...]  # PLAINTEXT://host:9092
    rack: str | None
    registered_ms: int  # when it joined; of one that is gone: when it left
    session: str

    @property
    def address(self) -> str:
        """host:port of the first listener."""
        return self.endpoints[0].partition("://")[2] if self.endpoints else ""


@dataclass(frozen=True, slots=True)
class ControllerState:
    """Who was the controller, from when on."""

    broker: int | None  # None: nobody
    epoch: int | None
    since_ms: int


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition as its topic's node and its state node told, from `since_ms` on. `leader` -1: nobody."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    zk_version: int
    since_ms: int
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def under_replicated(self) -> bool:
        """True where a replica is not in sync."""
        return len(set(self.isr)) < len(set(self.replicas))

    @property
    def offline(self) -> bool:
        """True where nobody leads it."""
        return self.leader == NO_LEADER

    @property
    def preferred_leader(self) -> int:
        """The first replica; -1: none."""
        return self.replicas[0] if self.replicas else NO_LEADER


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic in numbers."""

    topic: str
    partitions: int
    replication_factor: int
    under_replicated: int
    offline: int
    not_preferred: int  # partitions that another than the preferred replica leads


@dataclass(frozen=True, slots=True)
class PartitionPoint:
    """A partition's log at a moment, and its rates since the sample before (None: it is the first)."""

    t_ms: int
    log_start: int
    log_end: int
    size: int  # bytes; -1: not known
    records_per_s: float | None
    bytes_per_s: float | None


@dataclass(frozen=True, slots=True)
class RatePoint:
    """A rate over an interval that ends at `t_ms`."""

    t_ms: int
    records_per_s: float
    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group as its coordinator told from `since_ms` on; groups in ZooKeeper by what stands in /consumers/G."""

    group: str
    store: str  # kafka, zookeeper
    state: str  # Stable, Empty, PreparingRebalance, CompletingRebalance, Dead
    assignor: str
    coordinator: int  # -1: none
    members: tuple[MemberRow, ...]
    since_ms: int


@dataclass(frozen=True, slots=True)
class LagPoint:
    """How far a group was behind on one partition at `t_ms`.

    `lag_ms`: how long ago the committed offset was the end of the log; 0 where nothing is left to read; None: not known. With `exact` False it is that long at
    least: the monitor, or its history of the log's end, is younger.
    """

    group: str
    store: str
    topic: str
    partition: int
    t_ms: int
    committed: int
    lag: int
    lag_ms: int | None
    exact: bool


@dataclass(frozen=True, slots=True)
class GroupLag:
    """A group in one number: of all its partitions in one store."""

    group: str
    store: str
    lag: int
    lag_ms: int | None  # of the partition that is furthest behind
    partitions: int


@dataclass(frozen=True, slots=True)
class ZNode:
    """A node at a moment."""

    path: str
    data: bytes | None
    version: int
    owner: int  # the session it lives as long as; 0: persistent
    czxid: int
    mzxid: int
    t_ms: int  # of the latest write
    children: int  # how many


@dataclass(frozen=True, slots=True)
class ZNodeChange:
    """A change of a node. Of a removal `data`, `version` and `owner` are what the node had, `zxid` the latest that it can have been."""

    id: int  # grows with each change that the store took
    path: str
    kind: ChangeKind
    t_ms: int
    seen_ms: int
    zxid: int
    version: int
    owner: int
    data: bytes | None
    before: bytes | None  # the data before this change

    @property
    def session(self) -> str:
        """The owner as ZooKeeper writes it; empty: persistent."""
        return session_name(self.owner)


@dataclass(frozen=True, slots=True)
class BrokerEvent:
    """A line of a broker's events.log (docs/events.md)."""

    id: int
    t_ms: int
    broker: int
    name: str
    subject: str
    zxid: int
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LogDir:
    """A log directory at its latest sample."""

    broker: int
    path: str
    t_ms: int
    size: int
    total: int | None
    usable: int | None
    error: str | None


@dataclass(frozen=True, slots=True)
class ConfigState:
    """A config from `t_ms` on: key to (value, source); a value None is secret."""

    kind: str
    name: str
    t_ms: int
    entries: Mapping[str, tuple[str | None, str]]


@dataclass(frozen=True, slots=True)
class Alarm:
    """One time that an alarm was raised; `cleared_ms` None: it is still on."""

    id: int
    rule: str
    subject: str
    raised_ms: int
    cleared_ms: int | None
    sentence: str
    value: float
