"""Reading one range of offsets from the leader of its partition: fetch after fetch, and what to do when an answer is no good.

While the caller works on one answer, the next is on its way. A range ends at its end, not with its last record: compaction, transaction markers and aborted
transactions leave holes.

| the leader says | so |
|---|---|
| records | they are handed out as they came; the next fetch begins behind the last whole batch |
| a batch, but cut off (fetch v0 to v2) | the same again with twice the room |
| nothing, though the log goes on behind the range | the rest of the range is a hole: it ends |
| nothing, and the log ends within the range | wait: a new leader's high watermark lags; at the deadline the end is lost |
| nothing, and a transaction is open within the range (read_committed) | wait; at the deadline give up |
| OFFSET_OUT_OF_RANGE | what is lost is told, or passed over (`fail_on_data_loss`); reading goes on at the log's start |
| UNKNOWN_TOPIC_OR_PARTITION until the deadline | the range is lost |
| another retriable error, or the connection ends | look for the leader and try again until the deadline |
| any other error | it is the caller's |

The deadline is `request_timeout_ms` without any progress.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/Fetcher.java; what counts as loss is as in Spark's
connector/kafka-0-10-sql/.../consumer/KafkaDataConsumer.scala.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.protocol.messages.fetch import AbortedTransaction, FetchablePartitionResponse
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Records
from pykafka_classic.records.record_batch import AnyBatch, iterate_batches
from spark_integration.executor.leader import Leader
from spark_integration.ranges import OffsetRange, ReadSettings

log = logging.getLogger("spark_integration.executor")

PAUSE_S: Final = 0.1  # between tries; Kafka's retry.backoff.ms
FETCH_BYTES: Final = 4 << 20  # asked for at a time, if the settings allow it: enough for work in bulk, and little to hold twice; more made nothing faster
MAX_BYTES_LIMIT: Final = 1 << 30


class DataLoss(Exception):
    """Records of the range are gone. The text says which, and what can be done."""


class RangeUnreadable(Exception):
    """The range could not be read within the time, though nothing says that it is gone; the text tells why."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one fetch brought: whole batches, of which the first may begin before `first` and the last end behind the range."""

    batches: list[AnyBatch]
    aborted: list[AbortedTransaction]
    first: int  # records before it were read already


class Patience:
    """How long there may be no progress. `progress` begins anew; `pause` waits a moment, or says that the time is up."""

    def __init__(self, limit_ms: int, *, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> None:
        self._limit_s = limit_ms / 1000
        self._now = now
        self._sleep = sleep
        self._since: float | None = None

    def progress(self) -> None:
        """All is well."""
        self._since = None

    def pause(self) -> bool:
        """False where there has been no progress for too long; else True, a moment later."""
        now = self._now()
        if self._since is None:
            self._since = now
        if now - self._since >= self._limit_s:
            return False
        self._sleep(PAUSE_S)
        return True


class RangeFetching:
    """An iterable of the stretches of one range. Invariant: at most one fetch is under way, at `_position`."""

    def __init__(self, wanted: OffsetRange, settings: ReadSettings, leader: Leader, patience: Patience) -> None:
        self._wanted = wanted
        self._settings = settings
        self._leader = leader
        self._patience = patience
        self._position = wanted.start
        self._max_bytes = min(settings.fetch_max_bytes, FETCH_BYTES)
        self._asked = False

    def __iter__(self) -> Iterator[Stretch]:
        """Raises DataLoss, RangeUnreadable, KafkaError (CORRUPT_MESSAGE for what no log can hold)."""
        while self._position < self._wanted.end:
            answer = self._try()
            stretch = self._taken(answer) if answer is not None else None
            if stretch is not None:
                if self._position < self._wanted.end:
                    self._ask_ahead()
                yield stretch

    def _try(self) -> FetchablePartitionResponse | None:
        """One answer without an error; None: try again."""
        try:
            if not self._asked:
                self._leader.ask(self._position, max_bytes=self._max_bytes)
            self._asked = False
            answer = self._leader.answer()
            if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                self._out_of_range()
                return None
            if answer.error_code != ErrorCode.NONE:
                raise KafkaError(ErrorCode(answer.error_code))
        except (Disconnected, KafkaError) as error:
            self._failed(error)
            return None
        return answer

    def _ask_ahead(self) -> None:
        try:
            self._leader.ask(self._position, max_bytes=self._max_bytes)
            self._asked = True
        except (Disconnected, KafkaError):
            self._leader.lose()  # the next try will tell

    def _taken(self, answer: FetchablePartitionResponse) -> Stretch | None:
        data = _bytes_of(answer.record_set)
        batches = list(iterate_batches(data))
        first, self._position = self._position, max(self._position, batches[-1].last_offset + 1 if batches else 0)
        if self._position > first:
            self._patience.progress()
            return Stretch(batches, answer.aborted_transactions or [], first)
        if data and not batches and self._max_bytes < MAX_BYTES_LIMIT:
            self._max_bytes *= 2
        else:
            self._nothing(answer)
        return None

    def _nothing(self, answer: FetchablePartitionResponse) -> None:
        """An empty answer: a hole up to the end, or the log, or what can be read of it, ends too early."""
        readable = answer.high_watermark
        if self._settings.isolation == "read_committed" and answer.last_stable_offset >= 0:
            readable = answer.last_stable_offset
        if readable >= self._wanted.end:
            self._position = self._wanted.end
        elif self._patience.pause():
            return
        elif answer.high_watermark >= self._wanted.end:
            raise RangeUnreadable(f"{self._where()} cannot be read yet: a transaction is open there (isolation.level is read_committed)")
        else:
            self._lost(self._wanted.end, f"the partition ends at offset {readable}")

    def _out_of_range(self) -> None:
        earliest = self._leader.earliest()
        if earliest > self._position:
            self._lost(min(earliest, self._wanted.end), f"the partition begins at offset {earliest}")
        elif not self._patience.pause():
            # Not below the start, so behind the end: a follower that lagged may have become leader.
            self._lost(self._wanted.end, "the partition ends before them")

    def _lost(self, until: int, because: str) -> None:
        """The offsets from the position up to `until` are gone."""
        what = f"offsets {self._position} to {until - 1} of {self._wanted.topic}-{self._wanted.partition} are gone: {because}"
        if self._settings.fail_on_data_loss:
            raise DataLoss(f"{what}; records were deleted by retention or by hand, or the topic was made anew (failOnDataLoss=false reads what is left)")
        log.warning("%s; going on without them", what)
        self._position = until
        self._patience.progress()

    def _failed(self, error: Disconnected | KafkaError) -> None:
        self._leader.lose()
        if isinstance(error, KafkaError) and not error.code.retriable:
            raise error
        if self._patience.pause():
            return
        if isinstance(error, KafkaError) and error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            self._lost(self._wanted.end, "there is no such partition any more")
            return
        seconds = self._settings.request_timeout_ms / 1000
        raise RangeUnreadable(f"{self._where()} could not be read for {seconds:g} s; the last error: {error}") from error

    def _where(self) -> str:
        return f"offset {self._position} of {self._wanted.topic}-{self._wanted.partition}"


def _bytes_of(data: Records | None) -> bytes | memoryview:
    if data is None:
        return b""
    assert isinstance(data, (bytes, memoryview)), "records that came over a socket"
    return data
