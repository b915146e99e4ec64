"""A consumer's part in its group: what it subscribes to, what it gives up and takes over, and, as the leader, who gets what.

    eager:        commit -> revoke everything -> join -> take what was assigned
    cooperative:  commit -> join -> revoke what was not assigned again, if any, and join once more -> take what is new (KIP-429)

Cooperative where every assignor of `partition_assignment_strategy` is. The listener hears of each step before the next one is taken.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/ConsumerCoordinator.java.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Protocol

from pykafka_classic.assignors.sticky import COOPERATIVE_NAME
from pykafka_classic.client.cluster_client import ClusterClient
from pykafka_classic.client.cluster_metadata import ClusterMetadata
from pykafka_classic.client.consuming.assigned_partitions import AssignedPartitions
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.consuming.group_member import NO_GENERATION, Generation, Joined
from pykafka_classic.client.consuming.group_protocol import (
    MemberMetadata,
    decode_assignment,
    decode_member,
    encode_assignment,
    encode_subscription,
    partition_counts,
)
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition

log = logging.getLogger("kafka.clients.consumer.ConsumerCoordinator")

Commit = Callable[[Mapping[TopicPartition, OffsetAndMetadata]], Promise[None]]

_INCONSISTENT: Final = "the group's leader was asked to assign by {!r}, which this consumer does not know"


class RebalanceListener(Protocol):
    """Who wants to know what the consumer owns. Each promise is waited for."""

    def assigned(self, partitions: Sequence[TopicPartition]) -> Promise[None]:
        """These are new; may be none."""
        ...

    def revoked(self, partitions: Sequence[TopicPartition]) -> Promise[None]:
        """These are about to be given up: their offsets may still be committed."""
        ...

    def lost(self, partitions: Sequence[TopicPartition]) -> Promise[None]:
        """These are others' already."""
        ...


class SilentListener:
    """Nobody wants to know."""

    def assigned(self, partitions: Sequence[TopicPartition]) -> Promise[None]:  # noqa: ARG002
        """Nothing."""
        return Promise.resolved(None)

    revoked = lost = assigned


class Rebalance:
    """See the module. Implements `group_member.GroupWork`. `commit` is None without auto-commit; `changed` is called where the group must rejoin."""

    def __init__(self, cluster: ClusterClient, settings: ConsumerSettings, assigned: AssignedPartitions, changed: Callable[[], None]) -> None:
        self.listener: RebalanceListener = SilentListener()
        self.topics: frozenset[str] = frozenset()
        self.pattern: re.Pattern[str] | None = None
        self.commit: Commit | None = None
        self._cluster = cluster
        self._settings = settings
        self._assigned = assigned
        self._changed = changed
        self._assignors = {each.name: each for each in settings.assignors()}
        self.cooperative = all(name == COOPERATIVE_NAME for name in self._assignors)
        self._last: tuple[tuple[TopicPartition, ...], int] = ((), NO_GENERATION)
        self._counts: dict[str, int] | None = None  # what the leader's assignment was made for
        self._was_assigned = False

    # Subscription

    def subscribe(self, topics: Collection[str], pattern: re.Pattern[str] | None) -> None:
        """Want these, or all that match wholly."""
        self.topics, self.pattern = frozenset(topics), pattern
        self._cluster.want(None if pattern is not None else topics)
        self._counts = None
        self.metadata_updated(self._cluster.metadata)

    def metadata_updated(self, metadata: ClusterMetadata) -> None:
        """New topics may match; a topic may have got more partitions."""
        if self.pattern is not None:
            matches = self.pattern.fullmatch
            found = {
                name
                for name, topic in metadata.topics.items()
                if matches(name) and topic.partitions and not (topic.is_internal and self._settings.exclude_internal_topics)
            }
            if found != self.topics:
                self.topics = frozenset(found)
                self._changed()
        if self._counts is not None and self._counts != {topic: count for topic, count in self._known_counts().items() if topic in self._counts}:
            log.info("The leader asks the group to join again: partitions were %s", self._counts)
            self._counts = None
            self._changed()

    # What GroupMember asks

    def protocols(self, generation: Generation) -> list[tuple[str, bytes]]:  # noqa: ARG002  # the assignors know their own
        """Each assignor with our subscription."""
        owned, last_generation = self._last
        return [
            (name, encode_subscription(self.topics, self._assigned, assignor.user_data(owned, last_generation))) for name, assignor in self._assignors.items()
        ]

    async def assign(self, protocol: str, members: Sequence[MemberMetadata]) -> dict[str, bytes]:
        """Divide, as the leader."""
        if protocol not in self._assignors:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, _INCONSISTENT.format(protocol))
        decoded = [decode_member(member) for member in members]
        wanted = {topic for member in decoded for topic in member.topics}
        self._cluster.want_also(wanted)
        if not wanted <= self._known_counts().keys():
            await self._cluster.update()
        counts = partition_counts(decoded, self._known_counts())
        self._counts = dict.fromkeys(sorted(wanted), 0) | counts
        assignment = self._assignors[protocol].assign(counts, decoded)
        return {member.member_id: encode_assignment(assignment.get(member.member_id, ())) for member in decoded}

    def _known_counts(self) -> dict[str, int]:
        missing = dict.fromkeys(self._counts or (), 0)
        return missing | {name: topic.partition_count for name, topic in self._cluster.metadata.topics.items() if topic.partitions}

    # Giving up and taking over

    async def prepare(self, generation: Generation) -> None:
        """Before joining."""
        if generation.generation_id == NO_GENERATION:
            await self._give_up(list(self._assigned), self.listener.lost)
            return
        await self._commit(list(self._assigned))
        await self._give_up([each for each in self._assigned if not self.cooperative or each.topic not in self.topics], self.listener.revoked)

    async def complete(self, joined: Joined, generation: Generation) -> bool:
        """After joining; True where we must join again, for others wait for what we give up now."""
        new = decode_assignment(joined.assignment)
        revoked = [each for each in self._assigned if each not in set(new)] if self.cooperative else []
        if revoked:
            await self._commit(revoked)
            await self._give_up(revoked, self.listener.revoked)
        added = [each for each in new if each not in self._assigned]
        self._assigned.replace(new, None if self._was_assigned else self._settings.first_start)
        self._was_assigned = True
        self._last = tuple(new), generation.generation_id
        self._cluster.want_also({each.topic for each in new})
        log.info("Assigned in generation %d of group %s: %s", generation.generation_id, self._settings.group_id, ", ".join(map(str, new)) or "nothing")
        await self.listener.assigned(added)
        return bool(revoked)

    async def leave(self) -> None:
        """Before leaving the group for good."""
        await self._give_up(list(self._assigned), self.listener.revoked)

    async def _commit(self, partitions: Sequence[TopicPartition]) -> None:
        if self.commit is None:
            return
        positions = self._assigned.positions()
        try:
            await self.commit({each: positions[each] for each in partitions if each in positions})
        except Exception as error:  # noqa: BLE001  # whatever it was, the group cannot wait: records will be read again
            log.warning("Offsets were not committed before a rebalance: %s", error)

    async def _give_up(self, partitions: Sequence[TopicPartition], tell: Callable[[Sequence[TopicPartition]], Promise[None]]) -> None:
        if not partitions:
            return
        for each in partitions:
            self._assigned[each].being_revoked = True
        try:
            await tell(partitions)
        finally:
            for each in partitions:
                self._assigned.pop(each, None)
