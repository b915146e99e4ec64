"""What the tests ask of librdkafka: make a topic, send, read everything back. Each call waits for its end and fails loudly after a deadline."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Final, NamedTuple, cast

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from pykafka_classic.edges.child_processes import wait_until

DEADLINE_S: Final = 30.0
ANY_PARTITION: Final = -1
NOW: Final = 0

Headers = tuple[tuple[str, str | bytes | None], ...]
Setting = str | int | bool


class Sent(NamedTuple):
    """A record as a client sees it: what must come back as it went."""

    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp_ms: int | None = None


class Stored(NamedTuple):
    """A record with its place."""

    partition: int
    offset: int
    record: Sent


def as_stored(message: Message) -> Stored:
    """What a consumer was given, or a producer was told (offset -1 where there was no answer)."""
    partition, offset = message.partition(), message.offset()
    assert partition is not None
    headers = cast("Headers", tuple(message.headers() or ()))
    return Stored(partition, -1 if offset is None else offset, Sent(message.key(), message.value(), headers, message.timestamp()[1]))


def librdkafka_config(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Keyword arguments as librdkafka names its settings: enable_idempotence=True means enable.idempotence."""
    return {name.replace("_", "."): value for name, value in settings.items()}


def create_topic(
    bootstrap: str,
    name: str,
    *,
    partitions: int = 3,
    replicas: int = 3,
    assignment: Sequence[Sequence[int]] | None = None,
    config: Mapping[str, str] | None = None,
) -> None:
    """Create a topic, with given replicas or a number of them, and wait until all its partitions are led and all replicas are in sync.

    A client whose metadata still names a controller that has just lost its session is told NOT_CONTROLLER, and while a broker is registering anew there are
    too few: it asks again.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap})
    if assignment is None:
        wanted = NewTopic(name, partitions, replicas, config=dict(config or {}))
    else:
        wanted = NewTopic(name, len(assignment), replica_assignment=[list(each) for each in assignment], config=dict(config or {}))
    ready = dict.fromkeys(range(partitions), replicas) if assignment is None else {number: len(each) for number, each in enumerate(assignment)}

    def created() -> bool:
        anew = AdminClient({"bootstrap.servers": bootstrap})  # librdkafka does not look for another controller by itself
        [answer] = anew.create_topics([wanted], operation_timeout=DEADLINE_S).values()
        try:
            answer.result(DEADLINE_S)
        except KafkaException as error:
            if error.args[0].code() in {KafkaError.NOT_CONTROLLER, KafkaError.INVALID_REPLICATION_FACTOR}:
                return False
            raise
        return True

    wait_until(created, seconds=DEADLINE_S)
    wait_until(lambda: in_sync(admin, name) == ready, seconds=DEADLINE_S)
    wait_until(lambda: leaders_answer(bootstrap, name), seconds=DEADLINE_S)


def in_sync(admin: AdminClient, topic: str) -> dict[int, int]:
    """Replicas in the ISR by partition, of the partitions that have a leader."""
    found = admin.list_topics(topic, timeout=DEADLINE_S).topics[topic].partitions.values()
    return {partition.id: len(partition.isrs) for partition in found if partition.leader >= 0}


def leaders_answer(bootstrap: str, topic: str) -> bool:
    """Whether each leader knows already that it leads: the broker that told so may have learnt it first."""
    try:
        return len(end_offsets(bootstrap, topic)) > 0
    except KafkaException as error:
        if error.args[0].code() in {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.NOT_LEADER_FOR_PARTITION}:
            return False
        raise


def send(bootstrap: str, topic: str, records: Iterable[Sent], *, partition: int | None = None, **settings: Setting) -> list[Stored]:
    """Send and wait for all answers; where each record went (offset -1 with acks=0, which has no answer). Any failure is an AssertionError."""
    stored: list[Stored] = []
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failures.append(error)
        else:
            stored.append(as_stored(message))

    common = {"bootstrap.servers": bootstrap, "message.timeout.ms": int(DEADLINE_S * 1000), "linger.ms": 5, "on_delivery": delivered}
    producer = Producer(common | librdkafka_config(settings))
    for key, value, headers, timestamp_ms in records:
        producer.produce(topic, value, key, ANY_PARTITION if partition is None else partition, timestamp=timestamp_ms or NOW, headers=list(headers))
    left = producer.flush(2 * DEADLINE_S)
    assert (left, failures) == (0, []), f"{left} without an answer; failures: {failures}"
    return stored


def end_offsets(bootstrap: str, topic: str) -> dict[int, int]:
    """High watermarks by partition, asked of the leaders."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "asks-only", "enable.auto.commit": False})
    try:
        partitions = consumer.list_topics(topic, timeout=DEADLINE_S).topics[topic].partitions
        return {number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=DEADLINE_S)[1] for number in partitions}
    finally:
        consumer.close()


def read_all(bootstrap: str, topic: str, **settings: Setting) -> dict[int, list[Stored]]:
    """All records of a topic up to the high watermarks of now, by partition, in the order in which they came."""
    ends = end_offsets(bootstrap, topic)
    common = {"group.id": "reads-all", "enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 20}
    consumer = Consumer({"bootstrap.servers": bootstrap} | common | librdkafka_config(settings))
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in ends])
    try:
        return collect(consumer, waiting_for=set(ends))
    finally:
        consumer.close()


