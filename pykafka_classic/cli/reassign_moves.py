"""Replicas on their way from one log directory of a broker to another, as kafka-reassign-partitions --verify tells of them. No I/O.

Source: 2.8 ReassignPartitionsCommand.scala (LogDirMoveState).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pykafka_classic.client.admin.replicas import LogDirDescription, Replica
from pykafka_classic.common.topic_partition import TopicPartition


class LogDirMove(NamedTuple):
    """One replica. `current`: where it lies, None: nowhere alive; `future`: where it is being copied to, None: nowhere."""

    replica: Replica
    target: str
    current: str | None
    future: str | None

    @property
    def done(self) -> bool:
        """Nothing is being copied."""
        return self.future is None


def log_dir_moves(wanted: Mapping[Replica, str], brokers: Mapping[int, dict[str, LogDirDescription]]) -> dict[Replica, LogDirMove]:
    """How the moves stand; `brokers`: the directories of each broker."""
    moves = {}
    for replica, target in wanted.items():
        partition = TopicPartition(replica.topic, replica.partition)
        places = {
            description.replicas[partition].is_future: path
            for path, description in brokers.get(replica.broker, {}).items()
            if description.error is None and partition in description.replicas
        }
        moves[replica] = LogDirMove(replica, target, places.get(False), places.get(True))
    return moves


def move_line(move: LogDirMove) -> str:
    """What --verify says."""
    replica = move.replica
    which = f"Partition {replica.topic}-{replica.partition}"
    if move.current is None:
        return f"{which} is not found in any live log dir on broker {replica.broker}. There is likely an offline log directory on the broker."
    if move.future is not None:
        if move.future == move.target:
            return f"Reassignment of replica {replica} is still in progress."
        return f"{which} on broker {replica.broker} is being moved to log dir {move.future} instead of {move.target}."
    if move.current == move.target:
        return f"Reassignment of replica {replica} completed successfully."
    return f"{which} on broker {replica.broker} is not being moved from log dir {move.current} to {move.target}."
