"""The blocking and Twisted faces of the clients, over real sockets to fake brokers: threads, interruptions, what counts as handed out."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from twisted.internet.defer import Deferred, ensureDeferred

from pykafka_classic.clients import (
    ClientClosed,
    ClientTimeout,
    Consumer,
    IllegalState,
    InvalidSetting,
    NoBrokers,
    OffsetAndMetadata,
    Producer,
    TopicPartition,
    TwistedConsumer,
    TwistedProducer,
)
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.child_processes import free_ports
from pykafka_classic.protocol.messages.produce import ProduceRequest
from pykafka_classic.records.batch_builder import build_batch
from pykafka_classic.records.record import Record
from tests.edges.reactor_thread import ReactorThread
from tests.edges.toy_cluster import ToyCluster
from tests.reading import read_on

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def cluster(reactor_thread: ReactorThread) -> Iterator[ToyCluster]:
    toy = ToyCluster(reactor_thread)
    toy.fake.make_topic("t", [0, 1])
    yield toy
    toy.stop()


def bootstrap(cluster: ToyCluster) -> str:
    return ",".join(f"{host}:{port}" for host, port in cluster.addresses.values())


def write(cluster: ToyCluster, partition: TopicPartition, count: int) -> None:
    cluster.fake.partition(partition).append(build_batch([Record(number, 0, None, str(number).encode()) for number in range(count)]))


def test_what_an_iteration_has_not_handed_out_is_not_committed(cluster: ToyCluster) -> None:
    write(cluster, T0, 10)
    with Consumer(bootstrap(cluster), group_id="g", start="earliest", enable_auto_commit=False) as consumer:
        consumer.assign([T0])
        records = iter(consumer)
        assert [next(records).offset for _ in range(4)] == [0, 1, 2, 3]
        assert consumer.position(T0) == 4
        consumer.commit()
        assert consumer.committed([T0]) == {T0: OffsetAndMetadata(4)}
        assert [record.offset for record in consumer.poll(timeout_ms=5_000)] == [4, 5, 6, 7, 8, 9]
        consumer.commit()
        assert consumer.committed([T0]) == {T0: OffsetAndMetadata(10, "", -1)}


def test_closing_in_the_middle_of_an_iteration_commits_what_was_handed_out(cluster: ToyCluster) -> None:
    write(cluster, T0, 10)
    with Consumer(bootstrap(cluster), group_id="g", start="earliest") as consumer:
        consumer.assign([T0])
        for record in consumer:
            if record.offset == 6:
                break
    assert cluster.fake.committed == {("g", T0): 7}


def test_an_interrupted_poll_loses_no_record(cluster: ToyCluster) -> None:
    with Consumer(bootstrap(cluster), start="earliest", fetch_max_wait_ms=20) as consumer:
        consumer.assign([T0])
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            consumer.poll(timeout_ms=20_000)
        timer.join()
        write(cluster, T0, 3)
        assert [record.offset for record in read_on(consumer, 3)] == [0, 1, 2]


def test_a_poll_is_woken_from_another_thread(cluster: ToyCluster) -> None:
    with Consumer(bootstrap(cluster), start="earliest") as consumer:
        consumer.assign([T0])
        threading.Timer(0.2, consumer.wakeup).start()
        began = time.monotonic()
        assert consumer.poll(timeout_ms=20_000) == []
        assert time.monotonic() - began < 10


def test_a_consumer_is_for_one_thread(cluster: ToyCluster) -> None:
    with Consumer(bootstrap(cluster), start="earliest") as consumer:
        consumer.assign([T0])

        def poll() -> None:
            while True:
                with contextlib.suppress(IllegalState):  # the other one was inside a call just then
                    consumer.poll(timeout_ms=1_000)
                    return

        polling = threading.Thread(target=poll)
        polling.start()
        refused: list[str] = []
        while polling.is_alive() and not refused:
            try:
                consumer.end_offsets([T0])
            except IllegalState as error:
                refused.append(str(error))
        polling.join()
        assert refused == ["a consumer is for one thread; another one is inside a call of it"]


def test_a_paused_partition_gives_back_what_an_iteration_had_at_hand(cluster: ToyCluster) -> None:
    write(cluster, T0, 5)
    with Consumer(bootstrap(cluster), start="earliest", fetch_max_wait_ms=20) as consumer:
        consumer.assign([T0])
        assert next(iter(consumer)).offset == 0
        consumer.pause(T0)
        assert consumer.poll(timeout_ms=200) == []
        consumer.resume(T0)
        assert [record.offset for record in read_on(consumer, 4)] == [1, 2, 3, 4]


def test_a_callback_that_waits_for_its_producer_is_told_so(cluster: ToyCluster) -> None:
    told: list[object] = []
    with Producer(bootstrap(cluster)) as producer:

        def wait_inside(*_: object) -> None:
            try:
                producer.partition_count("t")
            except RuntimeError as error:
                told.append(str(error))

        producer.send("t", b"v", on_delivery=wait_inside)
        producer.flush()
    assert told == ["a callback of a client must not call the client and wait: its thread would wait for itself"]


def test_a_callback_that_raises_harms_nobody(cluster: ToyCluster, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise ValueError("the user's own")

    with Producer(bootstrap(cluster)) as producer:
        futures = [producer.send("t", b"v", partition=0, on_delivery=fail) for _ in range(3)]
    assert [future.result().offset for future in futures] == [0, 1, 2]
    assert caplog.text.count("A delivery callback failed") == 3


def test_time_outs_of_the_callers_own(cluster: ToyCluster) -> None:
    cluster.fake.refuse = lambda broker, name, request: ErrorCode.NOT_ENOUGH_REPLICAS if isinstance(request, ProduceRequest) else None
    producer = Producer(bootstrap(cluster), buffer_memory=1_000, max_block_ms=100)
    future = producer.send("t", b"v" * 500)
    with pytest.raises(TimeoutError):
        future.result(timeout_ms=50)
    with pytest.raises(ClientTimeout, match="not all records could be sent within 50 ms"):
        producer.flush(timeout_ms=50)
    with pytest.raises(ClientTimeout, match=r"no room for a record of \d+ bytes within 100 ms"):
        producer.send("t", b"v" * 500)
    producer.close(timeout_ms=50)
    with pytest.raises(ClientTimeout, match="were not enough to send this"):
        future.result()
    with pytest.raises(ClientClosed):
        producer.send("t", b"v")
    producer.close()


def test_text_and_buffers_are_sent_as_bytes_and_nothing_else_is(cluster: ToyCluster) -> None:
    with Producer(bootstrap(cluster)) as producer:
        for value in ("ä", bytearray(b"b"), memoryview(b"m"), None):
            producer.send("t", value, partition=0)  # type: ignore[arg-type]  # buffers are taken, but not promised
        with pytest.raises(TypeError, match="bytes, text or None, not int"):
            producer.send("t", 5)  # type: ignore[arg-type]
    assert cluster.fake.partition(T0).values() == ["ä".encode(), b"b", b"m", None]


def test_settings_by_kafkas_names_and_wrong_ones(cluster: ToyCluster) -> None:
    with Producer.of({"bootstrap.servers": bootstrap(cluster), "linger.ms": "3", "acks": "all"}) as producer:
        assert (producer.settings.linger_ms, producer.settings.required_acks) == (3, -1)
    with Consumer.of({"bootstrap.servers": bootstrap(cluster), "group.id": "g"}) as consumer:
        assert consumer.settings.group_id == "g"
    with pytest.raises(InvalidSetting, match="'group_di'; is 'group_id' meant"):
        Consumer(bootstrap(cluster), group_di="g")
    [port] = free_ports(1)
    with pytest.raises(NoBrokers, match=rf"127\.0\.0\.1:{port}: Connection was refused"):
        Producer(f"127.0.0.1:{port}")


def wait_for(thread: ReactorThread, work: Any) -> Any:
    """The outcome of a coroutine of Deferreds, run on the test reactor."""

    def begin() -> Promise[Any]:
        promise: Promise[Any] = Promise()
        deferred: Deferred[Any] = ensureDeferred(work)
        deferred.addCallbacks(promise.resolve, lambda failure: promise.fail(failure.value))
        return promise

    return thread.wait(begin)


def test_the_twisted_faces_send_read_and_commit_on_their_reactor(reactor_thread: ReactorThread, cluster: ToyCluster) -> None:
    async def story() -> tuple[list[int], list[bytes | None], dict[TopicPartition, OffsetAndMetadata], int]:
        producer = TwistedProducer(reactor_thread.reactor, bootstrap(cluster), acks="all", linger_ms=5)
        await producer.start()
        sent = [producer.send("t", str(number), partition=0) for number in range(5)]
        offsets = [(await each).offset for each in sent]
        await producer.flush()
        await producer.close()
        consumer = TwistedConsumer(reactor_thread.reactor, bootstrap(cluster), group_id="g", start="earliest", enable_auto_commit=False)
        await consumer.start()
        await consumer.assign([T0])
        first = consumer.poll(timeout_ms=5_000)
        with pytest.raises(IllegalState, match="the last poll has not ended"):
            await consumer.poll(timeout_ms=0)
        records = await first
        await consumer.commit()
        committed = await consumer.committed([T0])
        consumer.seek_to("-1")
        [last] = await consumer.poll(timeout_ms=5_000)
        await consumer.close()
        return offsets, [record.value for record in records], committed, last.offset

    offsets, values, committed, last = wait_for(reactor_thread, story())
    assert offsets == [0, 1, 2, 3, 4]
    assert values == [b"0", b"1", b"2", b"3", b"4"]
    assert committed == {T0: OffsetAndMetadata(5)}
    assert last == 4


def test_a_twisted_producer_that_is_closed_or_full_fails_its_deferreds(reactor_thread: ReactorThread, cluster: ToyCluster) -> None:
    async def story() -> None:
        producer = TwistedProducer(reactor_thread.reactor, bootstrap(cluster), buffer_memory=1_000)
        await producer.start()
        with pytest.raises(ClientTimeout, match="no room"):
            await producer.send("t", b"v" * 2_000)
        await producer.close()
        with pytest.raises(ClientClosed):
            await producer.send("t", b"v")

    wait_for(reactor_thread, story())
