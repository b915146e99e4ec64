"""A fetch session as the fetcher (a follower, a consumer) sees it (KIP-227): what was asked, and so what has to be asked anew.

    (0, 0) full --answer with id n--> (n, 1) incremental --> (n, 2) --> ...
    any error, or an answer that does not fit --> (n, 0): close session n and begin a full one; session unknown to the leader --> (0, 0)

Changes are told as they come (`put`, `forget`); `build` turns those since the last request into the next one. So an idle partition costs nothing.

Mirrors org.apache.kafka.clients.FetchSessionHandler; facts/coordination.md 4.10, protocol.md 10.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.fetch import FetchPartition, FetchResponse, FetchTopic, ForgottenTopic

log = logging.getLogger("kafka.clients.FetchSessionHandler")

FIRST_SESSION_VERSION: Final = 7
NO_SESSION: Final = 0
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
INT_MAX: Final = 2**31 - 1


def next_epoch(epoch: int) -> int:
    """The epoch that follows: 1 after the largest, and -1 stays."""
    if epoch < 0:
        return FINAL_EPOCH
    return 1 if epoch == INT_MAX else epoch + 1


@dataclass(slots=True)
class FetchRequestData:
    """The session's part of the next Fetch request."""

    topics: list[FetchTopic]
    forgotten: list[ForgottenTopic]
    session_id: int
    session_epoch: int


class FetchSessionHandler:
    """The session with one leader, of one fetcher.

    Invariants: `partitions` is what the fetcher wants now; `_changed` and `_forgotten` are what the leader has not been told of it; at most one request is
    under way.
    """

    def __init__(self, node_id: int, *, version: int) -> None:
        self._node_id = node_id
        self._version = version  # of Fetch; before 7 every request is a full one, without a session
        self.session_id = NO_SESSION
        self.epoch = INITIAL_EPOCH
        self.partitions: dict[TopicPartition, FetchPartition] = {}
        self._changed: dict[TopicPartition, None] = {}
        self._forgotten: dict[TopicPartition, None] = {}
        self._asked: set[TopicPartition] | None = None  # of the full request under way

    @property
    def is_full(self) -> bool:
        """Whether the next request lists everything."""
        return self._version < FIRST_SESSION_VERSION or self.epoch in (INITIAL_EPOCH, FINAL_EPOCH)

    def put(self, topic_partition: TopicPartition, partition: FetchPartition) -> None:
        """Want this from now on; does nothing where it is what the leader was told already."""
        if self.partitions.get(topic_partition) == partition:
            return
        self.partitions[topic_partition] = partition
        self._changed[topic_partition] = None
        self._forgotten.pop(topic_partition, None)

    def forget(self, topic_partition: TopicPartition) -> None:
        """Want this partition no more."""
        if self.partitions.pop(topic_partition, None) is not None:
            self._changed.pop(topic_partition, None)
            self._forgotten[topic_partition] = None

    def build(self) -> FetchRequestData | None:
        """The next request; None where there is nothing to ask, and nothing to forget."""
        if not self.partitions and (self.is_full or not self._forgotten):
            return None
        if self.is_full:
            self._asked = set(self.partitions)
            data = FetchRequestData(_by_topic(self.partitions.items()), [], self.session_id, self.epoch)
        else:
            self._asked = None
            data = FetchRequestData(
                _by_topic((each, self.partitions[each]) for each in self._changed), _forgotten(self._forgotten), self.session_id, self.epoch
            )
        self._changed, self._forgotten = {}, {}
        return data

    def handle_response(self, response: FetchResponse) -> bool:
        """Whether the answer can be used. Sets what the next request will be."""
        if response.error_code:
            error = ErrorCode(response.error_code)
            log.info(
                "Node %d was unable to process the fetch request with (sessionId=%d, epoch=%d): %s.", self._node_id, self.session_id, self.epoch, error.name
            )
            self._restart(NO_SESSION if error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND else self.session_id)
            return False
        if self._asked is not None:
            return self._handle_full(response, self._asked)
        return self._handle_incremental(response)

    def handle_error(self) -> None:
        """No answer came: the leader may or may not have seen the request, so the session cannot go on."""
        self._restart(self.session_id)

    def _restart(self, session_id: int) -> None:
        self.session_id, self.epoch = session_id, INITIAL_EPOCH
        self._changed, self._forgotten = {}, {}

    def _handle_full(self, response: FetchResponse, asked: set[TopicPartition]) -> bool:
        answered = _partitions_of(response)
        if answered != asked:
            log.info("Node %d sent an invalid full fetch response: omitted=%s, extra=%s", self._node_id, asked - answered, answered - asked)
            self._restart(NO_SESSION)
            return False
        if response.session_id == NO_SESSION:  # no session was granted: the next request is a full one again
            self._restart(NO_SESSION)
        else:
            self.session_id, self.epoch = response.session_id, next_epoch(INITIAL_EPOCH)
        return True

    def _handle_incremental(self, response: FetchResponse) -> bool:
        extra = _partitions_of(response) - self.partitions.keys() - self._forgotten.keys()
        if extra:
            log.info("Node %d sent an invalid incremental fetch response with extra=%s", self._node_id, extra)
            self._restart(self.session_id)
            return False
        if response.session_id == NO_SESSION:
            self._restart(NO_SESSION)
        else:
            self.epoch = next_epoch(self.epoch)
        return True


def _by_topic(partitions: Iterable[tuple[TopicPartition, FetchPartition]]) -> list[FetchTopic]:
    topics: dict[str, FetchTopic] = {}
    for topic_partition, partition in partitions:
        topic = topics.get(topic_partition.topic)
        if topic is None:
            topic = topics[topic_partition.topic] = FetchTopic(topic=topic_partition.topic)
        topic.partitions.append(partition)
    return list(topics.values())


def _forgotten(partitions: Iterable[TopicPartition]) -> list[ForgottenTopic]:
    topics: dict[str, ForgottenTopic] = {}
    for topic, index in partitions:
        topics.setdefault(topic, ForgottenTopic(topic=topic)).partitions.append(index)
    return list(topics.values())


def _partitions_of(response: FetchResponse) -> set[TopicPartition]:
    return {TopicPartition(topic.topic, partition.partition) for topic in response.responses for partition in topic.partition_responses}
