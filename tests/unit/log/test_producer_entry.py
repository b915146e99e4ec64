"""Sequence numbers, epochs and transactions of one producer: the table in facts/storage.md 6."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.batch_header import BatchHeader
from pykafka_classic.log.producer_entry import BatchMetadata, ProducerAppendInfo, ProducerStateEntry, TransactionMarker

PRODUCER = 7
TRANSACTIONAL = 0x10


def header(epoch: int, sequence: int, *, offset: int = 100, count: int = 1, attributes: int = 0, timestamp: int = 5000) -> BatchHeader:
    return BatchHeader(0, 100, 2, offset, offset + count - 1, timestamp, 0, attributes, 0, PRODUCER, epoch, sequence)


def known(epoch: int = 3, last_sequence: int = 9, *, transaction: int | None = None) -> ProducerStateEntry:
    entry = ProducerStateEntry(PRODUCER, epoch, first_offset_of_transaction=transaction)
    entry.batches.append(BatchMetadata(last_sequence, 50, 4, 1000))
    return entry


def append(entry: ProducerStateEntry, batch: BatchHeader, origin: AppendOrigin = AppendOrigin.CLIENT) -> ProducerAppendInfo:
    info = ProducerAppendInfo(entry, origin, "flights-0")
    info.append_data(batch)
    return info


def refusal(entry: ProducerStateEntry, batch: BatchHeader, origin: AppendOrigin = AppendOrigin.CLIENT) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        append(entry, batch, origin)
    return ErrorCode(caught.value.code)


@pytest.mark.parametrize("sequence", [0, 5])
def test_an_unknown_producer_may_start_anywhere(sequence: int) -> None:
    assert append(ProducerStateEntry(PRODUCER), header(0, sequence)).entry.last_sequence == sequence


def test_the_next_sequence_number_is_accepted() -> None:
    info = append(known(), header(3, 10, count=5))
    assert list(info.entry.batches) == [BatchMetadata(14, 104, 4, 5000)]


def test_after_the_largest_sequence_number_comes_zero() -> None:
    assert append(known(last_sequence=2147483647), header(3, 0)).entry.last_sequence == 0


def test_a_batch_may_wrap_around() -> None:
    assert append(known(last_sequence=2147483645), header(3, 2147483646, count=3)).entry.last_sequence == 0


@pytest.mark.parametrize("sequence", [9, 11, 0])
def test_any_other_sequence_number_is_out_of_order(sequence: int) -> None:
    assert refusal(known(), header(3, sequence)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_new_epoch_starts_at_zero() -> None:
    info = append(known(), header(4, 0))
    assert info.entry.producer_epoch == 4
    assert refusal(known(), header(4, 1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_an_old_epoch_is_fenced() -> None:
    assert refusal(known(), header(2, 0)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_follower_takes_what_its_leader_took() -> None:
    assert append(known(), header(2, 77), AppendOrigin.REPLICATION).entry.last_sequence == 77


def test_several_batches_of_one_append_follow_each_other() -> None:
    info = ProducerAppendInfo(known(), AppendOrigin.CLIENT, "flights-0")
    info.append_data(header(3, 10, count=2))
    info.append_data(header(3, 12, count=2, offset=102))
    with pytest.raises(KafkaError):
        info.append_data(header(3, 15, offset=104))


def test_a_transactional_batch_opens_a_transaction_at_its_first_offset() -> None:
    info = append(known(), header(3, 10, attributes=TRANSACTIONAL))
    assert info.started_transactions == [100]
    assert info.entry.first_offset_of_transaction == 100


def test_further_batches_belong_to_the_open_transaction() -> None:
    info = append(known(transaction=40), header(3, 10, attributes=TRANSACTIONAL))
    assert info.started_transactions == []
    assert info.entry.first_offset_of_transaction == 40


def test_an_ordinary_batch_within_a_transaction_is_refused() -> None:
    assert refusal(known(transaction=40), header(3, 10)) is ErrorCode.INVALID_TXN_STATE


def test_a_marker_ends_the_transaction() -> None:
    info = ProducerAppendInfo(known(transaction=40), AppendOrigin.COORDINATOR, "flights-0")
    completed = info.append_marker(header(3, -1, offset=60), TransactionMarker(aborted=True, coordinator_epoch=2, timestamp=9000))
    assert completed == (PRODUCER, 40, 60, True)
    assert (info.entry.first_offset_of_transaction, info.entry.coordinator_epoch, info.entry.last_timestamp) == (None, 2, 9000)


def test_a_marker_without_transaction_ends_nothing() -> None:
    info = ProducerAppendInfo(known(), AppendOrigin.COORDINATOR, "flights-0")
    assert info.append_marker(header(3, -1), TransactionMarker(aborted=False, coordinator_epoch=0, timestamp=0)) is None


@pytest.mark.parametrize(("epoch", "coordinator_epoch", "code"), [(2, 5, ErrorCode.INVALID_PRODUCER_EPOCH), (3, 4, ErrorCode.TRANSACTION_COORDINATOR_FENCED)])
def test_a_zombie_coordinator_is_fenced(epoch: int, coordinator_epoch: int, code: ErrorCode) -> None:
    entry = known()
    entry.coordinator_epoch = 5
    info = ProducerAppendInfo(entry, AppendOrigin.COORDINATOR, "flights-0")
    with pytest.raises(KafkaError) as caught:
        info.append_marker(header(epoch, -1), TransactionMarker(aborted=False, coordinator_epoch=coordinator_epoch, timestamp=0))
    assert caught.value.code == code


def test_a_batch_sent_twice_is_recognised_by_epoch_and_sequence_numbers() -> None:
    entry = known()
    assert entry.find_duplicate(header(3, 5, count=5)) == BatchMetadata(9, 50, 4, 1000)
    assert entry.find_duplicate(header(4, 5, count=5)) is None
    assert entry.find_duplicate(header(3, 5, count=4)) is None
    assert entry.find_duplicate(header(3, 6, count=4)) is None


def test_five_batches_are_remembered() -> None:
    entry = known()
    for number in range(6):
        entry.batches.append(BatchMetadata(number, number, 0, 0))
    assert [batch.last_sequence for batch in entry.batches] == [1, 2, 3, 4, 5]


def test_the_first_sequence_number_of_a_batch_that_wrapped_is_before_zero() -> None:
    assert BatchMetadata(1, 50, 3, 0).first_sequence == 2147483646


def test_an_idle_producer_expires_unless_it_has_an_open_transaction() -> None:
    entry = known()
    entry.last_timestamp = 1000
    assert entry.is_expired(2000, 1000)
    assert not entry.is_expired(1999, 1000)
    entry.first_offset_of_transaction = 5
    assert not entry.is_expired(2000, 1000)
