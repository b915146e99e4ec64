"""What lies in this broker's log dirs, and how big it is: DescribeLogDirs. Mirrors ReplicaManager.describeLogDirs."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_manager import LogManager

UNKNOWN_LAG: Final = -1


@dataclass(frozen=True, slots=True)
class ReplicaInfo:
    """One replica: its bytes, and how far it is behind (records): a future one behind the current, a current one behind the high watermark."""

    topic_partition: TopicPartition
    size: int
    offset_lag: int
    is_future: bool


@dataclass(frozen=True, slots=True)
class LogDirInfo:
    """One log dir. An offline one tells of no replicas."""

    path: str
    is_online: bool
    replicas: list[ReplicaInfo] = field(default_factory=list)
    topics: frozenset[str] = frozenset()  # of all that lies here, asked for or not


def describe_log_dirs(log_manager: LogManager, wanted: Container[TopicPartition] | None) -> list[LogDirInfo]:
    """All log dirs, in the order of the configuration; `wanted` None: with all replicas."""
    online = set(log_manager.online_log_dirs)
    return [_describe(log_manager, path, wanted) if path in online else LogDirInfo(path, is_online=False) for path in log_manager.log_dirs]


def _describe(log_manager: LogManager, path: str, wanted: Container[TopicPartition] | None) -> LogDirInfo:
    topics = frozenset(tp.topic for is_future in (False, True) for tp in log_manager.logs_in(path, future=is_future))
    return LogDirInfo(path, is_online=True, replicas=_replicas(log_manager, path, wanted), topics=topics)


def _replicas(log_manager: LogManager, path: str, wanted: Container[TopicPartition] | None) -> list[ReplicaInfo]:
    found: list[ReplicaInfo] = []
    for is_future in (False, True):
        logs: Mapping[TopicPartition, Log] = log_manager.logs_in(path, future=is_future)
        for topic_partition, one in logs.items():
            if wanted is None or topic_partition in wanted:
                found.append(ReplicaInfo(topic_partition, one.size, _lag(log_manager.get_log(topic_partition), one, is_future=is_future), is_future))
    return found


def _lag(current: Log | None, one: Log, *, is_future: bool) -> int:
    if current is None:
        return UNKNOWN_LAG
    return current.log_end_offset - one.log_end_offset if is_future else max(current.high_watermark - one.log_end_offset, 0)
