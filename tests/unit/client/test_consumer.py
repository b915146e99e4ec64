"""The consumer's core over a fake cluster, partitions by hand: positions, fetches, sessions, truncation. Groups: tests/integration/test_own_groups.py."""

from __future__ import annotations

from typing import Any

import pytest

from pykafka_classic.client.client_errors import ClientClosed, IllegalState, InvalidSetting
from pykafka_classic.client.client_settings import settings_of
from pykafka_classic.client.consuming.consumer_core import ConsumerCore
from pykafka_classic.client.consuming.consumer_errors import LogTruncated, NoOffset
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.client.starts import AtOffset, LastN, Word
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.fetch import FetchRequest
from pykafka_classic.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from pykafka_classic.protocol.schema import Message
from pykafka_classic.records.batch_builder import build_batch
from pykafka_classic.records.layout import CorruptRecord
from pykafka_classic.records.record import Record
from tests.unit.client.client_world import ClientWorld

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def world(*leaders: int) -> ClientWorld:
    made = ClientWorld()
    made.cluster.make_topic("t", list(leaders or (0, 1)))
    return made


def write(made: ClientWorld, partition: TopicPartition, *values: int, codec: int = 0, size: int = 0) -> None:
    """One batch."""
    records = [Record(number, 1_000 + number, None, str(value).rjust(size).encode()) for number, value in enumerate(values)]
    made.cluster.partition(partition).append(build_batch(records, codec=codec))


def reader(made: ClientWorld, *partitions: TopicPartition, **settings: Any) -> ConsumerCore:
    consumer = made.consumer(**{"start": "earliest", **settings})
    made.wait(consumer.assign(partitions or (T0, T1)))
    return consumer


def poll(made: ClientWorld, consumer: ConsumerCore, *, timeout_ms: float = 2_000, count: int | None = None) -> list[ConsumerRecord]:
    return made.wait(consumer.poll(timeout_ms, count))


def drain(made: ClientWorld, consumer: ConsumerCore) -> list[int]:
    found: list[int] = []
    while records := poll(made, consumer):
        found += [int(record.value or b"-1") for record in records]
    return found


def fetches(made: ClientWorld) -> list[FetchRequest]:
    return [request for _, request in made.cluster.requests if isinstance(request, FetchRequest)]


def test_records_come_in_order_and_positions_follow_what_was_handed_out() -> None:
    made = world()
    write(made, T0, 0, 1, 2)
    write(made, T0, 3, 4)
    consumer = reader(made, T0)
    first = poll(made, consumer, count=2)
    assert [(record.offset, record.value) for record in first] == [(0, b"0"), (1, b"1")]
    assert made.wait(consumer.position(T0)) == 2
    assert [record.offset for record in poll(made, consumer, count=100)] == [2, 3, 4]
    assert made.wait(consumer.position(T0)) == 5


def test_a_poll_ends_at_its_time_and_is_woken_by_records_or_by_hand() -> None:
    made = world()
    consumer = reader(made)
    before = made.clock.monotonic_ms()
    assert poll(made, consumer, timeout_ms=700) == []
    assert made.clock.monotonic_ms() - before == pytest.approx(700, abs=10)
    made.clock.call_later(300, lambda: write(made, T1, 7))
    before = made.clock.monotonic_ms()
    assert [record.value for record in poll(made, consumer, timeout_ms=100_000)] == [b"7"]
    assert made.clock.monotonic_ms() - before < 400
    made.clock.call_later(50, consumer.wake)
    before = made.clock.monotonic_ms()
    assert poll(made, consumer, timeout_ms=100_000) == []
    assert made.clock.monotonic_ms() - before < 60


def test_while_records_wait_their_partition_is_not_fetched_again() -> None:
    made = world(0)
    write(made, T0, *range(100))
    consumer = reader(made, T0)
    poll(made, consumer, count=10)
    made.clock.advance(5_000)
    assert len(fetches(made)) == 1


@pytest.mark.parametrize(
    ("start", "expected"), [(Word.EARLIEST, [0, 1, 2, 3]), (Word.LATEST, []), (AtOffset(2), [2, 3]), (LastN(1), [3]), (LastN(99), [0, 1, 2, 3])]
)
def test_the_starts(start: Any, expected: list[int]) -> None:
    made = world(0)
    write(made, T0, 0, 1, 2, 3)
    assert drain(made, reader(made, T0, start=start)) == expected


def test_a_start_by_partition_leaves_the_rest_to_the_reset_policy() -> None:
    made = world(0, 0)
    write(made, T0, 0, 1)
    write(made, T1, 10, 11)
    assert drain(made, reader(made, start='{"t": {"0": 1}}', auto_offset_reset="earliest")) == [1, 10, 11]
    with pytest.raises(NoOffset, match="t-1: the start does not mention it"):
        poll(made, reader(made, start='{"t": {"0": 1}}', auto_offset_reset="none"))


