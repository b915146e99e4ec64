"""Records that take long to look at are looked at in a thread, and nothing of their partition overtakes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pykafka_classic.common.clock import Timer
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.compression import GZIP, NONE, SNAPPY
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import iterate_batches
from pykafka_classic.server.append_values import AppendParams, PartitionAppendResult
from pykafka_classic.server.replica_appends import AT_ONCE_MS
from tests.fakes.clock import FakeTimer
from tests.unit.log.helpers import batch
from tests.unit.server.replica_cluster import TP, ReplicaCluster, TestBroker

COMPACTED = {"flights": {"cleanup.policy": "compact"}}
OTHER = TopicPartition("others", 0)


def led(configs: dict[str, dict[str, str]] | None = None) -> TestBroker:
    """One broker that leads both partitions; its threads do nothing until told."""
    cluster = ReplicaCluster([0], topic_configs=configs or COMPACTED)
    cluster.create([0])
    cluster.create([0], OTHER)
    cluster[0].background.queued = True
    return cluster[0]


def compressed(*values: bytes, key: bytes | None = b"k", sequence: int = -1) -> memoryview:
    records = [Record(index, 1000, key, value) for index, value in enumerate(values)]
    fields = BatchFields(codec=GZIP)
    return memoryview(build_batch(records, fields if sequence < 0 else replace(fields, producer_id=7, producer_epoch=0, base_sequence=sequence)))


def append(broker: TestBroker, *entries: tuple[TopicPartition, memoryview], acks: int = 1) -> Promise[dict[TopicPartition, PartitionAppendResult]]:
    outcome = broker.replica_manager.append_records(AppendParams(required_acks=acks, timeout_ms=1000), list(entries))
    return outcome if isinstance(outcome, Promise) else Promise.resolved(outcome)


def values(broker: TestBroker) -> list[bytes | None]:
    return [record.value for one in iterate_batches(broker.bytes_of()) for record in one.records()]


def test_a_compressed_batch_for_a_compacted_topic_waits_for_a_thread() -> None:
    broker = led()
    outcome = append(broker, (TP, compressed(b"a", b"b")))
    assert not outcome.settled and broker.log().log_end_offset == 0
    broker.background.run_all()
    assert outcome.result()[TP].base_offset == 0
    assert values(broker) == [b"a", b"b"]


def test_a_batch_that_the_topic_takes_as_it_is_waits_for_nobody() -> None:
    broker = led({"flights": {}})
    assert append(broker, (TP, compressed(b"a"))).result()[TP].base_offset == 0


def test_what_comes_later_for_the_same_partition_does_not_overtake() -> None:
    broker = led()
    first = append(broker, (TP, compressed(b"slow")))
    second = append(broker, (TP, memoryview(batch([(b"k", b"quick")]))))
    third = append(broker, (TP, compressed(b"slow too")))
    assert not second.settled
    broker.background.run_all()
    assert [outcome.result()[TP].base_offset for outcome in (first, second, third)] == [0, 1, 2]
    assert values(broker) == [b"slow", b"quick", b"slow too"]


def test_other_partitions_go_on_meanwhile() -> None:
    broker = led()
    slow = append(broker, (TP, compressed(b"slow")))
    assert append(broker, (OTHER, memoryview(batch()))).result()[OTHER].base_offset == 0
    assert not slow.settled


def test_a_request_is_answered_when_its_last_partition_is_done() -> None:
    broker = led()
    outcome = append(broker, (TP, compressed(b"slow")), (OTHER, memoryview(batch())))
    assert not outcome.settled and broker.log(OTHER).log_end_offset == 1
    broker.background.run_all()
    assert {partition: result.base_offset for partition, result in outcome.result().items()} == {TP: 0, OTHER: 0}


def test_an_idempotent_producers_batches_keep_their_order() -> None:
    broker = led()
    outcomes = [append(broker, (TP, compressed(b"x", sequence=number))) for number in range(5)]
    broker.background.run_all()
    assert [outcome.result()[TP].error for outcome in outcomes] == [ErrorCode.NONE] * 5
    assert broker.log().log_end_offset == 5


def test_a_refusal_found_in_the_thread_is_answered_and_the_next_one_goes_on() -> None:
    broker = led()
    keyless = append(broker, (TP, compressed(b"a", key=None)))
    good = append(broker, (TP, compressed(b"b")))
    broker.background.run_all()
    refused = keyless.result()[TP]
    assert (refused.error, [error.batch_index for error in refused.record_errors]) == (ErrorCode.INVALID_RECORD, [0])
    assert good.result()[TP].base_offset == 0


def test_leadership_lost_meanwhile_writes_nothing() -> None:
    cluster = ReplicaCluster([0, 1], topic_configs=COMPACTED)
    cluster.create([0, 1])
    cluster[0].background.queued = True
    outcome = append(cluster[0], (TP, compressed(b"a")))
    cluster.elect(1)
    cluster[0].background.run_all()
    assert outcome.result()[TP].error == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert cluster[0].log().log_end_offset == 0


def test_offsets_are_given_again_where_the_log_has_changed_meanwhile() -> None:
    broker = led()
    outcome = append(broker, (TP, compressed(b"slow")))
    broker.log().append_as_leader(batch([(b"k", b"in between")]), leader_epoch=0)
    broker.background.run_all()
    assert outcome.result()[TP].base_offset == 1
    assert values(broker) == [b"in between", b"slow"]


def test_a_topic_with_a_codec_of_its_own_is_recompressed_in_the_thread() -> None:
    broker = led({"flights": {"compression.type": "snappy"}})
    outcome = append(broker, (TP, compressed(b"a" * 100, b"b")), (OTHER, memoryview(batch())))
    assert broker.background.pending
    broker.background.run_all()
    assert outcome.result()[TP].base_offset == 0
    assert [one.codec for one in iterate_batches(broker.bytes_of())] == [SNAPPY]
    assert values(broker) == [b"a" * 100, b"b"]


def test_an_uncompressed_topic_unpacks_what_it_is_sent() -> None:
    broker = led({"flights": {"compression.type": "uncompressed"}})
    append(broker, (TP, compressed(b"a", b"b")))
    broker.background.run_all()
    assert [one.codec for one in iterate_batches(broker.bytes_of())] == [NONE]
    assert values(broker) == [b"a", b"b"]


def test_a_batch_that_unpacks_to_too_much_is_refused() -> None:
    broker = led()
    bomb = compressed(*[bytes(16 << 20)] * 9)  # 144 MiB of zeros in some 150 KB
    assert len(bomb) < 200_000
    outcome = append(broker, (TP, bomb))
    broker.background.run_all()
    assert outcome.result()[TP].error == ErrorCode.MESSAGE_TOO_LARGE
    assert broker.log().log_end_offset == 0


def test_acks_all_waits_for_the_thread_and_then_for_the_followers() -> None:
    cluster = ReplicaCluster([0, 1], topic_configs=COMPACTED)
    cluster.create([0, 1])
    cluster[0].background.queued = True
    outcome = append(cluster[0], (TP, compressed(b"a")), acks=-1)
    cluster[0].background.run_all()
    assert not outcome.settled and cluster[0].log().log_end_offset == 1
    cluster.advance(1000)
    assert outcome.result()[TP].error == ErrorCode.NONE
    assert cluster[1].log().log_end_offset == 1


class Ticking:
    """A clock on which every look takes a millisecond, and the reactor's turns after it."""

    def __init__(self) -> None:
        self.looks = 0
        self.due: list[Callable[[], None]] = []

    def now_ms(self) -> int:
        return self.looks

    def monotonic_ms(self) -> float:
        self.looks += 1
        return self.looks

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> Timer:
        assert delay_ms == 0
        self.due.append(call)
        return FakeTimer(0, 0, call)

    def turn(self) -> None:
        """Let a turn pass."""
        due, self.due = self.due, []
        for call in due:
            call()

    def turns_until(self, *outcomes: Promise[dict[TopicPartition, PartitionAppendResult]]) -> int:
        """Let turns pass until all is done; how many."""
        for count in range(100):
            if all(outcome.settled for outcome in outcomes):
                return count
            self.turn()
        raise AssertionError("not done after 100 turns")


