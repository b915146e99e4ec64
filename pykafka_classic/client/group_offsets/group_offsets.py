"""`GroupOffsetsCore`: a group in both stores, and its migration from one to the other, as coroutines over the two seams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pykafka_classic.client.admin.core import AdminCore
from pykafka_classic.client.admin.offsets import EARLIEST, LATEST
from pykafka_classic.client.group_offsets.decisions import plan, refuse_while_alive
from pykafka_classic.client.group_offsets.stores import KafkaStore, ZooKeeperStore
from pykafka_classic.client.group_offsets.values import Action, GroupSnapshot, Migration, PartitionOffsets, Step, Store, StoredOffset
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.partition_reader import ONE_BATCH_BYTES, PartitionReader
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import ZooKeeper


class GroupOffsetsCore:
    """The offsets of groups in ZooKeeper and in Kafka."""

    def __init__(self, admin: AdminCore, zk: ZooKeeper) -> None:
        self._admin = admin
        self._reader = PartitionReader(admin.requests)
        self._zookeeper = ZooKeeperStore(zk)
        self._kafka = KafkaStore(admin)

    async def read(self, group: str) -> GroupSnapshot:
        """Both stores, the ends of the partitions, and how long unread records have waited. Raises OffsetsUnavailable, SessionExpired, KafkaError."""
        snapshot = await self._stores(group)
        return replace(snapshot, partitions=await self._with_lag(snapshot.partitions))

    async def migrate(self, group: str, *, source: Store, force: bool = False, dry_run: bool = False) -> Migration:
        """Copy offsets that are newer in `source` to the other store; see `decisions` for what is copied. May be repeated.

        Args:
            group: its id, the same in both stores.
            source: where the offsets are taken from.
            force: although members are alive, and although the target is newer.
            dry_run: say what would be copied, and change nothing.

        Raises:
            GroupIsAlive: members are alive; nothing was changed.
            OffsetsUnavailable, SessionExpired, KafkaError: some may have been copied; run it again.
        """
        snapshot = await self._stores(group)
        refuse_while_alive(snapshot, source=source, force=force)
        steps = plan(snapshot, source=source, force=force)
        if not dry_run:
            failed = await self._write(group, source.other, [step for step in steps if step.action is Action.COPY])
            steps = tuple(replace(step, failed=failed.get(step.partition, step.failed)) for step in steps)
        return Migration(group, source, dry_run, steps)

    async def _stores(self, group: str) -> GroupSnapshot:
        in_zookeeper, in_kafka = await self._zookeeper.read(group), await self._kafka.read(group)
        members = await self._kafka.members(group)
        names = sorted({*in_zookeeper.offsets, *in_kafka})
        partitions = {name: PartitionOffsets(in_zookeeper.offsets.get(name), in_kafka.get(name)) for name in names}
        return GroupSnapshot(group, partitions, in_zookeeper.members, members, in_zookeeper.unreadable)

    async def _write(self, group: str, target: Store, steps: list[Step]) -> Mapping[TopicPartition, str]:
        sources = {step.partition: step.source for step in steps if step.source is not None}
        if target is Store.KAFKA:
            return await self._kafka.write(group, {each: OffsetAndMetadata(source.offset, source.metadata) for each, source in sources.items()})
        before: dict[TopicPartition, StoredOffset] = {step.partition: step.before for step in steps if step.before is not None}
        return await self._zookeeper.write(group, {each: source.offset for each, source in sources.items()}, before)

    # lag

    async def _with_lag(self, partitions: Mapping[TopicPartition, PartitionOffsets]) -> dict[TopicPartition, PartitionOffsets]:
        starts = await self._admin.list_offsets(dict.fromkeys(partitions, EARLIEST))
        ends = await self._admin.list_offsets(dict.fromkeys(partitions, LATEST))

        async def measured(partition: TopicPartition, offsets: PartitionOffsets) -> PartitionOffsets:
            start, end = starts[partition], ends[partition]
            if isinstance(start, KafkaError) or isinstance(end, KafkaError):
                return offsets
            offsets = replace(offsets, log_start=start.offset, log_end=end.offset)
            return replace(offsets, time_lag_ms=await self._waited_ms(partition, offsets))

        found = await gather([spawn(measured(*each)) for each in partitions.items()])
        return dict(zip(partitions, found, strict=True))

    async def _waited_ms(self, partition: TopicPartition, offsets: PartitionOffsets) -> int | None:
        if offsets.lag == 0:
            return 0
        if offsets.lag is None or offsets.current is None or offsets.log_start is None:
            return None
        position = max(offsets.current, offsets.log_start)
        try:
            records = (await self._reader.fetch(partition, position, max_bytes=ONE_BATCH_BYTES)).fetched.records
        except KafkaError:
            return None  # deleted, or without a leader, since its ends were told
        if not records or records[0].timestamp < 0:
            return None
        return max(0, self._admin.now_ms() - records[0].timestamp)
