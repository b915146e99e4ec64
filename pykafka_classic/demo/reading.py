"""Reading everything back with librdkafka, and comparing it with what was acknowledged."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, TopicPartition

from pykafka_classic.demo.flights import number_of

BATCH: Final = 10_000
PATIENCE_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Account:
    """The sum of it."""

    acknowledged: int
    read: int
    lost: int  # acknowledged, and not there
    duplicates: int  # records beyond the first of a row
    misplaced: int  # there, but not at the offset that was acknowledged
    out_of_order: int  # rows of one carrier that come after a later row of it


class Inconsistent(Exception):
    """The topic could not be read to its end; the text says how far it went."""


def read_all(bootstrap: str, topic: str, partitions: int, on_progress: Callable[[int], None]) -> list[tuple[int, int, int, bytes]]:
    """Every record as (row, partition, offset, carrier), partition by partition in the order of offsets. Raises Inconsistent."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "demo-reader", "enable.auto.commit": False, "log_level": 0})
    try:
        ends = {number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=10)[1] for number in range(partitions)}
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)])
        return _read_until(consumer, ends, on_progress)
    finally:
        consumer.close()


def _read_until(consumer: Consumer, ends: Mapping[int, int], on_progress: Callable[[int], None]) -> list[tuple[int, int, int, bytes]]:
    found: list[tuple[int, int, int, bytes]] = []
    reached = dict.fromkeys(ends, 0)
    deadline = time.monotonic() + PATIENCE_S
    while any(reached[partition] < end for partition, end in ends.items()):
        if time.monotonic() > deadline:
            raise Inconsistent(f"after {PATIENCE_S:g} s without a record, read up to {reached} of {dict(ends)}")
        for message in consumer.consume(BATCH, timeout=0.5):
            entry = _entry(message)
            found.append(entry)
            reached[entry[1]] = entry[2] + 1
            deadline = time.monotonic() + PATIENCE_S
        on_progress(len(found))
    return found


def _entry(message: Message) -> tuple[int, int, int, bytes]:
    error, value, key = message.error(), message.value(), message.key()
    if error is not None:
        raise KafkaException(error)
    partition, offset = message.partition(), message.offset()
    assert isinstance(value, bytes)
    assert isinstance(key, bytes)
    assert partition is not None
    assert offset is not None
    return number_of(value), partition, offset, key


def account(places: Mapping[int, tuple[int, int]], found: list[tuple[int, int, int, bytes]]) -> Account:
    """Compare what was acknowledged (partition and offset by row) with what was read."""
    times = Counter(number for number, *_ in found)
    where = {(partition, offset): number for number, partition, offset, _ in found}
    latest: dict[bytes, int] = {}
    out_of_order = 0
    for number, _, _, carrier in found:
        out_of_order += number < latest.get(carrier, -1)
        latest[carrier] = max(number, latest.get(carrier, -1))
    return Account(
        acknowledged=len(places),
        read=len(found),
        lost=sum(number not in times for number in places),
        duplicates=len(found) - len(times),
        misplaced=sum(where.get(place) != number for number, place in places.items()),
        out_of_order=out_of_order,
    )
