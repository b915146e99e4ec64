"""How members write themselves and their claims down: Kafka's way, and that of pykafka's BalancedConsumer, which is another.

| | Kafka | pykafka 2.8, Python 3 |
|---|---|---|
| /consumers/G/ids/<id> | JSON: subscription, pattern, timestamp | the topic's name, nothing else |
| owners | owners/<topic>/<partition>: thread id | owners/b'<topic>'/<leader>-<partition>: member id |
| order of partitions for `range` | by number | by the text b'<topic>'-<leader>-<partition> |
| offsets | ZooKeeper, Kafka, or both | Kafka |

The two do not see each other: a group is of one kind. Ours can be a member of either.

Source: pykafka 2.8.0, pykafka/{balancedconsumer,membershipprotocol}.py (read for its formats); facts/observed.md, Groups; zk_schema/consumers.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pykafka_classic.assignors.range import ranges
from pykafka_classic.assignors.zookeeper_assignors import ThreadAssignment, ThreadAssignor, Threads
from pykafka_classic.client.group_session import GroupSession
from pykafka_classic.client.subscription import InvalidSubscription, Subscription
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import GetData
from zk_schema import consumers, partition_state
from zk_schema.consumers import STATIC
from zk_schema.errors import MalformedZNode


class GroupFormat(Protocol):
    """One way to write a group's znodes."""

    def encode_id(self, subscription: Subscription, timestamp_ms: int) -> bytes:
        """A member's registration."""
        ...

    def decode_id(self, data: bytes | None) -> Subscription:
        """What a member reads. MalformedZNode, InvalidSubscription."""
        ...

    def owner_path(self, group: str, partition: TopicPartition) -> str:
        """Where a partition is claimed."""
        ...

    def encode_owner(self, thread: str) -> bytes:
        """What the claim says."""
        ...

    async def learn(self, session: GroupSession, partitions: Mapping[str, Sequence[int]]) -> None:
        """Read what else it must know of the group's partitions."""
        ...

    @property
    def assignor(self) -> ThreadAssignor:
        """How members divide partitions."""
        ...


class KafkaFormat:
    """As all releases of Kafka's own consumer write."""

    def __init__(self, assignor: ThreadAssignor) -> None:
        self.assignor = assignor

    def encode_id(self, subscription: Subscription, timestamp_ms: int) -> bytes:
        """JSON."""
        return consumers.encode_id(subscription.znode(timestamp_ms))

    def decode_id(self, data: bytes | None) -> Subscription:
        """JSON."""
        return Subscription.of_znode(consumers.decode_id(data))

    def owner_path(self, group: str, partition: TopicPartition) -> str:
        """By topic and number."""
        return consumers.owner_path(group, partition.topic, partition.partition)

    def encode_owner(self, thread: str) -> bytes:
        """The thread's id."""
        return consumers.encode_owner(thread)

    async def learn(self, session: GroupSession, partitions: Mapping[str, Sequence[int]]) -> None:
        """Nothing."""


class PykafkaFormat:
    """As pykafka's BalancedConsumer with its RangeProtocol writes: one topic, one thread."""

    def __init__(self, subscription: Subscription) -> None:
        if subscription.pattern != STATIC or list(subscription.streams.values()) != [1]:
            raise InvalidSubscription("a member of a pykafka group reads one topic, by name, with one stream")
        self._leaders: dict[TopicPartition, int] = {}
        self.assignor: ThreadAssignor = self._assign

    def encode_id(self, subscription: Subscription, timestamp_ms: int) -> bytes:  # noqa: ARG002  # it stores no time
        """The topic."""
        return next(iter(subscription.streams)).encode()

    def decode_id(self, data: bytes | None) -> Subscription:
        """The topic."""
        try:
            topic = (data or b"").decode()
        except UnicodeDecodeError as error:
            raise MalformedZNode(consumers.IDS_FAMILY, "not the name of a topic") from error
        return Subscription.of_topics([topic] if topic else [])

    def owner_path(self, group: str, partition: TopicPartition) -> str:
        """By topic as Python 3 prints bytes, leader and number."""
        return f"{consumers.owners_path(group, repr(partition.topic.encode()))}/{self._leaders.get(partition, -1)}-{partition.partition}"

    def encode_owner(self, thread: str) -> bytes:
        """The member's id."""
        return thread.rpartition("-")[0].encode()

    async def learn(self, session: GroupSession, partitions: Mapping[str, Sequence[int]]) -> None:
        """The leaders, which are part of the names."""
        every = [TopicPartition(topic, number) for topic, numbers in partitions.items() for number in numbers]
        for partition, result in zip(every, await session.submit([GetData(partition_state.path(*each)) for each in every]), strict=True):
            if result.ok:
                self._leaders[partition] = partition_state.decode(result.data).leader

    def _assign(self, partitions: Mapping[str, Sequence[int]], threads: Threads) -> ThreadAssignment:
        assignment: ThreadAssignment = {}
        for topic, takers in threads.items():
            ordered = sorted(
                (TopicPartition(topic, number) for number in partitions.get(topic, ())), key=lambda each: f"{self._leaders.get(each, -1)}-{each.partition}"
            )
            for thread, share in ranges(sorted(takers), len(ordered)):
                assignment.update({ordered[index]: thread for index in share})
        return assignment
