"""Rows of a task: what is sent for each, and what is told where one cannot be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from spark_integration.executor.sink import RowNotWritten, TopicSink
from spark_integration.executor.write import WrittenRows, told
from spark_integration.executor.write_settings import WriteSettings
from tests.unit.spark_integration.executor.test_write_settings import settings

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


class FakeProducer:
    """Implements `RecordProducer`; acknowledges at `flush`, or refuses what is sent to `refused`."""

    def __init__(self, refused: str = "") -> None:
        self.sent: list[tuple[Any, ...]] = []
        self._refused = refused
        self._waiting: list[tuple[str, Callable[[Any, Exception | None], object]]] = []

    def send(self, topic: str, value: bytes | None, key: bytes | None, *, on_delivery: Callable[[Any, Exception | None], object], **more: Any) -> None:
        self.sent.append((topic, value, key, more["partition"], tuple(more["headers"])))
        self._waiting.append((topic, on_delivery))

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for topic, on_delivery in waiting:
            on_delivery(None, OSError("the disk is full")) if topic == self._refused else on_delivery("somewhere", None)


def rows(**columns: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def to(topic: str | None, *columns: str) -> WriteSettings:
    return WriteSettings(settings(topic="t").producer, topic, columns)


def test_every_row_becomes_a_record() -> None:
    producer = FakeProducer()
    sink = TopicSink(to(None, "value", "key", "topic", "partition", "headers"), producer)
    headers = pa.array([[{"key": "h", "value": b"1"}, {"key": "h", "value": None}], None, []], HEADERS)
    sink.send(
        rows(
            value=pa.array(["ä", None, ""]),
            key=pa.array([b"k", b"", None]),
            topic=pa.array(["a", "b", "a"]),
            partition=pa.array([2, None, 0], pa.int32()),
            headers=headers,
            other=pa.array([1, 2, 3]),
        )
    )
    sink.finish()
    assert producer.sent == [
        ("a", "ä".encode(), b"k", 2, (("h", b"1"), ("h", None))),
        ("b", None, b"", None, ()),
        ("a", b"", None, 0, ()),
    ]
    assert sink.counts == {"a": 2, "b": 1}


def test_the_option_wins_over_the_column() -> None:
    producer = FakeProducer()
    TopicSink(to("all", "value"), producer).send(rows(value=pa.array([b"v"]), topic=pa.array(["a"])))
    assert producer.sent == [("all", b"v", None, None, ())]


def test_a_row_without_a_topic_is_told() -> None:
    with pytest.raises(RowNotWritten, match="null in column 'topic'"):
        TopicSink(to(None, "value", "topic"), FakeProducer()).send(rows(value=pa.array([b"v", b"w"]), topic=pa.array(["a", None])))


def test_a_header_without_a_key_is_told() -> None:
    for broken in ([None], [{"key": None, "value": b""}]):
        with pytest.raises(RowNotWritten, match="a header without a key"):
            TopicSink(to("t", "value", "headers"), FakeProducer()).send(rows(value=pa.array([b"v"]), headers=pa.array([broken], HEADERS)))


def test_a_record_that_is_refused_fails_the_task() -> None:
    sink = TopicSink(to("t", "value"), FakeProducer(refused="t"))
    sink.send(rows(value=pa.array([b"v"])))
    with pytest.raises(RowNotWritten, match="a row was not written to topic t: the disk is full"):
        sink.finish()


def test_nothing_more_is_sent_after_a_refusal() -> None:
    producer = FakeProducer(refused="b")
    sink = TopicSink(to(None, "value", "topic"), producer)
    sink.send(rows(value=pa.array([b"v", b"v"]), topic=pa.array(["a", "b"])))
    producer.flush()
    with pytest.raises(RowNotWritten, match="a row was not written to one of the topics a, b: the disk is full"):
        sink.send(rows(value=pa.array([b"w"]), topic=pa.array(["a"])))
    assert len(producer.sent) == 2


def test_tasks_that_failed_have_no_message() -> None:
    assert told([WrittenRows({"a": 2, "b": 1}), None, WrittenRows({"a": 3})]) == "5 rows to a, 1 rows to b"
    assert told([None]) == "no rows"
