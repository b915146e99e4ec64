"""From a start as it is written (`client.starts`) to offsets, by asking the leaders.

An offset that is named is taken as it is: whether it is still there shows when it is fetched, and `auto.offset.reset` says what then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pykafka_classic.client.consuming.offset_lookup import EARLIEST, LATEST, FoundOffset
from pykafka_classic.client.starts import AtOffset, AtTime, ByPartition, LastN, PartitionStart, Start, Word
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition

LookUp = Callable[[Mapping[TopicPartition, int]], Promise[dict[TopicPartition, FoundOffset | None]]]


def by_partition(start: Start, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, PartitionStart]:
    """What a start says of each; partitions that it leaves out are left out."""
    if isinstance(start, ByPartition):
        return {partition: start.starts[partition] for partition in partitions if partition in start.starts}
    return dict.fromkeys(partitions, start)


async def resolve(starts: Mapping[TopicPartition, PartitionStart], look_up: LookUp) -> dict[TopicPartition, FoundOffset]:
    """The offset of each start but COMMITTED, which is not the leaders' to know. Raises as `look_up` does."""
    found = {partition: FoundOffset(start.offset) for partition, start in starts.items() if isinstance(start, AtOffset)}
    times = {partition: start.timestamp_ms for partition, start in starts.items() if isinstance(start, AtTime)}
    by_time = await look_up(times) if times else {}
    found |= {partition: each for partition, each in by_time.items() if each is not None}
    last = {partition: start.count for partition, start in starts.items() if isinstance(start, LastN)}
    first = [partition for partition, start in starts.items() if start is Word.EARLIEST]
    end = [partition for partition, start in starts.items() if start is Word.LATEST or by_time.get(partition, start) is None]
    beginnings = await look_up(dict.fromkeys([*first, *last], EARLIEST)) if first or last else {}
    ends = await look_up(dict.fromkeys([*end, *last], LATEST)) if end or last else {}
    found |= {partition: _known(beginnings[partition]) for partition in first}
    found |= {partition: _known(ends[partition]) for partition in end}
    for partition, count in last.items():
        found[partition] = FoundOffset(max(_known(beginnings[partition]).offset, _known(ends[partition]).offset - count))
    return found


def _known(found: FoundOffset | None) -> FoundOffset:
    return found if found is not None else FoundOffset(0)  # the first and the last offset exist, also of an empty partition