@pytest.mark.parametrize(("policy", "expected"), [("earliest", [5, 6]), ("latest", [])])
def test_an_offset_that_retention_took_is_reset(policy: str, expected: list[int]) -> None:
    made = world(0)
    write(made, T0, 0, 1, 2, 3, 4)
    write(made, T0, 5, 6)
    partition = made.cluster.partition(T0)
    partition.start = 5
    del partition.batches[0]
    assert drain(made, reader(made, T0, start="2", auto_offset_reset=policy)) == expected


def test_without_a_reset_policy_the_user_is_told_and_may_seek() -> None:
    made = world(0)
    write(made, T0, 0, 1)
    consumer = reader(made, T0, start="9", auto_offset_reset="none")
    with pytest.raises(NoOffset) as raised:
        poll(made, consumer)
    assert raised.value.partitions == (T0,)
    consumer.seek(T0, 1)
    assert drain(made, consumer) == [1]


def test_seeking_throws_away_what_was_fetched_ahead() -> None:
    made = world(0)
    write(made, T0, *range(10))
    consumer = reader(made, T0)
    assert [record.offset for record in poll(made, consumer, count=3)] == [0, 1, 2]
    consumer.seek(T0, 8)
    assert drain(made, consumer) == [8, 9]
    consumer.seek_to(LastN(3), [])
    assert drain(made, consumer) == [7, 8, 9]


def test_a_paused_partition_gives_nothing_until_it_is_resumed() -> None:
    made = world(0, 0)
    write(made, T0, 0)
    write(made, T1, 1)
    consumer = reader(made)
    consumer.pause([T0], paused=True)
    assert drain(made, consumer) == [1]
    consumer.pause([T0], paused=False)
    assert drain(made, consumer) == [0]


def test_a_leader_that_moves_is_followed_and_asked_whether_it_has_what_was_read() -> None:
    made = world(0)
    write(made, T0, 0, 1)
    consumer = reader(made, T0)
    assert drain(made, consumer) == [0, 1]
    made.cluster.move_leader(T0, 1)
    write(made, T0, 2)
    assert drain(made, consumer) == [2]
    assert any(isinstance(request, OffsetForLeaderEpochRequest) and broker == 1 for broker, request in made.cluster.requests)


def test_a_leader_that_moves_on_while_it_is_asked_does_not_hold_the_consumer_up() -> None:
    """Nobody fetches a partition whose position is in doubt, so no fetch would tell that its leader is another one again."""
    made = world(0)
    write(made, T0, 0, 1)
    consumer = reader(made, T0)
    assert drain(made, consumer) == [0, 1]

    def moved_back(_: int, request: Message, __: int) -> None:
        if isinstance(request, OffsetForLeaderEpochRequest):
            made.cluster.delegate = lambda *_: None
            made.cluster.move_leader(T0, 0)

    made.cluster.delegate = moved_back
    made.cluster.move_leader(T0, 1)
    write(made, T0, 2)
    assert drain(made, consumer) == [2]
    asked = [broker for broker, request in made.cluster.requests if isinstance(request, OffsetForLeaderEpochRequest)]
    assert (asked[0], asked[-1]) == (1, 0)


def test_a_truncated_log_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    made = world(0)
    write(made, T0, 0, 1)
    write(made, T0, 2, 3)
    consumer = reader(made, T0, auto_offset_reset="latest")
    strict = reader(made, T0, auto_offset_reset="none")
    assert drain(made, consumer) == drain(made, strict) == [0, 1, 2, 3]
    made.cluster.partition(T0).truncate(2)
    made.cluster.move_leader(T0, 1)
    write(made, T0, 102, 103, 104)
    assert drain(made, consumer) == [102, 103, 104]
    assert "t-0 was truncated: offset 4 of epoch 0 is gone" in caplog.text
    with pytest.raises(LogTruncated) as raised:
        poll(made, strict)
    assert raised.value.diverging_offsets == {T0: 2}


def test_a_session_names_only_what_changed_and_is_begun_anew_when_it_is_forgotten() -> None:
    made = world(0, 0)
    made.cluster.answers_sessions = True
    write(made, T0, 0)
    consumer = reader(made, fetch_max_wait_ms=10)
    assert drain(made, consumer) == [0]
    assert [(request.session_id, request.session_epoch) for request in fetches(made)[:3]] == [(0, 0), (1, 1), (1, 2)]
    assert [[each.partition for each in topic.partitions] for topic in fetches(made)[1].topics] == [[0]], "the other stands where it stood"
    assert fetches(made)[2].topics == []
    made.cluster.sessions.clear()
    write(made, T1, 1)
    assert drain(made, consumer) == [1]
    assert [request.session_epoch for request in fetches(made)].count(0) == 2
    consumer.pause([T0], paused=True)
    poll(made, consumer, timeout_ms=50)
    assert any(topic.partitions == [0] for request in fetches(made) for topic in request.forgotten_topics_data)