def test_a_request_for_many_partitions_is_spread_over_turns_and_keeps_its_order() -> None:
    cluster = ReplicaCluster([0])
    partitions = [TopicPartition("many", number) for number in range(12)]
    for partition in partitions:
        cluster.create([0], partition)
    clock = Ticking()
    cluster[0].replica_manager._appends._clock = clock
    first = append(cluster[0], *[(partition, memoryview(batch([(None, b"first")]))) for partition in partitions])
    second = append(cluster[0], *[(partition, memoryview(batch([(None, b"second")]))) for partition in reversed(partitions)])
    assert 0 < sum(cluster[0].log(partition).log_end_offset for partition in partitions) < 2 * len(partitions)
    assert clock.turns_until(first, second) > 3
    for partition in partitions:
        assert (first.result()[partition].base_offset, second.result()[partition].base_offset) == (0, 1)


def test_requests_for_many_partitions_share_the_time_of_a_turn() -> None:
    cluster = ReplicaCluster([0])
    partitions = [TopicPartition("many", number) for number in range(6)]
    for partition in partitions:
        cluster.create([0], partition)
    clock = Ticking()
    cluster[0].replica_manager._appends._clock = clock
    outcomes = [append(cluster[0], *[(partition, memoryview(batch([(None, b"one")]))) for partition in partitions]) for _ in range(5)]
    written = []
    while not all(outcome.settled for outcome in outcomes):
        before = sum(cluster[0].log(partition).log_end_offset for partition in partitions)
        clock.turn()
        written.append(sum(cluster[0].log(partition).log_end_offset for partition in partitions) - before)
    assert sum(written) > 20
    assert max(written) <= AT_ONCE_MS  # for each append takes a millisecond


def test_a_partition_that_is_gone_when_its_turn_comes_is_answered_with_its_error() -> None:
    cluster = ReplicaCluster([0, 1])
    partitions = [TopicPartition("many", number) for number in range(8)]
    for partition in partitions:
        cluster.create([0, 1], partition)
    clock = Ticking()
    cluster[0].replica_manager._appends._clock = clock
    outcome = append(cluster[0], *[(partition, memoryview(batch())) for partition in partitions])
    cluster.elect(1, partitions[-1])
    clock.turns_until(outcome)
    assert [outcome.result()[partition].error for partition in partitions] == [ErrorCode.NONE] * 7 + [ErrorCode.NOT_LEADER_OR_FOLLOWER]
