"""A leader's checks of produced records. Kafka's own decisions are in tests/golden; here is what is ours: buffers, bounds, and how much is looked at."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from pykafka_classic.common.crc32c import crc32c
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_checks import AppendContext, AppendRules, check_produced_records, has_transactional_batches
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.log_validator import LOOKED_AT_RECORDS, RecordValidationError, ValidatedRecords, validate_append
from pykafka_classic.records.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD
from pykafka_classic.records.control import EndTransactionMarker, build_end_transaction_marker
from pykafka_classic.records.layout import RECORDS_POSITION, TimestampType
from pykafka_classic.records.message_set import build_message_set
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import RecordBatch, build_batch, iterate_batches

NOW_MS = 1_700_000_000_000
PARTITION = TopicPartition("flights", 3)
LAST_LOOKED_AT = LOOKED_AT_RECORDS - 1


def rules(**changes: Any) -> AppendRules:
    return AppendRules(PARTITION, **changes)


def some(count: int, *, key: bytes | None = b"k", size: int = 20) -> list[Record]:
    return [Record(index, NOW_MS - 1000 + index, key, b"v" * size) for index in range(count)]


def append(data: bytes, rule: AppendRules | None = None, **context: Any) -> ValidatedRecords:
    validated = validate_append(data, rule or rules(), AppendContext(100, NOW_MS, 7, **context))
    assert validated is not None
    return validated


def refusal(data: bytes, rule: AppendRules | None = None, **context: Any) -> KafkaError:
    with pytest.raises(KafkaError) as refused:
        append(data, rule, **context)
    return refused.value


def written(validated: ValidatedRecords) -> RecordBatch:
    [batch] = iterate_batches(b"".join(validated.parts))
    assert isinstance(batch, RecordBatch)
    batch.ensure_valid()
    return batch


def with_gap(count: int, index: int, codec: int = NONE) -> bytes:
    """A batch whose records from `index` on have offsets too large by one; its header and checksum say nothing of it."""
    records = [record._replace(offset=record.offset + (record.offset >= index)) for record in some(count)]
    return resealed(build_batch(records, base_offset=0, codec=codec), 23, struct.pack(">i", count - 1))


def resealed(data: bytes, position: int, change: bytes) -> bytes:
    """A batch with some bytes replaced, and the checksum made right again."""
    changed = bytearray(data)
    changed[position : position + len(change)] = change
    changed[17:21] = struct.pack(">I", crc32c(changed[21:]))
    return bytes(changed)


def test_records_are_written_as_they_came_behind_a_new_header() -> None:
    data = build_batch(some(3))
    validated = append(data)
    header, payload = validated.parts
    assert isinstance(payload, memoryview)
    assert payload.obj is data
    assert len(header) == RECORDS_POSITION
    assert (validated.first_offset, validated.last_offset, validated.size) == (100, 102, len(data))


def test_only_offset_and_leader_epoch_change_in_an_ordinary_append() -> None:
    data = build_batch(some(3), producer_id=5, producer_epoch=1, base_sequence=9)
    batch = written(append(data))
    assert (batch.base_offset, batch.partition_leader_epoch) == (100, 7)
    assert batch.buffer[16:] == data[16:]


def test_append_time_is_stamped_into_the_header_alone() -> None:
    data = build_batch(some(3))
    validated = append(data, rules(log_append_time=True))
    batch = written(validated)
    assert (batch.timestamp_type, batch.max_timestamp) == (TimestampType.LOG_APPEND_TIME, NOW_MS)
    assert batch.buffer[RECORDS_POSITION:] == data[RECORDS_POSITION:]
    assert (validated.log_append_time, validated.max_timestamp, validated.offset_of_max_timestamp) == (NOW_MS, NOW_MS, 102)


def test_nothing_to_append_is_none() -> None:
    assert validate_append(b"", rules(), AppendContext(0, NOW_MS, 0)) is None
    assert validate_append(build_batch(some(1))[:-1], rules(), AppendContext(0, NOW_MS, 0)) is None


def test_a_cut_batch_behind_whole_messages_is_left_out() -> None:
    whole = build_message_set(1, some(2))
    assert append(whole + whole[:50], rules(target_magic=1)).last_offset == 101


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
@pytest.mark.parametrize("index", [0, 1, LAST_LOOKED_AT])
def test_a_wrong_offset_among_the_first_records_is_refused(codec: int, index: int) -> None:
    error = refusal(with_gap(40, index, codec))
    assert error.code == ErrorCode.INVALID_RECORD
    assert f"record {index} has offset delta {index + 1}" in str(error)


def test_large_records_are_jumped_over_not_left_unchecked() -> None:
    records = [record._replace(offset=record.offset * 2) for record in some(3, size=100_000)]
    data = resealed(build_batch(records), 23, struct.pack(">i", 2))
    assert "record 1 has offset delta 2" in str(refusal(data))


def test_records_beyond_the_first_are_not_walked_unless_the_topic_asks() -> None:
    data = with_gap(40, LOOKED_AT_RECORDS)
    assert append(data).last_offset == 139
    assert refusal(data, rules(compacted=True)).code == ErrorCode.INVALID_RECORD
    assert refusal(data, rules(timestamp_difference_max_ms=1000)).code == ErrorCode.INVALID_RECORD
    assert refusal(data, rules(target_codec=GZIP)).code == ErrorCode.INVALID_RECORD


def test_every_record_of_a_compacted_topic_needs_a_key() -> None:
    records = some(40)
    records[30] = records[30]._replace(key=None)
    error = refusal(build_batch(records), rules(compacted=True))
    assert isinstance(error, RecordValidationError)
    assert (error.code, [item.batch_index for item in error.record_errors]) == (ErrorCode.INVALID_RECORD, [30])


def test_every_timestamp_must_be_near_where_the_topic_limits_it() -> None:
    limited = rules(timestamp_difference_max_ms=2000)
    assert append(build_batch(some(40)), limited).last_offset == 139
    for difference in (-2001, 2001):
        records = some(40)
        records[35] = records[35]._replace(timestamp=NOW_MS + difference)
        error = refusal(build_batch(records), limited)
        assert isinstance(error, RecordValidationError)
        assert (error.code, [item.batch_index for item in error.record_errors]) == (ErrorCode.INVALID_TIMESTAMP, [35])


def test_no_timestamp_is_within_any_limit() -> None:
    records = [record._replace(timestamp=-1) for record in some(3)]
    validated = append(build_batch(records), rules(timestamp_difference_max_ms=1))
    assert (validated.max_timestamp, validated.offset_of_max_timestamp) == (-1, -1)


def test_append_time_makes_producers_clocks_irrelevant() -> None:
    records = [record._replace(timestamp=0) for record in some(3)]
    assert append(build_batch(records), rules(log_append_time=True, timestamp_difference_max_ms=1)).max_timestamp == NOW_MS


def test_a_large_batch_keeps_the_largest_timestamp_that_its_header_says() -> None:
    validated = append(build_batch(some(40)))
    assert (validated.max_timestamp, validated.offset_of_max_timestamp) == (NOW_MS - 1000 + 39, 139)


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_compressed_records_that_cannot_be_unpacked_are_refused(codec: int) -> None:
    data = build_batch(some(3), codec=codec)[:RECORDS_POSITION] + b"\xff\xfe\xfd\xfc" * 20
    assert refusal(resealed(data, 8, struct.pack(">i", len(data) - 12))).code == ErrorCode.INVALID_RECORD


def test_a_codec_that_nobody_knows_is_refused() -> None:
    assert refusal(resealed(build_batch(some(3)), 22, b"\5")).code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_a_wrong_checksum_is_refused_before_all_else() -> None:
    data = bytearray(build_batch(some(3)))
    data[-1] ^= 1
    assert refusal(bytes(data)).code == ErrorCode.CORRUPT_MESSAGE


def test_a_batch_may_have_exactly_max_message_bytes() -> None:
    data = build_batch(some(3))
    append(data, rules(max_message_bytes=len(data)))
    assert refusal(data, rules(max_message_bytes=len(data) - 1)).code == ErrorCode.MESSAGE_TOO_LARGE


def test_a_batch_that_grows_when_written_anew_is_measured_again() -> None:
    data = build_batch(some(50, size=1000), codec=GZIP)
    assert refusal(data, rules(target_codec=NONE, max_message_bytes=10_000)).code == ErrorCode.MESSAGE_TOO_LARGE


def test_the_coordinators_may_write_markers_and_need_no_base_offset_0() -> None:
    marker = build_end_transaction_marker(EndTransactionMarker(True, 4), timestamp=NOW_MS, producer_id=1, producer_epoch=0, offset=55)
    assert refusal(marker).code == ErrorCode.INVALID_RECORD
    validated = append(marker, rules(target_codec=GZIP), origin=AppendOrigin.COORDINATOR)
    assert written(validated).is_control
    assert not validated.message_size_changed


def test_old_messages_become_one_batch_on_a_new_topic() -> None:
    validated = append(build_message_set(1, some(3)))
    batch = written(validated)
    assert (batch.records_count, batch.base_offset, batch.partition_leader_epoch) == (3, 100, 7)
    assert (validated.converted_count, validated.message_size_changed) == (3, True)


def test_relative_offsets_of_old_clients_are_put_right() -> None:
    wrapper = build_message_set(1, [Record(offset, NOW_MS, b"k", b"v") for offset in (0, 0, 5)], codec=GZIP)
    validated = append(wrapper, rules(target_magic=1))
    [batch] = iterate_batches(validated.parts[0])
    assert [record.offset for record in batch.records()] == [100, 101, 102]


def test_a_topics_configuration_becomes_rules() -> None:
    config = LogConfig().with_overrides(
        {
            "compression.type": "uncompressed",
            "message.format.version": "0.10.0",
            "message.timestamp.type": "LogAppendTime",
            "message.timestamp.difference.max.ms": "5",
            "cleanup.policy": "compact",
            "max.message.bytes": "77",
        }
    )
    assert AppendRules.of(PARTITION, LogConfig()) == AppendRules(PARTITION)
    assert AppendRules.of(PARTITION, config) == AppendRules(PARTITION, 1, NONE, True, 5, True, 77)


def test_zstd_needs_brokers_that_know_it() -> None:
    assert refusal(build_batch(some(1), codec=ZSTD), rules(zstd_allowed=False)).code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


@pytest.mark.parametrize(
    ("records", "version", "code"),
    [
        (None, 3, ErrorCode.INVALID_RECORD),
        (b"", 8, ErrorCode.INVALID_RECORD),
        (None, 2, None),
        (build_message_set(1, some(1)), 3, ErrorCode.INVALID_RECORD),
        (build_message_set(1, some(2)), 2, None),
        (build_batch(some(1)), 0, None),
        (build_batch(some(1)) * 2, 3, ErrorCode.INVALID_RECORD),
        (build_batch(some(1), codec=ZSTD), 6, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (build_batch(some(1), codec=ZSTD), 7, None),
        (b"\0" * 16 + b"\x09" + b"\0" * 60, 8, ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_a_produce_version_carries_what_it_may(records: bytes | None, version: int, code: ErrorCode | None) -> None:
    if code is None:
        check_produced_records(records, version)
        return
    with pytest.raises(KafkaError) as refused:
        check_produced_records(records, version)
    assert refused.value.code == code


def test_transactional_batches_are_seen() -> None:
    assert has_transactional_batches(build_batch(some(1), is_transactional=True, producer_id=1, producer_epoch=0, base_sequence=0))
    assert not has_transactional_batches(build_batch(some(1)))
    assert not has_transactional_batches(None)
