"""The produce path: records into the logs that this broker leads, and the wait for the in-sync replicas.

With acks=1 and one partition this is: find the partition, `Partition.append_records_to_leader`, look whether anybody waits for it. No purgatory, no promise.
What takes long to check or convert (log/pending_append.py) is looked at in a thread, while what comes after it for the same partition waits for its turn. A
request for many partitions is spread over several turns of the reactor.
Mirrors ReplicaManager.appendRecords and deleteRecords; facts/coordination.md 4.8, storage.md 12.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeAlias

from pykafka_classic.cluster.delayed_operations import DelayedOperations
from pykafka_classic.cluster.partition import ALL_IN_SYNC_REPLICAS, Partition
from pykafka_classic.common.clock import Background, Clock, after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_name import INTERNAL_TOPICS, is_internal
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log_values import LogAppendInfo
from pykafka_classic.log.record_errors import RecordValidationError
from pykafka_classic.server.append_values import AppendParams, DeleteRecordsResult, PartitionAppendResult
from pykafka_classic.server.delayed_delete_records import DelayedDeleteRecords
from pykafka_classic.server.delayed_produce import DelayedProduce
from pykafka_classic.server.hosted_partitions import HostedPartitions
from pykafka_classic.server.turns import Turns

log = logging.getLogger("kafka.server.ReplicaManager")

Records: TypeAlias = bytes | memoryview
AppendResults: TypeAlias = dict[TopicPartition, PartitionAppendResult]
DeleteResults: TypeAlias = dict[TopicPartition, DeleteRecordsResult]

# So long, and the rest of a request's partitions come in the reactor's next turns: so long in each, for all such requests together.
AT_ONCE_MS: Final = 2
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


Appended: TypeAlias = tuple[LogAppendInfo, bool]  # what was written, and whether the high watermark rose with it


@dataclass(slots=True)
class _Request:
    """One Produce on its way: the partitions not begun yet, the outcomes so far, and the offsets that the in-sync replicas have to reach."""

    params: AppendParams
    entries: deque[tuple[TopicPartition, Records]]
    results: AppendResults = field(default_factory=dict)
    required: dict[TopicPartition, int] = field(default_factory=dict)
    slow: list[tuple[TopicPartition, Promise[Appended]]] = field(default_factory=list)  # in other threads
    outcome: Promise[AppendResults] = field(default_factory=Promise)  # of one that waits for its turn


class RecordAppends:
    """Appends and deletions of records on behalf of clients and coordinators."""

    def __init__(self, hosted: HostedPartitions, delayed: DelayedOperations, background: Background, clock: Clock) -> None:
        self._hosted = hosted
        self._delayed = delayed
        self._background = background
        self._clock = clock
        self._turns: Turns[Appended] = Turns()
        self._waiting: deque[_Request] = deque()  # for one of the next turns of the reactor, in order of arrival
        self._goes_on = False  # `_go_on` is under way

    def append(self, params: AppendParams, entries: Sequence[tuple[TopicPartition, Records]]) -> AppendResults | Promise[AppendResults]:
        """Append to each partition; the outcomes at once, or later where acks=all has to wait, or another thread has work to do."""
        if params.required_acks not in VALID_REQUIRED_ACKS:
            return {topic_partition: PartitionAppendResult(ErrorCode.INVALID_REQUIRED_ACKS) for topic_partition, _ in entries}
        if len(entries) == 1 and not self._waiting:
            return self._append_to_one(params, *entries[0])
        request = _Request(params, deque(entries))
        if not self._waiting and self._append_until(request, self._clock.monotonic_ms() + AT_ONCE_MS):
            return self._answer_when_done(request)
        self._waiting.append(request)
        if not self._goes_on:
            spawn(self._go_on())
        return request.outcome

    def _append_to_one(self, params: AppendParams, topic_partition: TopicPartition, records: Records) -> AppendResults | Promise[AppendResults]:
        """The same for one partition at once, without a request that is kept."""
        try:
            appended = self._append_one(params, topic_partition, records)
        except Exception as error:  # noqa: BLE001  # as below
            return {topic_partition: self._failure(topic_partition, error)}
        if isinstance(appended, Promise):
            return spawn(self._await_slow(_Request(params, deque(), slow=[(topic_partition, appended)])))
        info, high_watermark_moved = appended
        self._tell(topic_partition, high_watermark_moved=high_watermark_moved)
        results = {topic_partition: PartitionAppendResult(ErrorCode.NONE, info.first_offset, info.log_append_time, info.log_start_offset)}
        if params.required_acks == ALL_IN_SYNC_REPLICAS:
            return self._wait(params.timeout_ms, {topic_partition: info.last_offset + 1}, results)
        return results

    async def _go_on(self) -> None:
        """Requests for many partitions go on in the next turns of the reactor; what comes after them keeps its place behind them."""
        self._goes_on = True
        while self._waiting:
            await after(self._clock, 0)
            deadline_ms = self._clock.monotonic_ms() + AT_ONCE_MS
            while self._append_until(self._waiting[0], deadline_ms):
                spawn(self._finish(self._waiting.popleft()))
                if not self._waiting or self._clock.monotonic_ms() >= deadline_ms:
                    break
        self._goes_on = False

    async def _finish(self, request: _Request) -> None:
        answer = self._answer_when_done(request)
        request.outcome.resolve(await answer if isinstance(answer, Promise) else answer)

    def _append_until(self, request: _Request, deadline_ms: float) -> bool:
        """Begin its partitions, one at least, until the time is over; True where none is left."""
        advanced: list[tuple[TopicPartition, bool]] = []
        while request.entries:
            topic_partition, records = request.entries.popleft()
            try:
                appended = self._append_one(request.params, topic_partition, records)
            except Exception as error:  # noqa: BLE001  # a bug met by one partition's records is answered there, and logged
                request.results[topic_partition] = self._failure(topic_partition, error)
                continue
            if isinstance(appended, Promise):
                request.slow.append((topic_partition, appended))
            else:
                advanced.append((topic_partition, self._note(request, topic_partition, appended)))
            if request.entries and self._clock.monotonic_ms() >= deadline_ms:
                break
        for topic_partition, high_watermark_moved in advanced:
            self._tell(topic_partition, high_watermark_moved=high_watermark_moved)
        return not request.entries

    def _answer_when_done(self, request: _Request) -> AppendResults | Promise[AppendResults]:
        return spawn(self._await_slow(request)) if request.slow else self._answer(request)

    def _append_one(self, params: AppendParams, topic_partition: TopicPartition, records: Records) -> Appended | Promise[Appended]:
        if not params.internal_topics_allowed and topic_partition.topic in INTERNAL_TOPICS:
            _refuse_internal(topic_partition)
        partition = self._hosted.get(topic_partition)
        if partition.takes_long(records, params.origin) or self._turns.is_busy(topic_partition):
            return spawn(self._append_in_turn(params, topic_partition, records))
        appended = partition.append_records_to_leader(records, params.origin, required_acks=params.required_acks)
        return spawn(self._flushed(partition, appended)) if partition.must_flush else appended

    async def _flushed(self, partition: Partition, appended: Appended) -> Appended:
        if partition.must_flush and partition.log is not None:
            await partition.log.flusher.flush_until(appended[0].last_offset + 1)
        return appended

    async def _append_in_turn(self, params: AppendParams, topic_partition: TopicPartition, records: Records) -> Appended:
        partition = self._hosted.get(topic_partition)
        appended = await self._turns.take(topic_partition, lambda: self._append_slowly(params, topic_partition, records))
        return await self._flushed(partition, appended)  # not in its turn: those behind it share the flush

    async def _append_slowly(self, params: AppendParams, topic_partition: TopicPartition, records: Records) -> Appended:
        """Check and convert in a thread, then write; from the start again where the log was truncated or its rules changed in between."""
        while True:
            partition = self._hosted.get(topic_partition)
            if not partition.takes_long(records, params.origin):
                return partition.append_records_to_leader(records, params.origin, required_acks=params.required_acks)
            pending = partition.pending_append(records, params.origin, required_acks=params.required_acks)
            await self._background.run(pending.validate)
            if pending.fits(partition.leader_log, partition.leader_epoch) and self._hosted.online.get(topic_partition) is partition:
                return partition.append_records_to_leader(pending, params.origin, required_acks=params.required_acks)

    async def _await_slow(self, request: _Request) -> AppendResults:
        for topic_partition, appending in request.slow:
            try:
                moved = self._note(request, topic_partition, await appending)
            except Exception as error:  # noqa: BLE001  # as above
                request.results[topic_partition] = self._failure(topic_partition, error)
            else:
                self._tell(topic_partition, high_watermark_moved=moved)
        outcome = self._answer(request)
        return await outcome if isinstance(outcome, Promise) else outcome

    def _note(self, request: _Request, topic_partition: TopicPartition, appended: Appended) -> bool:
        info, high_watermark_moved = appended
        request.results[topic_partition] = PartitionAppendResult(ErrorCode.NONE, info.first_offset, info.log_append_time, info.log_start_offset)
        request.required[topic_partition] = info.last_offset + 1
        return high_watermark_moved

    def _tell(self, topic_partition: TopicPartition, *, high_watermark_moved: bool) -> None:
        if high_watermark_moved:
            self._delayed.check_all(topic_partition)
        else:
            self._delayed.check_fetch(topic_partition)

    def _answer(self, request: _Request) -> AppendResults | Promise[AppendResults]:
        if request.params.required_acks == ALL_IN_SYNC_REPLICAS and request.required:
            return self._wait(request.params.timeout_ms, request.required, request.results)
        return request.results

    def _failure(self, topic_partition: TopicPartition, error: Exception) -> PartitionAppendResult:
        if not isinstance(error, KafkaError):
            log.error("Error processing append operation on partition %s", topic_partition, exc_info=error)
            return PartitionAppendResult(ErrorCode.UNKNOWN_SERVER_ERROR, log_start_offset=self._log_start_offset(topic_partition))
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


def _refuse_internal(topic_partition: TopicPartition) -> NoReturn:
    raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot append to internal topic {topic_partition.topic}")
