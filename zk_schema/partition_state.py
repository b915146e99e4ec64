"""`/brokers/topics/T/partitions/P/state`: who leads a partition, and who is in sync.

* Kind: persistent. Its znode version is the `zkVersion` that every compare-and-set needs and that LeaderAndIsr tells the replicas.
* Writers: the controller (fenced); below inter.broker.protocol.version 2.7-IV2 also the leader, when the ISR shrinks or grows (a plain compare-and-set).
* Watchers: the controller during a reassignment below 2.7-IV2; tools and consumers only read it.
* Sample: `{"controller_epoch":1,"leader":0,"version":1,"leader_epoch":0,"isr":[0,1,2]}`; leader -1 is none. Kafka 3.9 adds `"leader_recovery_state":1` while
  a leader elected uncleanly recovers.

Source: TopicPartitionStateZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala; facts/coordination.md 1.6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from zk_schema.json_fields import JsonFields, to_json
from zk_schema.topics import partition_path

FAMILY: Final = "/brokers/topics/T/partitions/P/state"
VERSION: Final = 1
NO_LEADER: Final = -1
RECOVERED: Final = 0  # leader_recovery_state: the leader has all that was committed
RECOVERING: Final = 1

_PATH: Final = re.compile(r"/brokers/topics/([^/]+)/partitions/([0-9]{1,10})/state")


@dataclass(frozen=True, slots=True)
class TopicPartitionStateZNode:
    """Leader and ISR, and the epochs of the leader and of the controller that wrote them (LeaderIsrAndControllerEpoch in Kafka)."""

    leader: int  # broker id; -1: nobody
    leader_epoch: int  # grows with each change of leader, and each write by the controller
    isr: tuple[int, ...]  # brokers in sync, the leader among them
    controller_epoch: int  # of the controller that chose this leader
    leader_recovery_state: int = RECOVERED


def path(topic: str, partition: int) -> str:
    """A partition's state."""
    return f"{partition_path(topic, partition)}/state"


def partition_of(state_path: str) -> tuple[str, int] | None:
    """(topic, partition) of a state's path; None for any other path."""
    match = _PATH.fullmatch(state_path)
    return (match[1], int(match[2])) if match else None


def encode(value: TopicPartitionStateZNode) -> bytes:
    """Version 1; the recovery state is written only while recovering."""
    fields: dict[str, object] = {
        "controller_epoch": value.controller_epoch,
        "leader": value.leader,
        "version": VERSION,
        "leader_epoch": value.leader_epoch,
        "isr": list(value.isr),
    }
    if value.leader_recovery_state != RECOVERED:
        fields["leader_recovery_state"] = value.leader_recovery_state
    return to_json(fields)


def decode(data: bytes | None) -> TopicPartitionStateZNode:
    """Version 1."""
    fields = JsonFields.of(data, FAMILY)
    return TopicPartitionStateZNode(
        leader=fields.integer("leader"),
        leader_epoch=fields.integer("leader_epoch"),
        isr=fields.integers("isr"),
        controller_epoch=fields.integer("controller_epoch"),
        leader_recovery_state=fields.integer("leader_recovery_state", default=RECOVERED),
    )
