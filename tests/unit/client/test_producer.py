"""The producer's core over a fake cluster: batches, time limits, retries, idempotence."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from pykafka_classic.client.client_errors import ClientClosed, ClientTimeout, InvalidSetting, NoBrokers
from pykafka_classic.client.client_settings import settings_of
from pykafka_classic.client.producing.delivery import Delivery
from pykafka_classic.client.producing.producer_core import ProducerCore
from pykafka_classic.client.producing.producer_settings import ProducerSettings
from pykafka_classic.common.clock import after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.produce import ProduceRequest
from pykafka_classic.protocol.schema import Message
from pykafka_classic.records.record_batch import RecordBatch
from tests.unit.client.client_world import ClientWorld, record

T0 = TopicPartition("t", 0)


def world(*leaders: int, **settings: object) -> ClientWorld:
    made = ClientWorld(**settings)  # type: ignore[arg-type]  # seed, latency_ms
    made.cluster.make_topic("t", list(leaders or (0,)))
    return made


def values(made: ClientWorld, partition: int = 0) -> list[int]:
    return [int(value or b"-1") for value in made.cluster.topics["t"][partition].values()]


def produce_requests(made: ClientWorld) -> list[ProduceRequest]:
    return [request for _, request in made.cluster.requests if isinstance(request, ProduceRequest)]


def offsets(records: list[Delivery]) -> list[int]:
    return [each.outcome().offset for each in records]


def failure(delivery: Delivery) -> Exception:
    with pytest.raises(Exception) as raised:
        delivery.outcome()
    return raised.value


# Batching


def test_records_wait_for_company_as_long_as_linger_says() -> None:
    made = world()
    producer, settled = made.producer(linger_ms=20)
    producer.append([record("t", 0)])
    made.clock.advance(10)
    producer.append([record("t", 1)])
    made.clock.advance(9)
    assert produce_requests(made) == []
    made.clock.advance(10)
    assert len(produce_requests(made)) == 1
    assert offsets(settled) == [0, 1]


def test_a_full_batch_does_not_linger_and_what_is_behind_it_does() -> None:
    made = world()
    producer, settled = made.producer(linger_ms=1_000, batch_size=200)
    producer.append(record("t", number) for number in range(8))  # of 31 bytes at most: six fill a batch
    made.clock.advance(20)
    assert [int(each.outcome().offset) for each in settled] == list(range(6))
    made.clock.advance(1_000)
    assert offsets(settled) == list(range(8))


def test_batches_of_one_leader_share_a_request_and_others_have_their_own() -> None:
    made = world(0, 0, 1)
    producer, _ = made.producer(linger_ms=5)
    producer.append(record("t", number, partition=number % 3) for number in range(9))
    made.clock.advance(20)
    shapes = sorted(
        (broker, [each.index for each in request.topic_data[0].partition_data])
        for broker, request in made.cluster.requests
        if isinstance(request, ProduceRequest)
    )
    assert shapes == [(0, [0, 1]), (1, [2])]


def test_at_most_so_many_requests_are_in_flight() -> None:
    made = world(latency_ms=lambda: 1_000.0)
    producer, settled = made.producer(batch_size=0, max_in_flight_requests_per_connection=3)
    seen: list[int] = []
    producer.append(record("t", number) for number in range(10))
    while len(settled) < 10:
        assert made.clock.advance_to_next()
        queue = producer._sender.queues.get(T0)
        seen.append(len(queue.in_flight) if queue is not None else 0)
    assert max(seen) == 3
    assert offsets(settled) == list(range(10))


def test_a_request_is_not_larger_than_its_limit() -> None:
    made = world(0, 0, 0)
    producer, settled = made.producer(linger_ms=5, max_request_size=1_500)
    producer.append(record("t", "x" * 1_000, partition=number) for number in range(3))
    made.wait(producer.flush())
    assert [len(request.topic_data[0].partition_data) for request in produce_requests(made)] == [1, 1, 1]
    assert len(settled) == 3


def test_a_record_beyond_the_limit_is_refused_and_nothing_is_sent() -> None:
    made = world()
    producer, settled = made.producer(max_request_size=1_000)
    producer.append([record("t", "x" * 1_000)])
    made.clock.advance(100)
    error = failure(settled[0])
    assert isinstance(error, KafkaError) and error.code is ErrorCode.MESSAGE_TOO_LARGE
    assert produce_requests(made) == []


def test_flush_waits_for_what_was_before_and_does_not_linger() -> None:
    made = world()
    producer, settled = made.producer(linger_ms=60_000)
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    assert offsets(settled) == [0]
    assert made.clock.monotonic_ms() < 100


def test_close_gives_up_what_cannot_be_sent_in_time_and_says_so() -> None:
    made = world()
    producer, settled = made.producer()
    made.cluster.refuse = lambda *_: ErrorCode.NOT_ENOUGH_REPLICAS
    producer.append([record("t", 0), record("not-there", 1)])
    made.wait(producer.close(timeout_ms=3_000))
    assert [type(failure(each)) for each in settled] == [ClientTimeout, ClientTimeout]
    producer.append([record("t", 2)])
    assert isinstance(failure(settled[2]), ClientClosed)


def test_big_batches_are_compressed_elsewhere_and_stay_in_order() -> None:
    made = world()
    made.background.queued = True
    producer, settled = made.producer(compression_type="gzip", batch_size=40_000, enable_idempotence=True)
    for part in range(3):
        producer.append(record("t", f"{number:>5}") for number in range(1_500 * part, 1_500 * (part + 1)))
        made.clock.advance(10)
    assert settled == []
    while len(settled) < 4_500:
        made.background.run_all()
        made.clock.advance(10)
    assert values(made) == list(range(4_500))


# What fails, and what is tried again


@pytest.mark.parametrize("code", [ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.CORRUPT_MESSAGE])
def test_errors_that_pass_are_tried_again_after_a_pause(code: ErrorCode) -> None:
    made = world()
    producer, settled = made.producer(retry_backoff_ms=100)
    refusals = iter([code, code])
    made.cluster.refuse = lambda *_: next(refusals, None)
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    assert offsets(settled) == [0]
    assert made.clock.monotonic_ms() >= 200


def test_errors_that_stay_are_told_at_once() -> None:
    made = world()
    producer, settled = made.producer()
    made.cluster.refuse = lambda *_: ErrorCode.TOPIC_AUTHORIZATION_FAILED
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    error = failure(settled[0])
    assert isinstance(error, KafkaError) and error.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert len(produce_requests(made)) == 1


def test_retries_are_counted_where_the_user_limits_them() -> None:
    made = world()
    producer, settled = made.producer(retries=2)
    made.cluster.refuse = lambda *_: ErrorCode.NOT_ENOUGH_REPLICAS
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    assert isinstance(failure(settled[0]), KafkaError)
    assert len(produce_requests(made)) == 3


def test_a_batch_that_grows_too_old_fails_with_a_time_out() -> None:
    made = world()
    producer, settled = made.producer(delivery_timeout_ms=40_000)
    made.cluster.refuse = lambda *_: ErrorCode.NOT_ENOUGH_REPLICAS
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    assert isinstance(failure(settled[0]), ClientTimeout)
    assert 40_000 <= made.clock.monotonic_ms() < 71_000


def test_a_leader_that_moves_is_followed() -> None:
    made = world(0)
    producer, settled = made.producer()
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    made.cluster.move_leader(T0, 1)
    producer.append([record("t", 1)])
    made.wait(producer.flush())
    assert offsets(settled) == [0, 1]
    assert [broker for broker, request in made.cluster.requests if isinstance(request, ProduceRequest)] == [0, 0, 1]


def test_a_batch_too_large_for_the_topic_is_halved_until_it_fits() -> None:
    made = world()
    producer, settled = made.producer(linger_ms=5, enable_idempotence=True)

    def refuse(broker: int, name: TopicPartition, request: Message) -> ErrorCode | None:
        assert isinstance(request, ProduceRequest)
        [data] = [each.records for topic in request.topic_data for each in topic.partition_data]
        assert isinstance(data, (bytes, memoryview))
        return ErrorCode.MESSAGE_TOO_LARGE if RecordBatch(memoryview(data)).records_count > 3 else None

    made.cluster.refuse = refuse
    producer.append(record("t", number) for number in range(10))
    made.wait(producer.flush())
    assert values(made) == list(range(10))
    assert sorted(offsets(settled)) == list(range(10))


def test_without_acks_nobody_knows_the_offset() -> None:
    made = world()
    producer, settled = made.producer(acks=0)
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    made.clock.advance(100)
    assert offsets(settled) == [-1]
    assert values(made) == [0]


def test_a_topic_that_appears_while_records_wait_for_it_gets_them() -> None:
    made = world()
    producer, settled = made.producer()
    producer.append([record("later", 0), record("later", 1)])
    made.clock.advance(3_000)
    assert settled == []
    made.cluster.make_topic("later", [1])
    made.wait(producer.flush())
    assert offsets(settled) == [0, 1]


def test_a_topic_that_stays_away_is_told_after_max_block() -> None:
    made = world()
    producer, settled = made.producer(max_block_ms=5_000)
    producer.append([record("never", 0)])
    made.wait(producer.flush())
    assert "'never'" in str(failure(settled[0]))
    assert made.clock.monotonic_ms() < 7_000


def test_a_zookeeper_in_place_of_a_broker_is_named() -> None:
    made = ClientWorld()
    made.zookeepers = {9100, 9101}
    made.cluster.before = lambda *_: Promise()  # it never answers
    producer = ProducerCore(settings_of(ProducerSettings, {"bootstrap_servers": made.cluster.bootstrap}), made.seams(), lambda _: None)
    with pytest.raises(NoBrokers, match="fake:9100 is a ZooKeeper server, not a broker"):
        made.wait(producer.start())
    assert made.clock.monotonic_ms() < 5_000


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"acks": 2}, "acks is 2"),
        ({"enable_idempotence": True, "acks": 1}, "needs acks=all"),
        ({"enable_idempotence": True, "retries": 0}, "without retries"),
        ({"enable_idempotence": True, "max_in_flight_requests_per_connection": 6}, "allows 5"),
        ({"compression_type": "brotli"}, "compression.type is 'brotli'"),
        ({"partitioner": "best"}, "partitioner is 'best'"),
        ({"delivery_timeout_ms": 1_000}, "less than linger.ms"),
        ({"linger": 5}, "there is no setting 'linger'; is 'linger_ms' meant"),
        ({"linger.ms": "soon"}, "not a whole number"),
        ({"enable.idempotence": "perhaps"}, "not true or false"),
        ({"linger_ms": -1}, "a time is not negative"),
        ({"bootstrap_servers": "host:port"}, "'host:port' is no address"),
        ({"bootstrap_servers": ""}, "no bootstrap address"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_words(settings: dict[str, object], text: str) -> None:
    with pytest.raises(InvalidSetting, match=text):
        settings_of(ProducerSettings, {"bootstrap_servers": "localhost", **settings})


def test_settings_are_read_from_kafkas_names_and_texts() -> None:
    settings = settings_of(ProducerSettings, {"bootstrap.servers": "a:1,[::1]:2,c", "linger.ms": "7", "acks": "all", "enable.idempotence": "TRUE"})
    assert (settings.linger_ms, settings.required_acks, settings.enable_idempotence) == (7, -1, True)
    assert settings.bootstrap == [("a", 1), ("::1", 2), ("c", 9092)]


def test_a_request_that_may_take_longer_than_two_minutes_prolongs_the_time_for_delivery_unless_that_is_given() -> None:
    given = {"bootstrap_servers": "localhost", "linger_ms": 1_000, "request_timeout_ms": 200_000}
    assert settings_of(ProducerSettings, given).delivery_timeout_ms == 201_000  # KafkaProducer.configureDeliveryTimeout
    assert settings_of(ProducerSettings, {**given, "request_timeout_ms": 1_500}).delivery_timeout_ms == 120_000  # Kafka's default


# Idempotence


def idempotent(made: ClientWorld) -> tuple[ProducerCore, list[Delivery]]:
    return made.producer(enable_idempotence=True, batch_size=0)  # a record a batch


def test_an_answer_that_is_lost_does_not_double_the_record() -> None:
    made = world()
    producer, settled = idempotent(made)
    cut = iter([True])

    def lose_answer(broker: int, request: Message) -> None:
        if isinstance(request, ProduceRequest) and next(cut, False):
            made.clock.call_later(0.5, lambda: made.cluster.cut(0))  # it is handled, and the answer is on its way

    made.cluster.before = lose_answer
    producer.append(record("t", number) for number in range(5))
    made.wait(producer.flush())
    assert values(made) == list(range(5))
    assert offsets(sorted(settled, key=lambda each: each.value or b"")) == list(range(5))


def test_a_batch_refused_for_good_leaves_no_gap_behind() -> None:
    made = world()
    producer, settled = idempotent(made)
    refusals = iter([None, None, ErrorCode.INVALID_RECORD])
    made.cluster.refuse = lambda *_: next(refusals, None)
    producer.append(record("t", number) for number in range(20))
    made.wait(producer.flush())
    assert values(made) == [number for number in range(20) if number != 2]
    assert [isinstance(each._error if each.batch is None else each.batch._error, KafkaError) for each in settled].count(True) == 1


def test_a_leader_that_has_forgotten_the_producer_gets_a_new_epoch() -> None:
    made = world()
    producer, settled = idempotent(made)
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    refusals = iter([ErrorCode.UNKNOWN_PRODUCER_ID])
    made.cluster.refuse = lambda *_: next(refusals, None)
    producer.append([record("t", 1), record("t", 2)])
    made.wait(producer.flush())
    assert values(made) == [0, 1, 2]
    headers = [RecordBatch(memoryview(batch)) for batch in made.cluster.partition(T0).batches]
    assert [(each.producer_epoch, each.base_sequence) for each in headers] == [(0, 0), (1, 0), (1, 1)]
    assert len({each.producer_id for each in headers}) == 1
    assert len(settled) == 3


def test_other_partitions_go_over_to_the_new_epoch_when_nothing_of_theirs_is_on_its_way() -> None:
    made = world(0, 0)
    producer, _ = idempotent(made)
    refusals = iter([ErrorCode.UNKNOWN_PRODUCER_ID])
    made.cluster.refuse = lambda broker, name, request: next(refusals, None) if name.partition == 0 else None
    for number in range(3):
        producer.append(record("t", number, partition=partition) for partition in (0, 1))
        made.wait(producer.flush())
    assert values(made, 0) == values(made, 1) == [0, 1, 2]
    assert [RecordBatch(memoryview(batch)).producer_epoch for batch in made.cluster.topics["t"][1].batches][-1] == 1


def test_what_an_old_leader_still_has_comes_back_before_a_new_one_gets_anything() -> None:
    """Otherwise more than five batches would be under way, and the first, which was written, forgotten when it is sent again."""
    made = world(0)
    producer, settled = idempotent(made)
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    held: Promise[None] = Promise()
    made.cluster.before = lambda broker, request: held if isinstance(request, ProduceRequest) and broker == 0 else None
    producer.append(record("t", number) for number in range(1, 20))
    made.clock.advance(50)
    made.cluster.move_leader(T0, 1)
    made.wait(producer.cluster.update())
    made.clock.advance(50)
    assert [broker for broker, request in made.cluster.requests if isinstance(request, ProduceRequest)] == [0]
    held.resolve(None)
    made.cluster.before = lambda *_: None
    made.wait(producer.flush())
    assert values(made) == list(range(20))
    assert len(settled) == 20


@pytest.mark.parametrize("seed", range(60))
def test_under_any_faults_each_record_is_written_once_and_in_order(seed: int) -> None:
    made = ClientWorld(brokers=3, seed=seed)
    chance = made.random
    made.cluster.latency_ms = lambda: chance.random() * (200 if chance.random() < 0.05 else 5)
    made.cluster.make_topic("t", [0, 1, 2, 0])
    producer, settled = made.producer(enable_idempotence=True, batch_size=100, linger_ms=chance.randrange(3), delivery_timeout_ms=10_000_000)

    def refuse(broker: int, name: TopicPartition, request: Message) -> ErrorCode | None:
        passing = [ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_LEADER_OR_FOLLOWER]
        return passing[chance.randrange(3)] if isinstance(request, ProduceRequest) and chance.random() < 0.03 else None

    made.cluster.refuse = refuse
    faults: list[Callable[[], None]] = [
        lambda: made.cluster.cut(chance.randrange(3)),
        lambda: made.cluster.move_leader(TopicPartition("t", chance.randrange(4)), chance.randrange(3)),
    ]
    for number in range(400):
        producer.append(record("t", number, partition=partition) for partition in range(4))
        made.clock.advance(chance.random() * 4)
        if chance.random() < 0.08:
            faults[chance.randrange(2)]()
    made.wait(producer.flush())
    assert len(settled) == 1600, f"seed {seed}"
    for partition in range(4):
        assert values(made, partition) == list(range(400)), f"seed {seed}, partition {partition}"
    places = {(each.outcome().partition, each.outcome().offset) for each in settled}
    assert places == {(partition, offset) for partition in range(4) for offset in range(400)}, f"seed {seed}"


# Where to


def test_records_without_a_key_stay_with_a_partition_until_its_batch_is_full() -> None:
    made = world(0, 0, 0)
    producer, settled = made.producer(linger_ms=5, batch_size=320)
    producer.append(record("t", number) for number in range(60))
    made.wait(producer.flush())
    runs = [each.outcome().partition for each in sorted(settled, key=lambda each: int(each.value or b""))]
    changes = sum(one != other for one, other in pairwise(runs))
    assert 4 <= changes <= 8, "batches of about ten records, each in another partition than the one before"


def test_a_custom_partitioner_that_raises_fails_its_record_alone() -> None:
    made = world(0, 0)

    def choose(topic: str, key: bytes | None, value: bytes | None, count: int) -> int:
        return {b"a": 1, b"b": 7}[key or b""]

    producer, settled = made.producer(partitioner=choose)
    producer.append([record("t", 0, key=b"a"), record("t", 1, key=b"b"), record("t", 2, key=b"c")])
    made.wait(producer.flush())
    by_key = {each.key: each for each in settled}
    assert by_key[b"a"].outcome().partition == 1
    assert "there is no partition 7 of t, which has 2" in str(failure(by_key[b"b"]))
    assert isinstance(failure(by_key[b"c"]), KeyError)


def test_a_broker_that_is_too_old_is_told_in_words() -> None:
    made = world()
    made.cluster.versions[ApiKey.PRODUCE] = 2
    producer, settled = made.producer()
    producer.append([record("t", 0)])
    made.wait(producer.flush())
    assert "knows Produce up to v2 only; we need one of 0.11 or newer" in str(failure(settled[0]))


def test_a_wait_for_metadata_is_shared() -> None:
    made = world()
    producer, _ = made.producer()
    first, second = spawn(producer.partition_count("t")), spawn(producer.partition_count("t"))
    assert (made.wait(first), made.wait(second)) == (1, 1)


def test_metadata_that_is_still_asked_for_when_the_client_is_closed_is_given_up_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    made = world()
    producer, _ = made.producer()
    producer.cluster.update_soon()
    made.wait(after(made.clock, 100.5))  # retry.backoff.ms, and half of the way to the broker
    producer.cluster.close()
    asked = len(made.cluster.requests)
    made.wait(after(made.clock, 1_000))
    assert len(made.cluster.requests) == asked
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == []
