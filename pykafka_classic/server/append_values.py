"""What a Produce asks of the replica manager, and what it answers for each partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.record_errors import RecordError


@dataclass(slots=True, kw_only=True)
class AppendParams:
    """How to append, the same for all partitions of a request. Nobody changes it; not frozen, for that would make each one three times as slow."""

    required_acks: int  # 0: tell nobody, 1: the leader's log, -1: all in-sync replicas
    timeout_ms: int = 0  # how long to wait for the in-sync replicas
    internal_topics_allowed: bool = False
    origin: AppendOrigin = AppendOrigin.CLIENT


@dataclass(slots=True)
class PartitionAppendResult:
    """The outcome for one partition. Offsets and times are -1 where there is none."""

    error: ErrorCode = ErrorCode.NONE
    base_offset: int = -1
    log_append_time: int = -1  # ms, only where the topic stamps records itself
    log_start_offset: int = -1
    record_errors: Sequence[RecordError] = ()  # the records of a batch that were at fault
    error_message: str | None = None  # only with `record_errors`


@dataclass(slots=True)
class DeleteRecordsResult:
    """The outcome of DeleteRecords for one partition."""

    error: ErrorCode = ErrorCode.NONE
    low_watermark: int = -1  # records below are gone from all live replicas
