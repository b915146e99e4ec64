"""The rows of one task, on their way to topics.

At least once: a task is done when every row's record was acknowledged; a task that fails, or is run again by Spark, sends its rows again. Within a task the
idempotent producer lets no retry of its own double a record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, Protocol

import pyarrow as pa

from spark_integration.executor.write_settings import WriteSettings

Headers = Sequence[tuple[str, bytes | None]]


class RowNotWritten(Exception):
    """A row that could not be written; the text says where to, and why not."""


class RecordProducer(Protocol):
    """What is needed of a producer: `pykafka_classic.clients.Producer`."""

    @property
    def send(self) -> Callable[..., object]:
        """Put a record on its way; its `on_delivery` is called with (metadata, None) or (None, error), on another thread."""

    def flush(self) -> None:
        """Wait until every record has its outcome."""


class TopicSink:
    """Sends rows. Invariant: `counts` has what was sent, and nothing was refused unless `_error` is set."""

    def __init__(self, settings: WriteSettings, producer: RecordProducer) -> None:
        self._settings = settings
        self._producer = producer
        self._error: Exception | None = None  # the first; set on the producer's thread
        self.counts: Counter[str] = Counter()

    def send(self, batch: pa.RecordBatch) -> None:
        """Put the rows on their way. RowNotWritten where one is impossible, or one sent before was refused."""
        self._check()
        columns = {name: batch.column(name) for name in self._settings.columns}
        topics = [self._settings.topic] * batch.num_rows if self._settings.topic is not None else columns["topic"].to_pylist()
        if None in topics:
            raise RowNotWritten("a row has null in column 'topic': give the option 'topic', or a topic in every row")
        self.counts.update(topics)
        keys = _bytes(columns["key"]) if "key" in columns else repeat(None)
        partitions = columns["partition"].to_pylist() if "partition" in columns else repeat(None)
        headers = map(_headers, columns["headers"].to_pylist()) if "headers" in columns else repeat(())
        send, told = self._producer.send, self._told
        for topic, value, key, partition, some in zip(topics, _bytes(columns["value"]), keys, partitions, headers, strict=False):
            send(topic, value, key, headers=some, partition=partition, on_delivery=told)

    def finish(self) -> None:
        """Wait until all rows are acknowledged. RowNotWritten."""
        self._producer.flush()
        self._check()

    def _told(self, metadata: object, error: Exception | None) -> None:  # noqa: ARG002  # the producer's way to call
        if error is not None and self._error is None:
            self._error = error

    def _check(self) -> None:
        if self._error is not None:
            raise RowNotWritten(f"a row was not written to {self._where()}: {self._error}") from self._error

    def _where(self) -> str:
        return f"topic {self._settings.topic}" if self._settings.topic is not None else f"one of the topics {', '.join(sorted(self.counts))}"


def _bytes(column: pa.Array) -> Iterable[bytes | None]:
    """Text as UTF-8."""
    values: list[bytes | None] = column.cast(pa.binary()).to_pylist()
    return values


def _headers(cells: list[dict[str, Any]] | None) -> Headers:
    if not cells:
        return ()
    if not all(cell and cell["key"] is not None for cell in cells):
        raise RowNotWritten("a row has a header without a key")
    return [(cell["key"], cell["value"]) for cell in cells]
