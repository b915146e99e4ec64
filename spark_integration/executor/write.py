"""Spark's sinks: `df.write.format("kafka_classic")` and `df.writeStream.format("kafka_classic")`. Rows come as Arrow batches.

Spark makes a writer on the driver, when it plans, and sends it to the executors; `write` runs there, once for each task; `commit` and `abort` again on the
driver. What is written is in the topics before `commit`: there is nothing to undo, and nothing to finish.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from pykafka_classic.client.client_errors import InvalidSetting
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.edges.blocking_client import BlockingClient, connect_any
from pykafka_classic.edges.zookeeper import ZooKeeperUnavailable
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykafka_classic.protocol.network import Disconnected
from spark_integration.executor.write_settings import WriteSettings, write_settings
from spark_integration.zookeeper_store import find_brokers

log = logging.getLogger("spark_integration.executor")

TOPIC_S: Final = 10.0  # how long a topic may take to be there that brokers make when they are asked for it
PAUSE_S: Final = 0.2


@dataclass(frozen=True)
class WrittenRows(WriterCommitMessage):
    """What a task has written and brokers have acknowledged: rows by topic."""

    by_topic: Mapping[str, int]


Messages = Sequence[WriterCommitMessage | None]


class TopicWriter(DataSourceArrowWriter):
    """The sink of a batch."""

    def __init__(self, settings: WriteSettings) -> None:
        self._settings = settings

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenRows:
        """A task's rows."""
        return write_rows(iterator, self._settings)

    def commit(self, messages: Messages) -> None:
        """Nothing is left to do."""
        log.info("Wrote %s", told(messages))

    def abort(self, messages: Messages) -> None:
        """What was written stays: at least once."""
        log.warning("The job failed; written all the same: %s, and perhaps more by the tasks that failed", told(messages))


class TopicStreamWriter(DataSourceStreamArrowWriter):
    """The sink of a stream."""

    def __init__(self, settings: WriteSettings) -> None:
        self._settings = settings

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenRows:
        """A task's rows of one micro-batch."""
        return write_rows(iterator, self._settings)

    def commit(self, messages: Messages, batchId: int) -> None:  # noqa: N803  # Spark's name
        """Nothing is left to do."""
        log.info("Wrote %s of batch %d", told(messages), batchId)

    def abort(self, messages: Messages, batchId: int) -> None:  # noqa: N803  # Spark's name
        """What was written stays: at least once."""
        log.warning("Batch %d failed; written all the same: %s, and perhaps more by the tasks that failed", batchId, told(messages))


def batch_writer(schema: StructType, options: Mapping[str, str], *, overwrite: bool) -> TopicWriter:
    """A sink for rows of this schema. InvalidSetting with a sentence for the user."""
    if overwrite:
        raise InvalidSetting("a topic cannot be overwritten: use mode('append')")
    settings = _settings(schema, options)
    try:
        with connect_any(settings.producer.bootstrap_servers, timeout_ms=settings.producer.request_timeout_ms) as client:
            _check_topic(client, settings)
    except Disconnected as error:
        raise InvalidSetting(f"option 'bootstrap.servers': {error}") from error
    return TopicWriter(settings)


def _check_topic(client: BlockingClient, settings: WriteSettings) -> None:
    """InvalidSetting where the topic for all rows is not there, and does not come: brokers may make it when it is asked for, which takes a moment."""
    if settings.topic is None:
        return
    request = MetadataRequest(topics=[MetadataRequestTopic(name=settings.topic)], allow_auto_topic_creation=True)
    deadline = time.monotonic() + min(TOPIC_S, settings.producer.max_block_ms / 1000)
    while True:
        response = client.send(request)
        assert isinstance(response, MetadataResponse)
        if response.topics[0].error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return
        if time.monotonic() >= deadline:
            raise InvalidSetting(f"option 'topic': there is no topic {settings.topic}")
        time.sleep(PAUSE_S)


def stream_writer(schema: StructType, options: Mapping[str, str]) -> TopicStreamWriter:
    """As `batch_writer`, but nobody is asked: Spark makes it anew for each batch, also to say that one is done."""
    return TopicStreamWriter(_settings(schema, options))


def _settings(schema: StructType, options: Mapping[str, str]) -> WriteSettings:
    try:
        return write_settings(schema, options, find_brokers)
    except ZooKeeperUnavailable as error:
        raise InvalidSetting(f"option 'zookeeper.connect': {error}") from error


def write_rows(batches: Iterator[pa.RecordBatch], settings: WriteSettings) -> WrittenRows:
    """On an executor: send all, and wait for the last acknowledgement. RowNotWritten, NoBrokers."""
    # Imported here: the driver plans without it.
    from pykafka_classic.edges.clients.producer import Producer  # noqa: PLC0415
    from spark_integration.executor.sink import TopicSink  # noqa: PLC0415

    producer = Producer(**asdict(settings.producer))
    try:
        sink = TopicSink(settings, producer)
        for batch in batches:
            sink.send(batch)
        sink.finish()
    except BaseException:
        producer.close(timeout_ms=0)  # the task has failed already: what waits is not worth waiting for
        raise
    producer.close()
    return WrittenRows(dict(sink.counts))


def told(messages: Messages) -> str:
    """Rows by topic, of all tasks."""
    counts: dict[str, int] = {}
    for message in messages:
        for topic, rows in message.by_topic.items() if isinstance(message, WrittenRows) else ():
            counts[topic] = counts.get(topic, 0) + rows
    return ", ".join(f"{rows} rows to {topic}" for topic, rows in sorted(counts.items())) or "no rows"
