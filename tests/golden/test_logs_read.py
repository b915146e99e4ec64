"""Our log opens what Kafka wrote and reads it record for record."""

from __future__ import annotations

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.partition_metadata import encode_partition_metadata
from pykafka_classic.records.record_batch import iterate_batches
from tests.golden.log_data import Recording, expected_records, json_of, members, records_of

CLEAN = [
    ("formats", "broker-0", "records.jsonl"),
    ("formats-more", "data", "records.jsonl"),
    ("segments", "data", "records.jsonl"),
    ("compacted", "data", "records.jsonl"),
    ("transactions", "data", "records.jsonl"),
    ("groups", "data", "records.jsonl"),
    ("failover", "broker-0", "records.jsonl"),
    ("failover", "broker-1", "records.jsonl"),
    ("v3.9.1", "data", "records.jsonl"),
    ("killed", "after", "records.jsonl"),
]
DAMAGED = [
    ("killed", "broker-0", "records.jsonl"),
    ("unclean", "broker-0", "records.jsonl"),
    ("unclean-more", "data", "recovered-records.jsonl"),
    ("torn", "data", "recovered-records.jsonl"),
    ("torn-index", "data", "records.jsonl"),
]
# Where ours keeps more than Kafka did: a base offset is outside the checksum, and Kafka empties the segment (offset-flipped) or does not start (torn-overflow).
MORE_THAN_KAFKA = {TopicPartition("offset-flipped", 0): 24}


def check(manager: LogManager, scenario: str, name: str) -> None:
    expected = expected_records(scenario, name)
    assert expected
    for partition, records in expected.items():
        log = manager.get_log(partition)
        assert log is not None
        assert records_of(log) == records, partition


@pytest.mark.parametrize(("scenario", "root", "name"), CLEAN)
def test_after_a_clean_stop_every_record_is_read(scenario: str, root: str, name: str) -> None:
    manager = Recording(scenario, root).load()
    check(manager, scenario, name)
    for log in manager.all_logs():
        assert log.recovery_point == log.log_end_offset


@pytest.mark.parametrize(("scenario", "root", "name"), DAMAGED)
def test_after_a_kill_and_damage_the_same_records_are_recovered(scenario: str, root: str, name: str) -> None:
    check(Recording(scenario, root).load(), scenario, name)


def test_what_kafka_repaired_is_read_in_both_log_dirs() -> None:
    check(Recording("leftovers", "after", ("data-a", "data-b")).load(), "leftovers", "records.jsonl")


def test_half_finished_compactions_moves_and_deletions_lose_nothing() -> None:
    recording = Recording("leftovers", "broker-0", ("data-a", "data-b"))
    manager = recording.load()
    check(manager, "leftovers", "records.jsonl")
    moving = manager.get_log(TopicPartition("moving", 0), future=True)
    assert moving is not None and moving.log_end_offset < 60
    assert manager.get_log(TopicPartition("gone", 0)) is None
    recording.clock.advance(60_000)
    assert not [name for name in recording.file_system.list("/broker-0/data-b") if "delete" in name]


@pytest.mark.parametrize("scenario", ["formats-more", "segments", "compacted", "transactions", "groups", "v3.9.1"])
def test_logs_begin_and_end_where_kafka_said(scenario: str) -> None:
    manager = Recording(scenario, "data").load()
    for name, ends in json_of(scenario, "offsets.json").items():
        topic, _, partition = name.rpartition("-")
        log = manager.get_log(TopicPartition(topic, int(partition)))
        assert log is not None
        assert (log.log_start_offset, log.log_end_offset) == (ends["low"], ends["high"]), name


def test_high_watermarks_come_from_the_checkpoint() -> None:
    manager = Recording("formats", "broker-0").load()
    log = manager.get_log(TopicPartition("v2-none", 0))
    assert log is not None
    assert log.high_watermark == log.log_end_offset > 0


# As Kafka 2.8.2 recovered them: torn-0 without its last batch, whose end is cut off; flipped-0 up to the batch with the wrong bit and no further (what lies
# behind it could not be trusted to follow); killed-1 lost its indexes only.
UNCLEAN_ENDS = {"killed-0": 100, "killed-1": 0, "torn-0": 96, "flipped-0": 80}


