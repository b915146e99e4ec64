"""What a member of a ZooKeeper group sees, and the assignment that follows from it: two members that see the same compute the same.

Every read sets a watch, so that whatever changes afterwards wakes the member: the members, the topics that a filter may match, the partitions of the
topics, and the brokers while there are none.

Differs from Kafka: a member whose znode cannot be read counts as one that reads nothing (in Kafka every member's rebalance fails); a topic that does not
exist yet is watched, and read once it does.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pykafka_classic.assignors.zookeeper_assignors import ThreadAssignment, ThreadAssignor, thread_ids
from pykafka_classic.client.group_format import GroupFormat
from pykafka_classic.client.group_session import GroupSession
from pykafka_classic.client.subscription import InvalidSubscription, Subscription
from pykafka_classic.common.zookeeper import GetChildren, GetData
from zk_schema import broker_ids, consumers, topics
from zk_schema.broker_ids import SecurityProtocol
from zk_schema.errors import MalformedZNode

log = logging.getLogger("kafka.consumer.ZookeeperConsumerConnector")

BROKER_IDS_PATH = "/brokers/ids"
TOPICS_PATH = "/brokers/topics"


@dataclass(frozen=True, slots=True)
class GroupView:
    """One look at a group."""

    brokers: Mapping[int, tuple[str, int]]  # host and port of those with a plaintext listener, by id
    streams: Mapping[str, Mapping[str, int]]  # consumer id: topic: number of threads
    partitions: Mapping[str, Sequence[int]]  # by topic, of those that matter to the group

    def assignment(self, assignor: ThreadAssignor) -> ThreadAssignment:
        """Who reads what. May raise AssignmentImpossible."""
        threads: dict[str, list[str]] = {}
        for consumer_id, streams in self.streams.items():
            for topic, count in streams.items():
                threads.setdefault(topic, []).extend(thread_ids(consumer_id, count))
        return assignor(self.partitions, threads)


async def look_at_group(session: GroupSession, group: str, written: GroupFormat, *, exclude_internal: bool) -> GroupView:
    """Read all that an assignment depends on, and watch it."""
    members, brokers, names = await session.submit(
        [GetChildren(consumers.ids_path(group), watch=True), GetChildren(BROKER_IDS_PATH, watch=True), GetChildren(TOPICS_PATH, watch=True)]
    )
    subscriptions = await _subscriptions(session, group, members.children, written)
    streams = {name: each.streams_by_topic(names.children, exclude_internal=exclude_internal) for name, each in subscriptions.items()}
    wanted = sorted({topic for some in streams.values() for topic in some})
    partitions = await _partitions(session, wanted)
    await written.learn(session, partitions)
    return GroupView(await _brokers(session, brokers.children), streams, partitions)


async def _subscriptions(session: GroupSession, group: str, members: Sequence[str], written: GroupFormat) -> dict[str, Subscription]:
    found: dict[str, Subscription] = {}
    names = sorted(members)
    for name, result in zip(names, await session.submit([GetData(consumers.id_path(group, name)) for name in names]), strict=True):
        if not result.ok:
            continue  # it left just now, and the watch on its siblings tells so
        try:
            found[name] = written.decode_id(result.data)
        except (MalformedZNode, InvalidSubscription) as error:
            log.warning("Member %s of group %s counts as one that reads nothing: %s", name, group, error)
    return found


async def _partitions(session: GroupSession, wanted: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, result in zip(wanted, await session.submit([GetData(topics.path(topic), watch=True) for topic in wanted]), strict=True):
        if not result.ok:
            continue  # not there yet: the watch on its siblings will tell
        try:
            found[topic] = sorted(topics.decode(result.data).assignment)
        except MalformedZNode as error:
            log.warning("Topic %s counts as one without partitions: %s", topic, error)
    return found


async def _brokers(session: GroupSession, children: Sequence[str]) -> dict[int, tuple[str, int]]:
    found: dict[int, tuple[str, int]] = {}
    names = sorted(name for name in children if name.isdigit())
    for name, result in zip(names, await session.submit([GetData(broker_ids.path(int(name))) for name in names]), strict=True):
        if not result.ok:
            continue
        try:
            znode = broker_ids.decode(result.data)
        except MalformedZNode as error:
            log.warning("Broker %s counts as dead: %s", name, error)
            continue
        plain = next((each for each in znode.endpoints if each.security_protocol is SecurityProtocol.PLAINTEXT), None)
        if plain is not None:
            found[int(name)] = (plain.host, plain.port)
    return found
