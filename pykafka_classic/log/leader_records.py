"""Records as a producer sent them, made ready for the leader's log.

`log_validator` checks them and assigns offsets, this module says it in the log's own terms.
A magic 2 batch stays where it is in the request: what is written is a new 61-byte header and a view of the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.log.append_checks import AppendContext
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.batch_header import BatchHeader, iterate_headers, parse_header
from pykafka_classic.log.log_append import Incoming
from pykafka_classic.log.log_validator import ValidatedRecords, validate_append
from pykafka_classic.log.log_values import LogAppendInfo
from pykafka_classic.log.pending_append import PendingAppend
from pykafka_classic.log.time_index import TimestampOffset

if TYPE_CHECKING:
    from pykafka_classic.log.log import Log


Produced: TypeAlias = "bytes | memoryview | PendingAppend"  # what a producer sent, or that after the long part of looking at it


class LeaderAppend(NamedTuple):
    """What to write, and what to tell about it."""

    incoming: Incoming
    info: LogAppendInfo


def prepare_leader_append(log: Log, records: Produced, leader_epoch: int, origin: AppendOrigin) -> LeaderAppend | None:
    """Check, convert, assign offsets from the LEO on; None where there is no whole batch. Raises KafkaError with the code that a Produce answer carries."""
    if isinstance(records, PendingAppend):
        assert records.fits(log, leader_epoch)
        validated = records.validated
    else:
        validated = validate_append(records, log.append_rules, AppendContext(log.log_end_offset, log.now_ms(), leader_epoch, origin))
    if validated is None:
        return None
    size = validated.size
    if size > log.config.segment_bytes:
        message = f"Message batch size is {size} bytes in append to partition {log.topic_partition}, which exceeds the maximum configured segment size of"
        raise KafkaError(ErrorCode.RECORD_LIST_TOO_LARGE, f"{message} {log.config.segment_bytes}.")
    largest = TimestampOffset(validated.max_timestamp, validated.offset_of_max_timestamp)
    headers = _headers(validated)
    info = LogAppendInfo(
        first_offset=validated.first_offset,
        last_offset=validated.last_offset,
        max_timestamp=largest.timestamp,
        offset_of_max_timestamp=largest.offset,
        log_append_time=validated.log_append_time,
        log_start_offset=log.log_start_offset,
        size=size,
        batch_count=len(headers),
        last_leader_epoch=headers[-1].leader_epoch,
        converted_count=validated.converted_count,
    )
    return LeaderAppend(Incoming(validated.parts, size, headers, largest), info)


def _headers(validated: ValidatedRecords) -> list[BatchHeader]:
    """Of the batches to be written; where a header was replaced, it is a part of its own."""
    if len(validated.parts) == 2:
        return [parse_header(validated.parts[0], 0, 0)]
    return list(iterate_headers(validated.parts[0]))
