"""Records for clients that are too old for them: rewritten to the format that the Fetch version can carry, or refused (facts/protocol.md 9, storage.md 16).

A topic's format usually tells that nothing has to be done, without a look at the records. Differs from Kafka: what has to be rewritten is rewritten whole,
not in chunks while it is sent; it is bounded by the request's size limits.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.protocol.messages.fetch import FetchRequest
from pykafka_classic.records.conversion import down_convert_for_fetch
from pykafka_classic.records.record_batch import iterate_batches
from pykafka_classic.server.fetch_values import FetchPartitionData, PartitionFetch
from pykafka_classic.server.replica_manager import ReplicaManager
from pykafka_classic.server.request import Request

ZSTD_VERSION = 10
STORAGE_ERROR_VERSION = 6


class FetchConversion:
    """What one request's answers need."""

    def __init__(self, replica_manager: ReplicaManager, request: Request) -> None:
        self._replica_manager = replica_manager
        self._version = request.version
        self._from_follower = request.expect(FetchRequest).replica_id >= 0

    def apply(self, results: Sequence[FetchPartitionData], asked: Sequence[PartitionFetch]) -> None:
        """Change what this version can't carry; nothing at all for today's clients."""
        if self._version >= ZSTD_VERSION:
            return
        offsets = {partition.topic_partition: partition.fetch_offset for partition in asked}
        for result in results:
            if result.error is ErrorCode.KAFKA_STORAGE_ERROR and self._version < STORAGE_ERROR_VERSION:
                result.error = ErrorCode.NOT_LEADER_OR_FOLLOWER  # old clients would give up on a code that they do not know
            elif not result.error and result.records is not None:
                self._convert(result, offsets.get(result.topic_partition, 0))

    def _convert(self, result: FetchPartitionData, fetch_offset: int) -> None:
        config = self._replica_manager.log_config(result.topic_partition)
        if config is None:
            return
        if config.compression_type == "zstd":
            result.fail(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
            return
        target = 0 if self._version <= 1 else 1 if self._version <= 3 else 2
        if config.record_version <= target:
            return
        data = result.records.read() if isinstance(result.records, FileRecords) else bytes(result.records or b"")
        if all(batch.magic <= target for batch in iterate_batches(data)):
            return
        if not self._from_follower and not config.message_downconversion_enable:
            result.fail(ErrorCode.UNSUPPORTED_VERSION)
            return
        try:
            result.records = down_convert_for_fetch(data, to_magic=target, fetch_offset=fetch_offset)
        except KafkaError as error:
            result.fail(error.code)
