"""Which offsets a migration copies, and when it is refused. Pure functions of what was read."""

from __future__ import annotations

from pykafka_classic.client.group_offsets.values import Action, GroupIsAlive, GroupSnapshot, PartitionOffsets, Step, Store, StoredOffset
from pykafka_classic.common.topic_partition import TopicPartition


def refuse_while_alive(snapshot: GroupSnapshot, *, source: Store, force: bool) -> None:
    """Raise GroupIsAlive where members could still commit.

    Members of the source go on committing there, so what is copied is out of date at once; members of the target would write over it, without ever having
    seen it. Members of a ZooKeeper group may commit to either store (`offsets.storage`).
    """
    for store, place in ((source, "source"), (source.other, "target")):
        members = snapshot.members[store]
        if members and not force:
            some = ", ".join(members[:3]) + (f" and {len(members) - 3} more" if len(members) > 3 else "")
            raise GroupIsAlive(
                f"group {snapshot.group} has {len(members)} living member{'s' if len(members) > 1 else ''} in the {place} ({store.value}): {some}. "
                f"Stop them first, or force it and lose what they commit meanwhile."
            )


def plan(snapshot: GroupSnapshot, *, source: Store, force: bool) -> tuple[Step, ...]:
    """A step for each partition of which the source holds something, by name."""
    steps = [
        Step(partition, decide(offsets, source=source, force=force), offsets.of(source), offsets.of(source.other))
        for partition, offsets in snapshot.partitions.items()
        if offsets.of(source) is not None
    ]
    if source is Store.ZOOKEEPER:
        steps += [Step(partition, Action.UNREADABLE, None, _in_kafka(snapshot, partition), why) for partition, why in snapshot.unreadable.items()]
    return tuple(sorted(steps, key=lambda step: step.partition))


def decide(offsets: PartitionOffsets, *, source: Store, force: bool) -> Action:
    """One partition. With `force` the source wins whatever the times say."""
    here, there = offsets.of(source), offsets.of(source.other)
    assert here is not None
    if there is None:
        return Action.COPY
    if here.offset == there.offset:
        return Action.SAME
    if force:
        return Action.COPY
    if here.written_ms is None or there.written_ms is None:
        return Action.TIME_UNKNOWN
    return Action.COPY if here.written_ms > there.written_ms else Action.TARGET_NEWER


def _in_kafka(snapshot: GroupSnapshot, partition: TopicPartition) -> StoredOffset | None:
    offsets = snapshot.partitions.get(partition)
    return None if offsets is None else offsets.kafka
