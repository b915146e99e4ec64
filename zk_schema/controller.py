"""`/controller`: which broker is the controller.

* Kind: ephemeral, of the controller's session. Its disappearance is what calls for an election.
* Writer: the broker that wins the election creates it, in one multi with a conditional write of /controller_epoch (facts/coordination.md 3.1).
* Watchers: every broker (created or changed: perhaps resign; deleted: elect).
* Sample: `{"version":1,"brokerid":0,"timestamp":"1795238570448"}`; Kafka 3.9 writes
  `{"version":2,"brokerid":0,"timestamp":"1795239364057","kraftControllerEpoch":-1}`.

Source: ControllerZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from zk_schema.json_fields import JsonFields, to_json

PATH: Final = "/controller"


@dataclass(frozen=True, slots=True)
class ControllerZNode:
    """Who holds the office since when."""

    broker_id: int
    timestamp_ms: int  # when elected; -1: not stored
    kraft_controller_epoch: int | None = None  # version 2 (3.9) only; -1 outside of a migration


def encode(value: ControllerZNode) -> bytes:
    """Version 1, or version 2 where there is a KRaft epoch."""
    fields: dict[str, object] = {"version": 1, "brokerid": value.broker_id, "timestamp": str(value.timestamp_ms)}
    if value.kraft_controller_epoch is not None:
        fields |= {"version": 2, "kraftControllerEpoch": value.kraft_controller_epoch}
    return to_json(fields)


def decode(data: bytes | None) -> ControllerZNode:
    """Either version; only the broker id must be there."""
    fields = JsonFields.of(data, PATH)
    epoch = fields.integer("kraftControllerEpoch") if fields.has("kraftControllerEpoch") else None
    return ControllerZNode(fields.integer("brokerid"), fields.decimal("timestamp", default=-1), epoch)
