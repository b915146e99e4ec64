"""`/isr_change_notification/isr_change_<sequence>`: a leader has changed the ISR of these partitions.

* Kind: persistent, sequential.
* Writers: leaders below inter.broker.protocol.version 2.7-IV2 (later ones ask the controller by AlterIsr), at most every few seconds; the controller deletes
  them.
* Watcher: the controller (children of /isr_change_notification): it reads the states again and tells all brokers.
* Sample: `{"version":1,"partitions":[{"topic":"t","partition":0}]}`.

Source: IsrChangeNotificationSequenceZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala; facts/coordination.md 3.10.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from zk_schema.partition_lists import decode_partitions, encode_partitions
from zk_schema.sequential import sequence_number

PATH: Final = "/isr_change_notification"
PREFIX: Final = "isr_change_"
CREATE_PATH: Final = f"{PATH}/{PREFIX}"  # create this one, sequential
FAMILY: Final = f"{CREATE_PATH}<sequence>"


def path(number: int) -> str:
    """The notification with this number."""
    return f"{CREATE_PATH}{number:010d}"


def sequence(name: str) -> int:
    """The number of a notification, by its name or path."""
    return sequence_number(name, PREFIX)


def encode(value: Iterable[tuple[str, int]]) -> bytes:
    """The partitions, in the order given."""
    return encode_partitions(value)


def decode(data: bytes | None) -> tuple[tuple[str, int], ...]:
    """(topic, partition) pairs, each once."""
    return decode_partitions(data, FAMILY)