def test_a_broken_connection_and_errors_that_pass_are_not_the_users_business() -> None:
    made = world(0)
    write(made, T0, 0, 1)
    refusals = iter([ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.KAFKA_STORAGE_ERROR])
    made.cluster.refuse = lambda broker, name, request: next(refusals, None) if isinstance(request, FetchRequest) else None
    consumer = reader(made, T0)
    made.clock.call_later(3, lambda: made.cluster.cut(0))
    assert drain(made, consumer) == [0, 1]


def test_errors_that_stay_are_told() -> None:
    made = world(0)
    write(made, T0, 0)
    made.cluster.refuse = lambda broker, name, request: ErrorCode.TOPIC_AUTHORIZATION_FAILED if isinstance(request, FetchRequest) else None
    with pytest.raises(KafkaError) as raised:
        poll(made, reader(made, T0))
    assert raised.value.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_a_damaged_batch_is_told_after_what_is_before_it_and_can_be_passed() -> None:
    made = world(0)
    for value in (0, 1, 2):
        write(made, T0, value)
    batches = made.cluster.partition(T0).batches
    batches[1] = batches[1][:-2] + bytes([batches[1][-2] ^ 1]) + batches[1][-1:]
    consumer = reader(made, T0)
    assert [record.value for record in poll(made, consumer)] == [b"0"]
    for _ in range(2):
        with pytest.raises(CorruptRecord):
            poll(made, consumer)
    consumer.seek(T0, 2)
    assert drain(made, consumer) == [2]


@pytest.mark.parametrize("codec", [0, 1, 4])
def test_a_big_compressed_answer_is_unpacked_elsewhere(codec: int) -> None:
    made = world(0)
    made.background.queued = True
    for part in range(3):
        write(made, T0, *range(100 * part, 100 * (part + 1)), codec=codec, size=1_000)
    # Numbers between blanks compress well; what counts is the size of the answer, so it is filled up with chance.
    noise = [Record(number, 0, None, str(300 + number).encode(), (("noise", made.random.randbytes(1_500)),)) for number in range(100)]  # type: ignore[arg-type]
    made.cluster.partition(T0).append(build_batch(noise, codec=codec))
    consumer = reader(made, T0)
    if codec:
        assert poll(made, consumer, timeout_ms=500) == []
        assert made.background.pending == 1
        made.background.run_all()
    assert drain(made, consumer) == list(range(400))


def test_partitions_that_do_not_exist_cannot_be_assigned() -> None:
    made = world(0)
    consumer = made.consumer(default_api_timeout_ms=1_000)
    with pytest.raises(KafkaError, match="there is no partition t-5: t has 1"):
        made.wait(consumer.assign([TopicPartition("t", 5)]))
    with pytest.raises(KafkaError, match="'nothing' is not there after"):
        made.wait(consumer.assign([TopicPartition("nothing", 0)]))


def test_calls_that_do_not_fit_are_refused_in_words() -> None:
    made = world(0)
    consumer = made.consumer()
    for call, text in (
        (lambda: made.wait(consumer.poll(0)), "nothing to poll"),
        (lambda: made.wait(consumer.subscribe(["t"], None, None)), "subscribe needs a group.id"),
        (lambda: made.wait(consumer.commit()), r"no group\.id is set"),
        (lambda: consumer.seek(T0, 1), "t-0 is not assigned"),
    ):
        with pytest.raises(IllegalState, match=text):
            call()
    made.wait(consumer.close(timeout_ms=1_000))
    with pytest.raises(ClientClosed):
        made.wait(consumer.poll(0))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"isolation_level": "serializable"}, r"isolation\.level is 'serializable'"),
        ({"partition_assignment_strategy": "range,best"}, "has 'best'"),
        ({"heartbeat_interval_ms": 10_000}, r"heartbeat\.interval\.ms must be less"),
        ({"max_poll_records": 0}, r"max\.poll\.records is 0"),
        ({"group_id": ""}, "cannot be empty"),
        ({"group_instance_id": "one"}, r"need a group\.id"),
        ({"start": "committed"}, r"need a group\.id"),
        ({"start": "sometime"}, "is no start"),
        ({"auto_offset_reset": "newest"}, r"auto\.offset\.reset is 'newest'"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_words(settings: dict[str, object], text: str) -> None:
    with pytest.raises(InvalidSetting, match=text):
        settings_of(ConsumerSettings, {"bootstrap_servers": "localhost", **settings})
