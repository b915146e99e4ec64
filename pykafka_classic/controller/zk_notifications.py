"""Znodes by which others speak to the controller: ISR changes, failed disks, elections and reassignments asked for by tools.

    /isr_change_notification/isr_change_<seq>       "look again at these partitions"     (leaders, inter.broker.protocol.version below 2.7-IV2)
    /log_dir_event_notification/log_dir_event_<seq> "a disk of this broker failed"        (brokers)
    /admin/preferred_replica_election               "elect the preferred leaders of these" (kafka-preferred-replica-election)
    /admin/reassign_partitions                      "move these partitions"               (kafka-reassign-partitions --zookeeper)

All are removed, fenced, once they are dealt with. The two under /admin are watched for their creation only.
Source: facts/coordination.md 1.2; Kafka's zk/KafkaZkClient.scala.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code, Create, GetChildren, GetData, SetData
from pykafka_classic.controller.zk_client import ControllerZkClient, expect
from zk_schema import isr_change_notification, log_dir_event_notification, preferred_replica_election, reassign_partitions
from zk_schema.errors import MalformedZNode

log = logging.getLogger("kafka.zk.KafkaZkClient")


class ZkNotifications:
    """Reads and removes them."""

    def __init__(self, zk: ControllerZkClient) -> None:
        self._zk = zk

    async def _children(self, parent: str) -> list[str]:
        [result] = await self._zk.submit([GetChildren(parent, watch=True)])
        return [f"{parent}/{child}" for child in sorted(expect(result, Code.NO_NODE).children)]

    # ISR changes

    async def isr_changes(self) -> list[str]:
        """The paths of all ISR change notifications; watches for more."""
        return await self._children(isr_change_notification.PATH)

    async def partitions_of_isr_changes(self, paths: Collection[str]) -> list[TopicPartition]:
        """The partitions that these notifications name, each once."""
        partitions: dict[TopicPartition, None] = {}
        for path, result in zip(paths, await self._zk.submit([GetData(path) for path in paths]), strict=True):
            if not expect(result, Code.NO_NODE).ok:
                continue
            try:
                partitions |= {TopicPartition(*named): None for named in isr_change_notification.decode(result.data)}
            except MalformedZNode as error:
                log.error("Ignoring %s: %s", path, error)
        return list(partitions)

    # Failed disks

    async def log_dir_events(self) -> list[str]:
        """The paths of all notifications of failed log directories; watches for more."""
        return await self._children(log_dir_event_notification.PATH)

    async def brokers_of_log_dir_events(self, paths: Collection[str]) -> list[int]:
        """The brokers that lost a log directory."""
        brokers: set[int] = set()
        for path, result in zip(paths, await self._zk.submit([GetData(path) for path in paths]), strict=True):
            if not expect(result, Code.NO_NODE).ok:
                continue
            try:
                brokers.add(log_dir_event_notification.decode(result.data).broker)
            except MalformedZNode as error:
                log.error("Ignoring %s: %s", path, error)
        return sorted(brokers)

    async def delete(self, paths: Collection[str]) -> None:
        """Remove notifications that were dealt with."""
        await self._zk.delete_fenced(list(paths))

    # Preferred replica election

    async def watch_preferred_replica_election(self) -> bool:
        """Watch for the znode's creation; whether it is there now."""
        return await self._zk.watch_existence(preferred_replica_election.PATH)

    async def preferred_replica_election(self) -> list[TopicPartition]:
        """The partitions whose preferred replica shall lead; none where the znode is missing or cannot be read."""
        result = await self._zk.get(preferred_replica_election.PATH)
        if not result.ok:
            return []
        try:
            return [TopicPartition(*named) for named in preferred_replica_election.decode(result.data)]
        except MalformedZNode as error:
            log.error("Ignoring %s: %s", preferred_replica_election.PATH, error)
            return []

    async def delete_preferred_replica_election(self) -> None:
        """The election has been run."""
        await self.delete([preferred_replica_election.PATH])

    # Reassignment

    async def watch_reassignment(self) -> bool:
        """Watch for the creation of /admin/reassign_partitions; whether it is there now."""
        return await self._zk.watch_existence(reassign_partitions.PATH)

    async def reassignment(self) -> dict[TopicPartition, tuple[int, ...]] | None:
        """The moves that a tool asked for; None: no such znode. One that cannot be read asks for nothing."""
        result = await self._zk.get(reassign_partitions.PATH)
        if not result.ok:
            return None
        try:
            stored = reassign_partitions.decode(result.data)
        except MalformedZNode as error:
            log.error("Ignoring %s: %s", reassign_partitions.PATH, error)
            return {}
        return {TopicPartition(*partition): tuple(replicas) for partition, replicas in stored.items()}

    async def write_reassignment(self, moves: Mapping[TopicPartition, tuple[int, ...]]) -> None:
        """Replace what is left to do."""
        data = reassign_partitions.encode(moves)
        [result] = await self._zk.fenced([SetData(reassign_partitions.PATH, data)])
        if expect(result, Code.NO_NODE).code is Code.NO_NODE:
            [result] = await self._zk.fenced([Create(reassign_partitions.PATH, data)])
            expect(result)

    async def delete_reassignment(self) -> None:
        """Nothing is left to do."""
        await self.delete([reassign_partitions.PATH])