def test_the_unclean_logs_end_where_kafkas_did() -> None:
    manager = Recording("unclean", "broker-0").load()
    ends = {str(log.topic_partition): (log.log_start_offset, log.log_end_offset) for log in manager.all_logs()}
    assert {name: ends[name] for name in UNCLEAN_ENDS} == {name: (0, end) for name, end in UNCLEAN_ENDS.items()}


def test_killed_logs_end_where_kafkas_did() -> None:
    manager = Recording("killed", "broker-0").load()
    for name, ends in json_of("killed", "result.json")["after_the_restart"].items():
        topic, _, partition = name.rpartition("-")
        log = manager.get_log(TopicPartition(topic, int(partition)))
        assert log is not None
        assert log.log_end_offset == ends["high"], name


@pytest.mark.parametrize("scenario", ["torn", "torn-index", "unclean-more"])
def test_recovered_logs_end_where_kafkas_did_or_keep_more(scenario: str) -> None:
    manager = Recording(scenario, "data").load()
    for name, ends in json_of(scenario, "recovered.json")["offsets"].items():
        topic, _, number = name.rpartition("-")
        partition = TopicPartition(topic, int(number))
        log = manager.get_log(partition)
        assert log is not None
        assert log.log_end_offset == MORE_THAN_KAFKA.get(partition, ends["high"]), name


def test_a_broker_starts_with_an_absurd_offset_in_a_log_and_keeps_what_lies_before() -> None:
    assert json_of("torn-overflow", "recovered.json")["starts"] is False  # Kafka's did not
    log = Recording("torn-overflow", "data").load().get_log(TopicPartition("overflow", 0))
    assert log is not None
    written = expected_records("torn-overflow", "records.jsonl")[TopicPartition("overflow", 0)]
    assert log.log_end_offset == 30
    assert records_of(log) == [record for record in written if record.offset < 30]


def committed_offsets(manager: LogManager, partition: TopicPartition) -> list[int]:
    """What a read_committed consumer gets: it leaves out aborted producers' records from their first offset to the abort marker."""
    log = manager.get_log(partition)
    assert log is not None
    log.update_high_watermark(log.log_end_offset)
    info_offset, offsets = log.log_start_offset, []
    while info_offset < log.last_stable_offset:
        info = log.read(info_offset, max_length=1 << 20, max_offset=log.last_stable_offset, min_one_message=True, include_aborted=True)
        if info.records is None:
            break
        for batch in iterate_batches(info.records.read()):
            aborted = any(
                one.producer_id == batch.producer_id and one.first_offset <= batch.base_offset <= one.last_offset for one in info.aborted_transactions or ()
            )
            if not batch.is_control and not (batch.is_transactional and aborted):
                offsets += [record.offset for record in batch.records()]
            info_offset = batch.last_offset + 1
    return offsets


@pytest.mark.parametrize(
    ("scenario", "root", "name"),
    [
        ("killed", "broker-0", "committed.jsonl"),
        ("transactions", "data", "records-committed.jsonl"),
        ("compacted", "data", "records-committed.jsonl"),
        ("v3.9.1", "data", "records-committed.jsonl"),
    ],
)
def test_read_committed_leaves_out_what_kafka_left_out(scenario: str, root: str, name: str) -> None:
    manager = Recording(scenario, root).load()
    expected = expected_records(scenario, name)
    assert expected
    for partition, records in expected.items():
        assert committed_offsets(manager, partition) == [record.offset for record in records], partition


def test_the_open_transaction_of_a_killed_broker_stays_open() -> None:
    log = Recording("killed", "broker-0").load().get_log(TopicPartition("transactional", 0))
    assert log is not None
    log.update_high_watermark(log.log_end_offset)
    assert (log.log_end_offset, log.last_stable_offset) == (196, json_of("killed", "result.json")["after_the_restart"]["transactional-0"]["last_stable"])


def test_the_topic_id_is_kafkas() -> None:
    manager = Recording("v3.9.1", "data").load()
    log = manager.get_log(TopicPartition("t", 0))
    assert log is not None and log.topic_id is not None
    assert encode_partition_metadata(log.topic_id) == members("v3.9.1")["data/t-0/partition.metadata"]