def read_acknowledged(bootstrap: str, topic: str, acknowledged: Mapping[int, Iterable[int]]) -> dict[int, list[Stored]]:
    """As `read_all`, of records whose values are numbers, when all these can be read; what can be read after the deadline where not.

    For a moment they may not be, with Kafka's brokers as with ours: a leader that was just elected knows the high watermark that it last heard of.
    """
    wanted = {partition: set(numbers) for partition, numbers in acknowledged.items()}
    found: dict[int, list[Stored]] = {}

    def all_there() -> bool:
        nonlocal found
        found = read_all(bootstrap, topic)
        return all(numbers <= {int(each.record.value or b"-1") for each in found.get(partition, ())} for partition, numbers in wanted.items())

    try:
        wait_until(all_there, seconds=DEADLINE_S)
    except TimeoutError:
        return found
    return found


def collect(consumer: Consumer, *, waiting_for: set[int]) -> dict[int, list[Stored]]:
    """What an assigned consumer (enable.partition.eof) is given until each partition has come to its end."""
    found: dict[int, list[Stored]] = defaultdict(list)
    silent_s = 0.0
    while waiting_for:
        message = consumer.poll(1.0)
        silent_s = silent_s + 1.0 if message is None else 0.0
        assert silent_s < DEADLINE_S, f"nothing comes; still waiting for the end of partitions {waiting_for}"
        if message is None:
            continue
        error = message.error()
        if error is None:
            stored = as_stored(message)
            found[stored.partition].append(stored)
        elif error.code() == KafkaError._PARTITION_EOF:
            waiting_for -= {message.partition()}
        else:
            assert error.retriable() or error.code() == KafkaError._ALL_BROKERS_DOWN, error
    return dict(found)


class Load:
    """A producer that sends numbered records without pause in a thread, round the partitions, until the block ends.

    `acknowledged` holds, by partition, the numbers that were answered; `failed` the errors. A record's value is its number in its partition, after so many
    blanks as make it `size` bytes long; with `keys`, its key is that number modulo `keys`.
    """

    def __init__(
        self, bootstrap: str, topic: str, *, partitions: int, per_second: int = 2000, keys: int | None = None, size: int = 0, **settings: Setting
    ) -> None:
        self.acknowledged: dict[int, list[int]] = {number: [] for number in range(partitions)}
        self.failed: list[str] = []
        self._topic = topic
        self._keys = keys
        self._size = size
        self._pause_s = 0.01
        self._per_round = max(1, round(per_second * self._pause_s))
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": "all",
                "linger.ms": 5,
                "message.timeout.ms": 60_000,
                "retry.backoff.ms": 50,
                "log_level": 2,
                "on_delivery": self._answered,
            }
            | librdkafka_config(settings)
        )
        self._next = dict.fromkeys(range(partitions), 0)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load")

    @property
    def count(self) -> int:
        """Records answered so far."""
        return sum(map(len, self.acknowledged.values()))

    def __enter__(self) -> Load:
        self._thread.start()
        try:
            self.wait_for_more(200)
        except BaseException:
            self._end()
            self._producer.purge()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()
        if error is None:
            assert self._producer.flush(90) == 0, "records without an answer"
        else:
            self._producer.purge()

    def _end(self) -> None:
        self._ending.set()
        self._thread.join()

    def wait_for_more(self, count: int, *, seconds: float = DEADLINE_S) -> None:
        """Wait until so many more records were answered."""
        target = self.count + count
        wait_until(lambda: self.count >= target, seconds=seconds)

    def wait_for_more_in(self, partitions: Sequence[int], *, seconds: float = DEADLINE_S) -> None:
        """Wait until each of these partitions answered a record more."""
        before = {number: len(self.acknowledged[number]) for number in partitions}
        wait_until(lambda: all(len(self.acknowledged[number]) > count for number, count in before.items()), seconds=seconds)

    def _run(self) -> None:
        while not self._ending.is_set():
            for _ in range(self._per_round):
                for partition, number in self._next.items():
                    self._send(partition, number)
                    self._next[partition] = number + 1
            self._producer.poll(0)
            self._ending.wait(self._pause_s)

    def _send(self, partition: int, number: int) -> None:
        key = None if self._keys is None else str(number % self._keys).encode()
        while True:
            try:
                return self._producer.produce(self._topic, str(number).encode().rjust(self._size), key, partition=partition)
            except BufferError:
                self._producer.poll(0.1)

    def _answered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failed.append(error.str())
        else:
            stored = as_stored(message)
            self.acknowledged[stored.partition].append(int(stored.record.value or b""))


def assert_nothing_lost(load: Load, bootstrap: str, topic: str) -> int:
    """Every acknowledged number is there, first occurrences in rising order; the count of duplicates."""
    stored = read_acknowledged(bootstrap, topic, load.acknowledged)
    found = {partition: [int(each.record.value or b"-1") for each in records] for partition, records in stored.items()}
    duplicates = 0
    for partition, acknowledged in load.acknowledged.items():
        assert acknowledged, f"partition {partition} never answered"
        numbers = found[partition]
        assert not set(acknowledged) - set(numbers), f"lost in partition {partition}: {sorted(set(acknowledged) - set(numbers))[:20]}"
        first_seen = list(dict.fromkeys(numbers))
        assert first_seen == sorted(first_seen), f"order broken in partition {partition}"
        duplicates += len(numbers) - len(first_seen)
    return duplicates


def eventually(condition: Callable[[], bool], what: str, *, seconds: float = DEADLINE_S) -> None:
    """Wait for a condition; the AssertionError says what did not come."""
    try:
        wait_until(condition, seconds=seconds)
    except TimeoutError:
        raise AssertionError(f"not within {seconds:g} s: {what}") from None
