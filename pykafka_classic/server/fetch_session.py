"""Fetch sessions on the broker (KIP-227): a fetcher says once which partitions it wants, and from then on only what changes.

| request (id, epoch) | means | context |
|---|---|---|
| 0, -1 | everything in this request, no session | Sessionless |
| n, -1 | the same; session n is over | Sessionless |
| 0, 0 | everything, and please remember it | Full |
| n, 0 | the same; session n is over | Full |
| n, e | what changed since request e - 1 of session n | Incremental, or an error where n is unknown (70) or e not expected (71) |

The answer to an incremental request leaves out every partition about which there is nothing new. An idle follower of a thousand partitions thus sends and gets
a few bytes. Partitions that gave records move to the end of the session, so that under a size limit each gets its turn.

Mirrors kafka.server.{FetchManager, FetchContext, FetchSession}; facts/coordination.md 4.10, protocol.md 10. The cache is in fetch_session_cache.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from pykafka_classic.cluster.partition_fetch import UNKNOWN_OFFSET, PartitionFetch
from pykafka_classic.common.clock import Clock, Random
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.fetch_session_handler import FINAL_EPOCH, INITIAL_EPOCH, NO_SESSION, next_epoch
from pykafka_classic.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchablePartitionResponse,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
)
from pykafka_classic.server.fetch_session_cache import FetchSession, FetchSessionCache
from pykafka_classic.server.fetch_values import FetchPartitionData

log = logging.getLogger("kafka.server.FetchManager")

FIRST_SESSION_VERSION: Final = 7


class FetchContext:
    """One Fetch request in the light of its session. `error`: answer `error_response()` and read nothing."""

    def __init__(self, partitions: Sequence[PartitionFetch], session_id: int = NO_SESSION, error: ErrorCode = ErrorCode.NONE) -> None:
        self.partitions = partitions  # what to read, in order
        self.session_id = session_id
        self.error = error

    def response(self, results: Sequence[FetchPartitionData]) -> FetchResponse:
        """The answer. A partition of the session without a result has nothing new."""
        return _respond(self.session_id, results)

    def error_response(self) -> FetchResponse:
        """The request as a whole is refused: no partitions, no session."""
        return FetchResponse(error_code=self.error)


class FullContext(FetchContext):
    """Everything is asked, and a session is made of it if there is room."""

    def __init__(self, partitions: Sequence[PartitionFetch], cache: FetchSessionCache, clock: Clock, *, is_follower: bool) -> None:
        super().__init__(partitions)
        self._cache = cache
        self._clock = clock
        self._is_follower = is_follower

    def response(self, results: Sequence[FetchPartitionData]) -> FetchResponse:
        """The answer, with the id of the new session (0: no room)."""
        if not self.partitions:
            return super().response(results)
        session = self._cache.maybe_create_session(self.partitions, self._clock.monotonic_ms(), privileged=self._is_follower)
        if session is not None:
            self.session_id = session.id
            for data in results:
                _remember(session.partitions[data.topic_partition], data)
        return super().response(results)


class IncrementalContext(FetchContext):
    """Only changes were asked; only changes are answered."""

    def __init__(self, session: FetchSession) -> None:
        super().__init__(list(session.partitions.values()), session.id)
        self._session = session
        self._epoch = session.epoch

    def response(self, results: Sequence[FetchPartitionData]) -> FetchResponse:
        """The answer: partitions with records, an error, or offsets that moved since the last one."""
        if self._session.epoch != self._epoch:
            log.info(
                "Incremental fetch session %d expected epoch %d, but got %d. Possible duplicate request.", self.session_id, self._epoch, self._session.epoch
            )
            return FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, session_id=self.session_id)
        partitions = self._session.partitions
        news = []
        for data in results:
            fetch = partitions.get(data.topic_partition)
            if fetch is None or _remember(fetch, data):
                news.append(data)
                if fetch is not None and data.size:
                    partitions[data.topic_partition] = partitions.pop(data.topic_partition)  # to the end
        return _respond(self.session_id, news)


class FetchManager:
    """Makes a context of each Fetch request."""

    def __init__(self, clock: Clock, random: Random, *, slots: int) -> None:
        self._clock = clock
        self.cache = FetchSessionCache(random, slots)

    def new_context(self, body: FetchRequest, version: int, *, is_follower: bool) -> FetchContext:
        """The context of a request; before v7 there are no sessions."""
        if version < FIRST_SESSION_VERSION:
            return FetchContext(_partitions(body))
        if body.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if body.session_id != NO_SESSION and self.cache.remove(body.session_id) is not None:
                log.debug("Removed session %d for a new full fetch", body.session_id)
            if body.session_epoch == FINAL_EPOCH:
                return FetchContext(_partitions(body))
            return FullContext(_partitions(body), self.cache, self._clock, is_follower=is_follower)
        return self._continue_session(body)

    def _continue_session(self, body: FetchRequest) -> FetchContext:
        session = self.cache.get(body.session_id)
        if session is None:
            log.debug("Session error for %d: no such session ID found.", body.session_id)
            return FetchContext((), error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != body.session_epoch:
            log.debug("Session error for %d: expected epoch %d, but got %d instead.", body.session_id, session.epoch, body.session_epoch)
            return FetchContext((), error=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        _update(session.partitions, body)
        if not session.partitions:
            log.debug("Session %d is empty now, and closed", session.id)
            self.cache.remove(session.id)
            return FetchContext(())
        session.epoch = next_epoch(session.epoch)
        self.cache.touch(session, self._clock.monotonic_ms())
        return IncrementalContext(session)


def _partitions(body: FetchRequest) -> list[PartitionFetch]:
    return [_partition_fetch(topic.topic, partition) for topic in body.topics for partition in topic.partitions]


def _partition_fetch(topic: str, partition: FetchPartition) -> PartitionFetch:
    return PartitionFetch(
        TopicPartition(topic, partition.partition),
        partition.fetch_offset,
        partition.log_start_offset,
        partition.partition_max_bytes,
        partition.current_leader_epoch,
        partition.last_fetched_epoch,
    )


def _update(partitions: dict[TopicPartition, PartitionFetch], body: FetchRequest) -> None:
    """Add and change what the request lists, forget what it wants forgotten."""
    for topic in body.topics:
        for partition in topic.partitions:
            known = partitions.get(TopicPartition(topic.topic, partition.partition))
            if known is None:
                fetch = _partition_fetch(topic.topic, partition)
                partitions[fetch.topic_partition] = fetch
            else:
                _change(known, partition)
    for forgotten in body.forgotten_topics_data:
        for index in forgotten.partitions:
            partitions.pop(TopicPartition(forgotten.topic, index), None)


def _change(fetch: PartitionFetch, partition: FetchPartition) -> None:
    fetch.fetch_offset = partition.fetch_offset
    fetch.log_start_offset = partition.log_start_offset
    fetch.max_bytes = partition.partition_max_bytes
    fetch.current_leader_epoch = partition.current_leader_epoch
    fetch.last_fetched_epoch = partition.last_fetched_epoch
    fetch.verified_leader_epoch = -1


def _remember(fetch: PartitionFetch, data: FetchPartitionData) -> bool:
    """Note what the answer tells of a partition; whether it has to be told at all."""
    is_news = (
        bool(data.size)
        or fetch.sent_high_watermark != data.high_watermark
        or fetch.sent_log_start_offset != data.log_start_offset
        or data.preferred_read_replica >= 0
        or data.diverging_epoch is not None
    )
    fetch.sent_high_watermark, fetch.sent_log_start_offset = data.high_watermark, data.log_start_offset
    if data.error:
        fetch.sent_high_watermark = UNKNOWN_OFFSET  # so that the partition is named again when the error is over
        return True
    return is_news


def _respond(session_id: int, results: Iterable[FetchPartitionData]) -> FetchResponse:
    topics: list[FetchableTopicResponse] = []
    for data in results:
        if not topics or topics[-1].topic != data.topic_partition.topic:
            topics.append(FetchableTopicResponse(topic=data.topic_partition.topic))
        topics[-1].partition_responses.append(_partition_response(data))
    return FetchResponse(session_id=session_id, responses=topics)


def _partition_response(data: FetchPartitionData) -> FetchablePartitionResponse:
    response = FetchablePartitionResponse(
        partition=data.topic_partition.partition,
        error_code=data.error,
        high_watermark=data.high_watermark,
        last_stable_offset=data.last_stable_offset,
        log_start_offset=data.log_start_offset,
        preferred_read_replica=data.preferred_read_replica,
        record_set=b"" if data.records is None else data.records,
    )
    if data.aborted_transactions is not None:
        response.aborted_transactions = [AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset) for each in data.aborted_transactions]
    if data.diverging_epoch is not None:
        response.diverging_epoch = EpochEndOffset(epoch=data.diverging_epoch[0], end_offset=data.diverging_epoch[1])
    return response
