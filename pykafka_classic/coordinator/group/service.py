"""The parts of the group coordinator, joined: what a broker starts and what its handlers ask."""

from __future__ import annotations

from pykafka_classic.common.clock import Clock, Random
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.coordinator.group.expiration import OffsetExpiration
from pykafka_classic.coordinator.group.group_admin import GroupAdmin
from pykafka_classic.coordinator.group.group_coordinator import GroupCoordinator
from pykafka_classic.coordinator.group.group_offsets import GroupOffsetService
from pykafka_classic.coordinator.group.group_store import GroupStore
from pykafka_classic.coordinator.group.loading import WORDS
from pykafka_classic.coordinator.internal_topic import InternalTopic
from pykafka_classic.coordinator.partition_loader import PartitionLoader


class GroupService:
    """`coordinator`: membership; `offsets`: commits; `admin`: looking and deleting; `loader`: leadership of partitions; `store`: whose group is it."""

    def __init__(self, config: KafkaConfig, clock: Clock, random: Random, topic: InternalTopic) -> None:
        self.store = GroupStore(config, clock, topic)
        self.loader = PartitionLoader(self.store, topic, clock, WORDS, chunk_bytes=config.offsets_load_buffer_size)
        self.coordinator = GroupCoordinator(config, clock, random, self.store)
        self.offsets = GroupOffsetService(self.store, self.coordinator, metadata_bytes_max=config.offset_metadata_max_bytes)
        self._expiration = OffsetExpiration(
            self.store,
            clock,
            retention_ms=config.offsets_retention_minutes * 60_000,
            check_interval_ms=config.offsets_retention_check_interval_ms,
        )
        self.admin = GroupAdmin(self.store, self._expiration, clock)

    def start(self) -> None:
        """Begin to answer."""
        self.store.active = True
        self._expiration.start()

    def shutdown(self) -> None:
        """Answer COORDINATOR_NOT_AVAILABLE from now on."""
        self.store.active = False
