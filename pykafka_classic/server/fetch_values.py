"""What a Fetch asks of the replica manager, and what it answers for each partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pykafka_classic.cluster.partition_fetch import FetchIsolation, PartitionFetch, Reader
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.transaction_index import AbortedTransaction
from pykafka_classic.protocol.messages.fetch import FetchRequest

__all__ = ["ClientMetadata", "FetchParams", "FetchPartitionData", "PartitionFetch"]

READ_COMMITTED: Final = 1
NO_REPLICA: Final = -1
INT_MAX: Final = 2**31 - 1
FIRST_VERSION_WITH_SOFT_LIMIT: Final = 3  # KIP-74


@dataclass(frozen=True, slots=True)
class ClientMetadata:
    """Who the consumer is, as far as the choice of a replica for it goes (KIP-392)."""

    rack_id: str
    client_id: str
    client_host: str
    listener: str


@dataclass(slots=True, kw_only=True)
class FetchParams:
    """How to read, the same for all partitions of a request. Nobody changes it; not frozen, for that would make each one three times as slow."""

    replica_id: int = -1  # a follower's broker id; negative for consumers
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = INT_MAX  # of all partitions together
    hard_max_bytes_limit: bool = False  # up to v2 no batch may be larger than what was asked for, not even the first
    isolation_level: int = 0
    client: ClientMetadata | None = None  # given from v11 on: the consumer may read from a follower

    @staticmethod
    def from_request(body: FetchRequest, version: int, *, fetch_max_bytes: int, client: ClientMetadata | None = None) -> FetchParams:
        """The parameters of a request; a consumer's size is capped by `fetch.max.bytes`."""
        from_follower = body.replica_id >= 0
        max_bytes = body.max_bytes if from_follower else min(body.max_bytes, fetch_max_bytes)
        return FetchParams(
            replica_id=body.replica_id,
            max_wait_ms=body.max_wait_ms,
            min_bytes=min(body.min_bytes, max_bytes),
            max_bytes=max_bytes,
            hard_max_bytes_limit=version < FIRST_VERSION_WITH_SOFT_LIMIT,
            isolation_level=body.isolation_level,
            client=None if from_follower else client,
        )

    def without_waiting(self) -> FetchParams:
        """The same, to be answered at once."""
        return replace(self, max_wait_ms=0)

    @property
    def is_from_follower(self) -> bool:
        """Whether another broker's fetcher asks."""
        return self.replica_id >= 0

    def reader(self) -> Reader:
        """Up to where, and from whom, this one may read."""
        if self.is_from_follower:
            return Reader(FetchIsolation.LOG_END, only_leader=True, follower_id=self.replica_id)
        isolation = FetchIsolation.TXN_COMMITTED if self.isolation_level == READ_COMMITTED else FetchIsolation.HIGH_WATERMARK
        return Reader(isolation, only_leader=self.client is None)


@dataclass(slots=True)
class FetchPartitionData:
    """The answer for one partition. Offsets are -1 where an error stands."""

    topic_partition: TopicPartition
    error: ErrorCode = ErrorCode.NONE
    high_watermark: int = -1
    log_start_offset: int = -1
    last_stable_offset: int = -1
    records: FileRecords | bytes | memoryview | None = None
    aborted_transactions: Sequence[AbortedTransaction] | None = None  # only for read_committed
    preferred_read_replica: int = NO_REPLICA
    diverging_epoch: tuple[int, int] | None = None  # (epoch, end offset)

    @staticmethod
    def failed(topic_partition: TopicPartition, error: ErrorCode) -> FetchPartitionData:
        """An answer that is an error and nothing else."""
        return FetchPartitionData(topic_partition, error)

    @property
    def size(self) -> int:
        """Bytes of records."""
        return 0 if self.records is None else len(self.records)

    def fail(self, error: ErrorCode) -> None:
        """Turn into an error after all."""
        self.error = error
        self.high_watermark = self.log_start_offset = self.last_stable_offset = -1
        self.records = self.aborted_transactions = self.diverging_epoch = None
        self.preferred_read_replica = NO_REPLICA
