"""`/log_dir_event_notification/log_dir_event_<sequence>`: a broker has lost a log directory.

* Kind: persistent, sequential.
* Writer: the broker whose disk failed; the controller deletes it.
* Watcher: the controller (children of /log_dir_event_notification): it asks the broker by LeaderAndIsr which replicas are offline and elects other leaders.
* Sample: `{"version":1,"broker":0,"event":1}`; event 1 (a failed directory) is the only one.

Source: LogDirEventNotificationSequenceZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala; KIP-112.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from zk_schema.json_fields import JsonFields, to_json
from zk_schema.sequential import sequence_number

PATH: Final = "/log_dir_event_notification"
PREFIX: Final = "log_dir_event_"
CREATE_PATH: Final = f"{PATH}/{PREFIX}"  # create this one, sequential
FAMILY: Final = f"{CREATE_PATH}<sequence>"
VERSION: Final = 1
LOG_DIR_FAILURE: Final = 1


@dataclass(frozen=True, slots=True)
class LogDirEventZNode:
    """What happened to whom."""

    broker: int
    event: int = LOG_DIR_FAILURE


def sequence(name: str) -> int:
    """The number of a notification, by its name or path."""
    return sequence_number(name, PREFIX)


def encode(value: LogDirEventZNode) -> bytes:
    """Version 1."""
    return to_json({"version": VERSION, "broker": value.broker, "event": value.event})


def decode(data: bytes | None) -> LogDirEventZNode:
    """Version 1; only the broker must be there."""
    fields = JsonFields.of(data, FAMILY)
    return LogDirEventZNode(fields.integer("broker"), fields.integer("event", default=LOG_DIR_FAILURE))
