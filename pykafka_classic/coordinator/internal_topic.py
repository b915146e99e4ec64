"""The seam from a coordinator to the partitions of its internal topic, which the replica manager leads (or not)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.java import abs_java, string_hash
from pykafka_classic.common.promise import Promise
from pykafka_classic.log.log import Log


@dataclass(frozen=True, slots=True)
class Appended:
    """The outcome of an append: NONE and the offset of the first record, or why not."""

    error: ErrorCode
    base_offset: int = -1


class InternalTopic(Protocol):
    """`__consumer_offsets` or `__transaction_state`."""

    def partition_count(self) -> int:
        """Partitions of the topic, or what it will have once it is created."""
        ...

    def log(self, partition: int) -> Log | None:
        """The local log of a partition, if this broker hosts it."""
        ...

    def append(self, partition: int, records: bytes, *, required_acks: int, timeout_ms: int) -> Promise[Appended]:
        """Append a batch as the coordinator."""
        ...


def partition_for(topic: InternalTopic, key: str) -> int:
    """The partition that keeps what is known of a group, or of a transactional id."""
    return abs_java(string_hash(key)) % topic.partition_count()
