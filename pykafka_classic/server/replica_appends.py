"""The produce path: records into the logs that this broker leads, and the wait for the in-sync replicas.

With acks=1 and one partition this is: find the partition, `Partition.append_records_to_leader`, look whether anybody waits for it. No purgatory, no promise.
Mirrors ReplicaManager.appendRecords and deleteRecords; facts/coordination.md 4.8, storage.md 12.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from pykafka_classic.cluster.delayed_operations import DelayedOperations
from pykafka_classic.cluster.partition import ALL_IN_SYNC_REPLICAS
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_name import is_internal
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log_values import LogAppendInfo
from pykafka_classic.log.record_errors import RecordValidationError
from pykafka_classic.server.append_values import AppendParams, DeleteRecordsResult, PartitionAppendResult
from pykafka_classic.server.delayed_delete_records import DelayedDeleteRecords
from pykafka_classic.server.delayed_produce import DelayedProduce
from pykafka_classic.server.hosted_partitions import HostedPartitions

log = logging.getLogger("kafka.server.ReplicaManager")

Records: TypeAlias = bytes | memoryview
AppendResults: TypeAlias = dict[TopicPartition, PartitionAppendResult]
DeleteResults: TypeAlias = dict[TopicPartition, DeleteRecordsResult]

VALID_REQUIRED_ACKS: Final = frozenset({-1, 0, 1})

# Refusals that name no log start offset: the records never reached a log that could tell it (facts/observed.md).
_WITHOUT_LOG_START: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)


class RecordAppends:
    """Appends and deletions of records on behalf of clients and coordinators."""

    def __init__(self, hosted: HostedPartitions, delayed: DelayedOperations) -> None:
        self._hosted = hosted
        self._delayed = delayed

    def append(self, params: AppendParams, entries: Sequence[tuple[TopicPartition, Records]]) -> AppendResults | Promise[AppendResults]:
        """Append to each partition; the outcomes at once, or later where acks=all has to wait."""
        if params.required_acks not in VALID_REQUIRED_ACKS:
            return {topic_partition: PartitionAppendResult(ErrorCode.INVALID_REQUIRED_ACKS) for topic_partition, _ in entries}
        results: AppendResults = {}
        required: dict[TopicPartition, int] = {}
        advanced: list[tuple[TopicPartition, bool]] = []
        for topic_partition, records in entries:
            try:
                info, high_watermark_moved = self._append_one(params, topic_partition, records)
            except KafkaError as error:
                results[topic_partition] = self._failure(topic_partition, error)
                continue
            except Exception:
                log.exception("Error processing append operation on partition %s", topic_partition)
                results[topic_partition] = PartitionAppendResult(ErrorCode.UNKNOWN_SERVER_ERROR, log_start_offset=self._log_start_offset(topic_partition))
                continue
            results[topic_partition] = PartitionAppendResult(ErrorCode.NONE, info.first_offset, info.log_append_time, info.log_start_offset)
            required[topic_partition] = info.last_offset + 1
            advanced.append((topic_partition, high_watermark_moved))
        for topic_partition, high_watermark_moved in advanced:
            if high_watermark_moved:
                self._delayed.check_all(topic_partition)
            else:
                self._delayed.check_fetch(topic_partition)
        if params.required_acks == ALL_IN_SYNC_REPLICAS and required:
            return self._wait(params.timeout_ms, required, results)
        return results

    def _append_one(self, params: AppendParams, topic_partition: TopicPartition, records: Records) -> tuple[LogAppendInfo, bool]:
        if not params.internal_topics_allowed and is_internal(topic_partition.topic):
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot append to internal topic {topic_partition.topic}")
        return self._hosted.get(topic_partition).append_records_to_leader(records, params.origin, required_acks=params.required_acks)

    def _failure(self, topic_partition: TopicPartition, error: KafkaError) -> PartitionAppendResult:
        if error.code in _WITHOUT_LOG_START or error.code is ErrorCode.INVALID_TOPIC_EXCEPTION:
            return PartitionAppendResult(error.code)
        log.info("Error processing append operation on partition %s: %s (%s)", topic_partition, error, error.code.name)
        result = PartitionAppendResult(error.code, log_start_offset=self._log_start_offset(topic_partition))
        if isinstance(error, RecordValidationError):
            result.record_errors, result.error_message = error.record_errors, str(error)
        return result

    def _log_start_offset(self, topic_partition: TopicPartition) -> int:
        partition = self._hosted.online.get(topic_partition)
        leader_log = None if partition is None else partition.leader_log
        return -1 if leader_log is None else leader_log.log_start_offset

    def _wait(self, timeout_ms: float, required: Mapping[TopicPartition, int], results: AppendResults) -> AppendResults | Promise[AppendResults]:
        operation = DelayedProduce(timeout_ms, self._hosted, required, results)
        if self._delayed.produce.try_complete_else_watch(operation, list(required)):
            return results
        return operation.outcome

    def delete_records(self, timeout_ms: float, offsets: Mapping[TopicPartition, int]) -> DeleteResults | Promise[DeleteResults]:
        """Raise log starts (-1: to the high watermark), and wait until all live replicas have done so."""
        results: DeleteResults = {}
        required: dict[TopicPartition, int] = {}
        for topic_partition, offset in offsets.items():
            try:
                wanted, low_watermark = self._delete_one(topic_partition, offset)
            except KafkaError as error:
                results[topic_partition] = DeleteRecordsResult(error.code)
                continue
            results[topic_partition] = DeleteRecordsResult(low_watermark=low_watermark)
            if low_watermark < wanted:
                required[topic_partition] = wanted
        if not required:
            return results
        operation = DelayedDeleteRecords(timeout_ms, self._hosted, required, results)
        if self._delayed.delete_records.try_complete_else_watch(operation, list(required)):
            return results
        return operation.outcome

    def _delete_one(self, topic_partition: TopicPartition, offset: int) -> tuple[int, int]:
        if is_internal(topic_partition.topic):
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot delete records of internal topic {topic_partition.topic}")
        return self._hosted.get(topic_partition).delete_records_on_leader(offset)
