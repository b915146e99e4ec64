"""The parts of the transaction coordinator, joined: what a broker starts and what its handlers ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pykafka_classic.common.clock import Clock
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.coordinator.internal_topic import InternalTopic
from pykafka_classic.coordinator.partition_loader import PartitionLoader
from pykafka_classic.coordinator.transaction.loading import WORDS
from pykafka_classic.coordinator.transaction.marker_channels import MarkerChannels, Peers
from pykafka_classic.coordinator.transaction.transaction_coordinator import TransactionCoordinator
from pykafka_classic.coordinator.transaction.transaction_store import TransactionStore


class TransactionService:
    """`coordinator`: the requests; `loader`: leadership of partitions; `store`: whose transactional id is it."""

    def __init__(self, config: KafkaConfig, clock: Clock, topic: InternalTopic, peers: Peers, generate: Callable[[], Awaitable[int]]) -> None:
        self.store = TransactionStore(clock, topic)
        self._markers = MarkerChannels(config, clock, peers, self.store)
        self.coordinator = TransactionCoordinator(config, clock, self.store, self._markers, generate)
        self.loader = PartitionLoader(self.store, topic, clock, WORDS, chunk_bytes=config.transaction_state_log_load_buffer_size)

    def start(self) -> None:
        """Begin to answer."""
        self.store.active = True
        self.coordinator.start()

    def shutdown(self) -> None:
        """Answer COORDINATOR_NOT_AVAILABLE from now on, and send no markers."""
        self.store.active = False
        self._markers.shutdown()
