"""How a consumer is set: Kafka's keys as Python names, with Kafka 2.8's defaults.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/ConsumerConfig.java.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pykafka_classic.assignors.consumer_assignor import PartitionAssignor
from pykafka_classic.assignors.range import RangeAssignor
from pykafka_classic.assignors.round_robin import RoundRobinAssignor
from pykafka_classic.assignors.sole_owner import SoleOwnerAssignor
from pykafka_classic.assignors.sticky import CooperativeStickyAssignor, StickyAssignor
from pykafka_classic.client.client_errors import InvalidSetting
from pykafka_classic.client.client_settings import ClientSettings, kafka_name
from pykafka_classic.client.starts import Reset, Start, Word, parse_reset, parse_start

READ_COMMITTED: Final = "read_committed"
_ISOLATION: Final = {"read_uncommitted": 0, READ_COMMITTED: 1}
_ASSIGNORS: Final[dict[str, type[PartitionAssignor]]] = {
    each.name: each for each in (RangeAssignor, RoundRobinAssignor, StickyAssignor, CooperativeStickyAssignor, SoleOwnerAssignor)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings(ClientSettings):
    """Times in ms, sizes in bytes. InvalidSetting for a value, or for two that contradict each other."""

    group_id: str | None = None
    group_instance_id: str | None = None  # a static member (KIP-345)
    partition_assignment_strategy: str = "range"  # names, best first: range, roundrobin, sticky, cooperative-sticky, sole-owner
    session_timeout_ms: int = 10_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    max_poll_records: int = 500
    enable_auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    auto_offset_reset: str = "latest"
    start: str | Start | None = None  # not Kafka's: see `client.starts`; None: committed in a group, else as auto.offset.reset
    isolation_level: str = "read_uncommitted"
    fetch_min_bytes: int = 1
    fetch_max_wait_ms: int = 500
    fetch_max_bytes: int = 52_428_800
    max_partition_fetch_bytes: int = 1_048_576
    check_crcs: bool = True
    client_rack: str = ""
    exclude_internal_topics: bool = True
    allow_auto_create_topics: bool = True
    default_api_timeout_ms: int = 60_000

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        ClientSettings.__post_init__(self)
        if self.isolation_level not in _ISOLATION:
            raise InvalidSetting(f"isolation.level is {self.isolation_level!r}, not one of {', '.join(_ISOLATION)}")
        for name in self.assignor_names:
            if name not in _ASSIGNORS:
                raise InvalidSetting(f"partition.assignment.strategy has {name!r}, which is not one of {', '.join(_ASSIGNORS)}")
        for name in ("max_poll_records", "fetch_max_bytes", "max_partition_fetch_bytes", "session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms"):
            if getattr(self, name) < 1:
                raise InvalidSetting(f"{kafka_name(name)} is {getattr(self, name)}; it must be positive")
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            raise InvalidSetting("heartbeat.interval.ms must be less than session.timeout.ms: a third of it is usual")
        if not self.assignor_names or self.group_id == "":
            raise InvalidSetting("group.id and partition.assignment.strategy cannot be empty")
        if self.group_id is None and (self.group_instance_id is not None or self.first_start is Word.COMMITTED):
            raise InvalidSetting("a static member, and a start at what is committed, need a group.id")
        parse_reset(self.auto_offset_reset)

    @property
    def assignor_names(self) -> list[str]:
        """As the group's members vote for them."""
        return [name.strip() for name in self.partition_assignment_strategy.split(",") if name.strip()]

    def assignors(self) -> list[PartitionAssignor]:
        """New ones, in that order."""
        return [_ASSIGNORS[name]() for name in self.assignor_names]

    @property
    def isolation(self) -> int:
        """As in Fetch and ListOffsets."""
        return _ISOLATION[self.isolation_level]

    @property
    def reset(self) -> Reset:
        """What to do where there is no offset to begin at."""
        return parse_reset(self.auto_offset_reset)

    @property
    def first_start(self) -> Start | None:
        """Where to begin; None: by default."""
        return parse_start(self.start) if isinstance(self.start, str) else self.start
