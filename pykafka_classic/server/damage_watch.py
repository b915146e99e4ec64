"""Damage on disk that readers stumble over.

A leader sends stretches of files without a look inside: what a disk did to an old segment is found by the reader, who compares checksums. A follower then
refuses the batch and asks for it again after a while; so do consumers. The protocol has no word for "what you sent is broken": all that the leader sees is
that somebody was given records from an offset and asks for the same offset again. So that is what is looked for; then those records are read and checked, in a
thread, and damage is reported with path and position.

Readers ask again for other reasons too (a lost connection, a seek): then nothing is found, and the same place is not looked at again for a while. Consumers
without a fetch session are not watched: nothing tells one from another.

Kafka has no such check: there the follower's log tells the offset, and a person has to find the file.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.cluster.partition_fetch import PartitionFetch
from pykafka_classic.common.clock import Background, Clock
from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log import names
from pykafka_classic.log.batch_header import CorruptBatch, has_valid_crc, iterate_headers
from pykafka_classic.log.log_values import FetchDataInfo

log = logging.getLogger("kafka.server.ReplicaManager")

AGAIN_MS: Final = 60_000  # the same place is looked at once in this time


class Damage(NamedTuple):
    """What is wrong, and where in the file."""

    position: int
    what: str


class Suspicion(NamedTuple):
    """Records that a reader was given twice."""

    partition: Partition
    fetch_offset: int
    follower_id: int  # -1: a consumer
    path: str
    records: FileRecords


class DamageWatch:
    """See the module. Invariant: one look per partition at a time; as many entries as partitions have been looked at."""

    def __init__(self, background: Background, clock: Clock) -> None:
        self._background = background
        self._clock = clock
        self._looked: dict[TopicPartition, tuple[int, float]] = {}  # the offset last looked at, and when (monotonic ms)

    def served(self, partition: Partition, fetch: PartitionFetch, follower_id: int, info: FetchDataInfo) -> None:
        """A reader is being given records."""
        memory = partition.in_sync.remote.get(follower_id) if follower_id >= 0 else fetch
        if memory is None:
            return
        again, memory.served_from = memory.served_from == fetch.fetch_offset, fetch.fetch_offset
        if again and isinstance(info.records, FileRecords) and partition.log is not None:
            name = names.numbered_name(info.fetch_offset_metadata.segment_base_offset, names.LOG)
            self._suspect(Suspicion(partition, fetch.fetch_offset, follower_id, f"{partition.log.directory}/{name}", info.records))

    def _suspect(self, suspicion: Suspicion) -> None:
        topic_partition, now_ms = suspicion.partition.topic_partition, self._clock.monotonic_ms()
        offset, looked_ms = self._looked.get(topic_partition, (-1, 0.0))
        if offset == suspicion.fetch_offset and now_ms - looked_ms < AGAIN_MS:
            return
        self._looked[topic_partition] = (suspicion.fetch_offset, now_ms)
        self._background.run(lambda: find_damage(suspicion.records)).when_settled(lambda outcome: _report(suspicion, outcome))


def find_damage(records: FileRecords) -> Damage | None:
    """The first batch of a stretch of a file that no reader can take. Blocks."""
    data = memoryview(records.read())
    position = 0
    try:
        for header in iterate_headers(data):
            position = header.position
            if not has_valid_crc(data[position : position + header.size], header):
                return Damage(records.position + position, f"the batch with offsets {header.base_offset} to {header.last_offset} has a wrong checksum")
            position += header.size
    except CorruptBatch as error:
        return Damage(records.position + position, f"no record batch: {error}")
    return None


def _report(suspicion: Suspicion, outcome: Promise[Damage | None]) -> None:
    error = outcome.error()
    if error is not None:
        log.error("%s %s could not be checked for damage: %s", suspicion.partition, suspicion.path, error)
        return
    damage = outcome.result()
    if damage is not None:
        reader = f"follower {suspicion.follower_id}" if suspicion.follower_id >= 0 else "a consumer"
        log.error(
            "%s Damaged log: %s at position %d: %s. It is what %s gets for offset %d; a replica without the damage should take over as leader.",
            suspicion.partition, suspicion.path, damage.position, damage.what, reader, suspicion.fetch_offset,
        )  # fmt: skip
