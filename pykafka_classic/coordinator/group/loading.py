"""Taking over a partition of `__consumer_offsets`: its records become groups of the store. When and in what steps: `coordinator/partition_loader.py`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Final

from pykafka_classic.common.topic_name import GROUP_METADATA_TOPIC
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata
from pykafka_classic.coordinator.group.loaded_records import STEP, LoadedRecords
from pykafka_classic.coordinator.group.offsets import GroupOffsets
from pykafka_classic.coordinator.partition_loader import Words

WORDS: Final = Words(
    logger=logging.getLogger("kafka.coordinator.group.GroupMetadataManager"),
    topic=GROUP_METADATA_TOPIC,
    coordinator="GroupCoordinator",
    role="group coordinator",
    contents="offsets and group metadata",
)


class GroupReading:
    """One partition's groups. `put` takes each in, with its offsets."""

    def __init__(self, put: Callable[[GroupMetadata, GroupOffsets], object]) -> None:
        self._put = put
        self._loaded = LoadedRecords()

    def replay(self, data: bytes, from_offset: int) -> int:
        """See `LoadedRecords.replay`."""
        return self._loaded.replay(data, from_offset)

    def take_over(self) -> Iterator[None]:
        """Decode what counts, then hand the groups out; stops now and then."""
        loaded = self._loaded
        yield from loaded.decode()
        for number, group_id in enumerate(sorted(loaded.offsets.keys() | loaded.groups.keys())):
            if number % STEP == STEP - 1:
                yield
            self._put(loaded.groups.get(group_id) or GroupMetadata(group_id), loaded.offsets.get(group_id) or GroupOffsets())
