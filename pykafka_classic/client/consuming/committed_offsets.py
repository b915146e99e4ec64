"""Commits of a group, and what it has committed: OffsetCommit and OffsetFetch to its coordinator.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/ConsumerCoordinator.java; facts/coordination.md 5.7.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from pykafka_classic.client.consuming.consumer_errors import CommitFailed, RebalanceInProgress
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.consuming.group_member import Generation, GroupMember, MemberState
from pykafka_classic.client.coordinator_link import CoordinatorLink
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition, by_topic
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic, OffsetFetchResponse

REQUIRE_STABLE_VERSION: Final = 7
_NOT_A_MEMBER: Final = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})


class CommittedOffsets:
    """See the module. One attempt each; who calls repeats after retriable errors."""

    def __init__(self, link: CoordinatorLink, settings: ConsumerSettings, member: GroupMember) -> None:
        self._link = link
        self._settings = settings
        self._member = member

    async def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Store all. CommitFailed, RebalanceInProgress; KafkaError, Disconnected."""
        if not offsets:
            return
        generation = self._member.generation
        entries: dict[str, list[OffsetCommitRequestPartition]] = {}
        for partition, each in offsets.items():
            entries.setdefault(partition.topic, []).append(
                OffsetCommitRequestPartition(
                    partition_index=partition.partition,
                    committed_offset=each.offset,
                    committed_leader_epoch=each.leader_epoch,
                    committed_metadata=each.metadata,
                )
            )
        request = OffsetCommitRequest(
            group_id=self._link.key,
            generation_id=generation.generation_id,
            member_id=generation.member_id if generation.generation_id >= 0 else "",
            group_instance_id=self._settings.group_instance_id if generation.generation_id >= 0 else None,
            topics=[OffsetCommitRequestTopic(*each) for each in entries.items()],
        )
        response = await self._link.ask(ApiKey.OFFSET_COMMIT, lambda _: request)
        assert isinstance(response, OffsetCommitResponse)
        for topic in response.topics:
            for answer in topic.partitions:
                self._check_commit(ErrorCode(answer.error_code), TopicPartition(topic.name, answer.partition_index), generation)

    def _check_commit(self, code: ErrorCode, partition: TopicPartition, generation: Generation) -> None:
        if code in _NOT_A_MEMBER and (generation != self._member.generation or self._member.state is MemberState.JOINING):
            # A cooperative member commits while it joins: the commit may reach the group when that is in its next generation already, and we in it.
            raise RebalanceInProgress(f"offsets of group {self._link.key!r} were not committed: it has begun a new generation meanwhile ({code.name})")
        if code in _NOT_A_MEMBER:
            self._member.lost(f"OffsetCommit: {code.name}")
            raise CommitFailed(
                f"offsets of group {self._link.key!r} were not committed: it has gone on without this member, which was silent for longer than"
                f" session.timeout.ms, or did not call poll for longer than max.poll.interval.ms ({code.name})"
            )
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._member.rejoin_needed = True
            raise RebalanceInProgress(f"offsets of group {self._link.key!r} were not committed: {code.message}")
        if code is ErrorCode.FENCED_INSTANCE_ID:
            self._member.fenced()
            raise self._member.fatal or KafkaError(code)
        self._link.check(code, f"a commit for {partition}")

    async def fetch(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        """What is committed, of those where something is. KafkaError (retriable while transactions are pending), Disconnected."""
        if not partitions:
            return {}

        def build(version: int) -> OffsetFetchRequest:
            topics = [OffsetFetchRequestTopic(*each) for each in by_topic(partitions).items()]
            return OffsetFetchRequest(group_id=self._link.key, topics=topics, require_stable=version >= REQUIRE_STABLE_VERSION and self._settings.isolation > 0)

        response = await self._link.ask(ApiKey.OFFSET_FETCH, build)
        assert isinstance(response, OffsetFetchResponse)
        self._link.check(response.error_code, "OffsetFetch")
        found = {}
        for answered in response.topics:
            for each in answered.partitions:
                if each.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    self._link.check(each.error_code, f"OffsetFetch of {answered.name}-{each.partition_index}")
                if each.committed_offset >= 0:
                    partition = TopicPartition(answered.name, each.partition_index)
                    found[partition] = OffsetAndMetadata(each.committed_offset, each.metadata or "", each.committed_leader_epoch)
        return found
