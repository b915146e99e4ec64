"""Gives positions to partitions that have none, and has new leaders confirm those that there are.

| a partition | gets |
|---|---|
| with a start (`client.starts`) | that |
| of a group | what is committed |
| with neither, or whose offset is gone | what `auto.offset.reset` says; none: NoOffset |
| with a position whose epoch is known, and a new leader | a question to the leader, where that epoch ends: if before the position, it moves there |

One round at a time; what the user seeks meanwhile wins.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/{Fetcher,OffsetsForLeaderEpochClient}.java.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from pykafka_classic.client.client_errors import ClientTimeout
from pykafka_classic.client.cluster_client import ClusterClient
from pykafka_classic.client.consuming.assigned_partitions import Assigned, AssignedPartitions, Position
from pykafka_classic.client.consuming.bell import Bell
from pykafka_classic.client.consuming.committed_offsets import CommittedOffsets
from pykafka_classic.client.consuming.consumer_errors import LogTruncated, NoOffset
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.consuming.offset_lookup import CONSUMER, EARLIEST, LATEST, FoundOffset, look_up
from pykafka_classic.client.consuming.start_resolution import by_partition, resolve
from pykafka_classic.client.starts import PartitionStart, Reset, Word
from pykafka_classic.common.clock import after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from pykafka_classic.protocol.network import Disconnected

log = logging.getLogger("kafka.clients.consumer.Fetcher")

CONSUMERS_MAY_ASK_VERSION: Final = 3  # of OffsetForLeaderEpoch; before, it needed a broker's rights

_RESET_TIMES: Final = {Reset.EARLIEST: EARLIEST, Reset.LATEST: LATEST}


class Positions:
    """See the module. `error`: what the user must hear of, once."""

    def __init__(self, cluster: ClusterClient, settings: ConsumerSettings, assigned: AssignedPartitions, bell: Bell) -> None:
        self.committed: CommittedOffsets | None = None  # of a group
        self.error: Exception | None = None
        self._cluster = cluster
        self._settings = settings
        self._assigned = assigned
        self._bell = bell
        self._round: Promise[None] | None = None

    def settle(self) -> Promise[None] | None:
        """Begin a round where one is needed; the one under way, if any."""
        self._doubt_positions()
        if self._round is None and any(each.position is None or each.needs_validation for each in self._assigned.values()):
            current = self._round = spawn(self._settle())
            current.when_settled(self._ended)
            return current if not current.settled else None
        return self._round

    async def look_up(self, times: dict[TopicPartition, int]) -> dict[TopicPartition, FoundOffset | None]:
        """Offsets by time."""
        deadline_ms = self._cluster.seams.clock.monotonic_ms() + self._settings.default_api_timeout_ms
        return await look_up(self._cluster, times, isolation=self._settings.isolation, deadline_ms=deadline_ms)

    # A round

    async def _settle(self) -> None:
        try:
            await self._from_starts()
            await self._from_commits()
            await self._from_resets()
            await self._validate()
        except (Disconnected, ClientTimeout, KafkaError) as error:
            if isinstance(error, KafkaError) and not error.code.retriable:
                raise
            log.info("Positions are not known yet: %s", error)
            # While a position is in doubt nobody fetches: nothing else would tell that the leader is another one by now.
            self._cluster.update_soon()
            await after(self._cluster.seams.clock, self._settings.retry_backoff_ms)

    def _ended(self, settled: Promise[None]) -> None:
        self._round = None
        error = settled.error()
        if isinstance(error, Exception):
            self.error = error
        self._bell.ring()

    async def _from_starts(self) -> None:
        missing = [each for each in self._assigned.values() if each.position is None and each.reset is None]
        wanted: dict[TopicPartition, PartitionStart] = {}
        for each in missing:
            said = by_partition(each.start, [each.partition]).get(each.partition) if each.start is not None else None
            if said is Word.COMMITTED or each.start is None:
                each.start = None
            elif said is None:
                self._reset(each, "the start does not mention it")
            else:
                wanted[each.partition] = said
        found = await resolve(wanted, lambda times: spawn(self.look_up(dict(times))))
        for each in missing:
            if each.partition in found and each.position is None and each.reset is None and each.start is not None:
                offset = found[each.partition]
                each.seek(Position(offset.offset, -1))

    async def _from_commits(self) -> None:
        missing = [each for each in self._assigned.values() if each.position is None and each.reset is None and each.start is None]
        if not missing:
            return
        found = await self.committed.fetch([each.partition for each in missing]) if self.committed is not None else {}
        for each in missing:
            if each.position is not None or each.reset is not None or each.start is not None:
                continue
            if each.partition in found:
                each.seek(Position(found[each.partition].offset, found[each.partition].leader_epoch))
            else:
                self._reset(each, "no offset is committed" if self.committed is not None else "no start is given, and there is no group")

    def _reset(self, assigned: Assigned, why: str) -> None:
        if self._settings.reset is Reset.NONE:
            raise NoOffset(f"{assigned.partition}: {why}, and auto.offset.reset is none", [assigned.partition])
        assigned.seek_by(self._settings.reset)

    async def _from_resets(self) -> None:
        wanted = {each.partition: each.reset for each in self._assigned.values() if each.reset is not None}
        found = await self.look_up({partition: _RESET_TIMES[reset] for partition, reset in wanted.items()}) if wanted else {}
        for partition, offset in found.items():
            each = self._assigned.get(partition)
            if each is not None and each.reset is wanted[partition] and offset is not None:
                log.info("%s: beginning at offset %d (%s)", partition, offset.offset, wanted[partition].value)
                each.seek(Position(offset.offset))

    # New leaders

    def _doubt_positions(self) -> None:
        for each in self._assigned.values():
            info = self._cluster.metadata.partition(each.partition)
            if info is None or each.position is None or info.leader_epoch <= each.validated_epoch:
                continue
            if each.position.leader_epoch < 0:
                each.validated_epoch = info.leader_epoch
            else:
                each.needs_validation = True

    async def _validate(self) -> None:
        by_leader: dict[int, list[Assigned]] = {}
        for each in self._assigned.values():
            leader = self._cluster.metadata.leader_of(each.partition)
            if each.needs_validation and leader is not None:
                by_leader.setdefault(leader, []).append(each)
        for leader, some in by_leader.items():
            await self._validate_with(leader, some)

    async def _validate_with(self, leader: int, some: Sequence[Assigned]) -> None:
        node = self._cluster.node(leader)
        epochs = {}
        topics: dict[str, list[OffsetForLeaderPartition]] = {}
        for each in some:
            info = self._cluster.metadata.partition(each.partition)
            assert info is not None and each.position is not None
            epochs[each.partition] = info.leader_epoch
            topics.setdefault(each.partition.topic, []).append(
                OffsetForLeaderPartition(each.partition.partition, info.leader_epoch, each.position.leader_epoch)
            )
        if await node.version_of(ApiKey.OFFSET_FOR_LEADER_EPOCH) < CONSUMERS_MAY_ASK_VERSION:
            for each in some:
                each.validated_epoch, each.needs_validation = epochs[each.partition], False
            return
        asked = {each.partition: each.position for each in some}
        response = await node.send(OffsetForLeaderEpochRequest(replica_id=CONSUMER, topics=[OffsetForLeaderTopic(*each) for each in topics.items()]))
        assert isinstance(response, OffsetForLeaderEpochResponse)
        answers = {TopicPartition(topic.topic, each.partition): each for topic in response.topics for each in topic.partitions}
        for each in some:
            if each.partition in answers and each.position == asked[each.partition] and each.needs_validation:
                self._validated(each, answers[each.partition], epochs[each.partition])

    def _validated(self, assigned: Assigned, answer: EpochEndOffset, epoch: int) -> None:
        if answer.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(answer.error_code), f"{assigned.partition}: {ErrorCode(answer.error_code).message}")
        assert assigned.position is not None
        assigned.validated_epoch, assigned.needs_validation = epoch, False
        if answer.end_offset >= assigned.position.offset:
            return
        text = f"{assigned.partition} was truncated: offset {assigned.position.offset} of epoch {assigned.position.leader_epoch} is gone, the log differs"
        if self._settings.reset is Reset.NONE:
            raise LogTruncated(f"{text} from offset {answer.end_offset} on", {assigned.partition: answer.end_offset})
        log.warning("%s from offset %d on", text, answer.end_offset)
        if answer.end_offset < 0:
            assigned.seek_by(self._settings.reset)
        else:
            assigned.seek(Position(answer.end_offset, answer.leader_epoch))
