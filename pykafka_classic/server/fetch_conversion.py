"""Records for clients that are too old for them: rewritten to the format that the Fetch version can carry, or refused (facts/protocol.md 9, storage.md 16).

| Fetch | gets | zstd |
|---|---|---|
| 0, 1 | magic 0 | UNSUPPORTED_COMPRESSION_TYPE where the topic is compressed with it, or the first batch is; a later one ends the answer |
| 2, 3 | magic 1 | the same |
| 4 to 9 | as it is | UNSUPPORTED_COMPRESSION_TYPE where the topic's compression.type says zstd, whatever the batch; else as it is |
| 10 on | as it is | as it is |

A topic's format usually tells that nothing has to be done, without a look at the records. Rewriting takes long: it is done in a thread.

Differs from Kafka: what has to be rewritten is rewritten whole, not in chunks while it is sent; it is bounded by the request's size limits.

Source: facts/protocol.md 9; KafkaApis.scala (handleFetchRequest); what 2.8.2 answered to Fetch 1 to 11 (tests/unit/server/test_fetch_conversion.py).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.protocol.messages.fetch import FetchRequest
from pykafka_classic.records.conversion import down_convert_for_fetch, magic_for_fetch
from pykafka_classic.records.layout import CorruptRecord
from pykafka_classic.records.record_batch import iterate_batches
from pykafka_classic.server.fetch_values import FetchPartitionData, PartitionFetch
from pykafka_classic.server.replica_manager import ReplicaManager
from pykafka_classic.server.request import Request

log = logging.getLogger("kafka.server.KafkaApis")

ZSTD_VERSION = 10
STORAGE_ERROR_VERSION = 6


class Rewriting(NamedTuple):
    """One answer's records in a format that is too new."""

    result: FetchPartitionData
    records: FileRecords | bytes | memoryview
    fetch_offset: int
    allowed: bool  # message.downconversion.enable


class FetchConversion:
    """What one request's answers need."""

    def __init__(self, replica_manager: ReplicaManager, request: Request) -> None:
        self._replica_manager = replica_manager
        self._version = request.version
        self._from_follower = request.expect(FetchRequest).replica_id >= 0

    def apply(self, results: Sequence[FetchPartitionData], asked: Sequence[PartitionFetch]) -> list[Rewriting]:
        """Change errors that this version can't carry; what has to be rewritten. Nothing at all for today's clients."""
        if self._version >= ZSTD_VERSION:
            return []
        offsets = {partition.topic_partition: partition.fetch_offset for partition in asked}
        rewritings = []
        for result in results:
            if result.error is ErrorCode.KAFKA_STORAGE_ERROR and self._version < STORAGE_ERROR_VERSION:
                result.error = ErrorCode.NOT_LEADER_OR_FOLLOWER  # old clients would give up on a code that they do not know
            elif not result.error and result.records is not None:
                rewritings += self._rewriting(result, result.records, offsets.get(result.topic_partition, 0))
        return rewritings

    def _rewriting(self, result: FetchPartitionData, records: FileRecords | bytes | memoryview, fetch_offset: int) -> list[Rewriting]:
        config = self._replica_manager.log_config(result.topic_partition)
        if config is None:
            return []
        if config.compression_type == "zstd":
            result.fail(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
            return []
        allowed = self._from_follower or config.message_downconversion_enable
        return [Rewriting(result, records, fetch_offset, allowed)] if config.record_version > magic_for_fetch(self._version) else []

    def rewrite(self, rewritings: Sequence[Rewriting]) -> list[bytes | ErrorCode]:
        """The records as this version can read them, or why not. In any thread: nothing that the deciders hold is changed."""
        return [self._rewritten(rewriting) for rewriting in rewritings]

    def _rewritten(self, rewriting: Rewriting) -> bytes | ErrorCode:
        target = magic_for_fetch(self._version)
        try:
            records = rewriting.records
            data = records.read() if isinstance(records, FileRecords) else bytes(records)
            if all(batch.magic <= target for batch in iterate_batches(data)):
                return data
            if not rewriting.allowed:
                return ErrorCode.UNSUPPORTED_VERSION
            return down_convert_for_fetch(data, to_magic=target, fetch_offset=rewriting.fetch_offset)
        except CorruptRecord as error:
            log.error("Records of %s cannot be converted for an old client: %s", _place(rewriting), error)
            return error.code
        except KafkaError as error:
            return error.code
        except OSError as error:
            log.error("Records of %s cannot be read: %s", _place(rewriting), error)
            return ErrorCode.KAFKA_STORAGE_ERROR if self._version >= STORAGE_ERROR_VERSION else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def put(self, rewritings: Sequence[Rewriting], rewritten: Sequence[bytes | ErrorCode]) -> None:
        """Into the answers, on the deciders' thread."""
        for rewriting, outcome in zip(rewritings, rewritten, strict=True):
            if isinstance(outcome, ErrorCode):
                rewriting.result.fail(outcome)
            else:
                rewriting.result.records = outcome


def _place(rewriting: Rewriting) -> str:
    records = rewriting.records
    where = f", {records.length} bytes from position {records.position} of the file" if isinstance(records, FileRecords) else ""
    return f"{rewriting.result.topic_partition} from offset {rewriting.fetch_offset}{where}"
