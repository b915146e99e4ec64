"""A broker that is about to stop asks the controller to move leadership away from it.

Version 0 has the only request header without a client id.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ControlledShutdownRequest(Message):
    """A broker announces that it will stop."""

    API_KEY = 7
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    broker_id: int = wire.int32()
    broker_epoch: int = wire.int64("2+", default=-1, ignorable=True)  # czxid of the sender's znode; an old one is refused (77)


@dataclass(slots=True)
class RemainingPartition(Struct):
    """A partition that the broker still leads."""

    topic_name: str = wire.string()
    partition_index: int = wire.int32()


@dataclass(slots=True)
class ControlledShutdownResponse(Message):
    """While partitions remain, the broker asks again."""

    API_KEY = 7
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    error_code: int = wire.int16()
    remaining_partitions: list[RemainingPartition] = wire.array(RemainingPartition)
