"""Topics that come into being because somebody asked for their metadata (`auto.create.topics.enable`).

The receiving broker writes the topic to ZooKeeper itself (2.8 without forwarding) and answers LEADER_NOT_AVAILABLE until the controller has done its part;
clients ask again. The internal topics get counts and configs of their own, and need as many live brokers as their replication factor. Mirrors
kafka.server.AutoTopicCreationManager; facts/coordination.md 3.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pykafka_classic.common import topic_name
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.topic_admin import NewTopic, TopicAdmin

# So long an answer waits for ZooKeeper. While that is away the client's next requests (produce, fetch) on the same connection shall not wait with it.
CREATION_WAIT_MS: Final = 1000

# Both mean "it is there, or on its way": the client shall ask again.
_ON_ITS_WAY = frozenset({ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.REQUEST_TIMED_OUT})


class AutoTopicCreation:
    """Creates missing topics and says what to answer meanwhile.

    Invariant: a topic is in `_in_flight` only while a creation by this broker is under way.
    """

    def __init__(self, config: KafkaConfig, metadata_cache: MetadataCache, topic_admin: TopicAdmin) -> None:
        self._config = config
        self._metadata_cache = metadata_cache
        self._topic_admin = topic_admin
        self._in_flight: set[str] = set()

    async def create(self, names: Sequence[str]) -> dict[str, ErrorCode]:
        """Write the missing topics; the error code to answer for each."""
        answers: dict[str, ErrorCode] = {}
        creatable: list[NewTopic] = []
        for name in names:
            error = self._why_not(name)
            if error is None:
                creatable.append(self._new_topic(name))
            else:
                answers[name] = error
        if creatable:
            answers.update(await self._create_in_zookeeper(creatable))
        return answers

    async def _create_in_zookeeper(self, creatable: Sequence[NewTopic]) -> dict[str, ErrorCode]:
        names = {topic.name for topic in creatable}
        self._in_flight |= names
        try:
            # timeout 0: the answer does not wait for the controller.
            outcomes = await self._topic_admin.create_topics(creatable, timeout_ms=0, validate_only=False)
        finally:
            self._in_flight -= names
        return {name: ErrorCode.LEADER_NOT_AVAILABLE if outcome.error in _ON_ITS_WAY else outcome.error for name, outcome in outcomes.items()}

    def _why_not(self, name: str) -> ErrorCode | None:
        if topic_name.is_internal(name) and len(self._metadata_cache.alive_brokers()) < self._new_topic(name).replication_factor:
            return ErrorCode.INVALID_REPLICATION_FACTOR
        try:
            topic_name.validate(name)
        except KafkaError as error:
            return error.code
        return ErrorCode.LEADER_NOT_AVAILABLE if name in self._in_flight else None

    def _new_topic(self, name: str) -> NewTopic:
        config = self._config
        if name == topic_name.GROUP_METADATA_TOPIC:
            return NewTopic(
                name,
                config.offsets_topic_num_partitions,
                config.offsets_topic_replication_factor,
                configs={
                    "cleanup.policy": "compact",
                    "segment.bytes": str(config.offsets_topic_segment_bytes),
                    "compression.type": "producer",
                },
            )
        if name == topic_name.TRANSACTION_STATE_TOPIC:
            return NewTopic(
                name,
                config.transaction_state_log_num_partitions,
                config.transaction_state_log_replication_factor,
                configs={
                    "unclean.leader.election.enable": "false",
                    "compression.type": "uncompressed",
                    "cleanup.policy": "compact",
                    "min.insync.replicas": str(config.transaction_state_log_min_isr),
                    "segment.bytes": str(config.transaction_state_log_segment_bytes),
                },
            )
        return NewTopic(name, config.num_partitions, config.default_replication_factor)
