"""kafka-topics with --bootstrap-server: the brokers do it.

Source: facts/tools.md 4; 2.8 TopicCommand.scala (AdminClientTopicService).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from pykafka_classic.cli.broker_session import open_admin
from pykafka_classic.cli.command_options import Options
from pykafka_classic.cli.topic_command import TopicCommandError, WantedTopic
from pykafka_classic.cli.topic_rows import PartitionRow, TopicRow, described
from pykafka_classic.client.admin.configs import ConfigEntry, ConfigResource
from pykafka_classic.client.admin.outcomes import Outcomes
from pykafka_classic.client.admin.replicas import Reassignment
from pykafka_classic.client.admin.topics import NewPartitions, NewTopic, PartitionDescription, TopicDescription
from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.java import hash_map_order
from pykafka_classic.common.topic_partition import TopicPartition

K = TypeVar("K")
V = TypeVar("V")

SHORT_MAX: Final = 32767
MIN_ISR: Final = "min.insync.replicas"

# Brokers older than 2.4 know nothing of reassignments; some users may not ask for them.
NO_REASSIGNMENTS: Final = (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


class BrokerTopics:
    """Implements `topic_command.TopicService`."""

    def __init__(self, bootstrap: str, properties_file: str | None) -> None:
        self._admin = open_admin(bootstrap, properties_file)

    def close(self) -> None:
        """Close the connections."""
        self._admin.close()

    def names(self) -> list[str]:
        """All topics, sorted."""
        return sorted(self._admin.list_topics(internal=True))

    def listed(self, names: Sequence[str]) -> list[str]:
        """The names; an empty line where there is none."""
        return list(names) or [""]

    # describe

    def describe(self, names: Sequence[str], options: Options) -> list[str]:
        """All that the brokers know of these topics. They are told of in the order of a java.util.HashMap."""
        if not names:
            return []
        topics = values_of(self._admin.describe_topics(names))
        configs = values_of(self._admin.describe_configs(map(ConfigResource.topic, names)))
        live = {node.id for node in self._admin.describe_cluster().nodes}
        moves = self._reassignments([TopicPartition(name, each.partition) for name, topic in topics.items() for each in topic.partitions])
        ordered = hash_map_order(topics, capacity=len(topics))
        return described([_row(topics[name], configs[ConfigResource.topic(name)], moves) for name in ordered], options, live)

    def _reassignments(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, Reassignment]:
        try:
            return self._admin.list_partition_reassignments(partitions)
        except KafkaError as error:
            if error.code not in NO_REASSIGNMENTS:
                raise
            return {}

    # create

    def create(self, wanted: WantedTopic, *, tolerate_existing: bool) -> bool:
        """False where the topic was there and that is tolerated."""
        if wanted.replication_factor is not None and not 1 <= wanted.replication_factor <= SHORT_MAX:
            raise TopicCommandError(f"The replication factor must be between 1 and {SHORT_MAX} inclusive")
        if wanted.partitions is not None and wanted.partitions < 1:
            raise TopicCommandError("The partitions must be greater than 0")
        if not wanted.name:
            raise TopicCommandError("The given topic name '' cannot be represented in a request.")
        assignment = None if wanted.assignment is None else dict(enumerate(wanted.assignment))
        topic = NewTopic(wanted.name, wanted.partitions, wanted.replication_factor, assignment, wanted.configs)
        try:
            values_of(self._admin.create_topics([topic]))
        except KafkaError as error:
            if error.code is ErrorCode.TOPIC_ALREADY_EXISTS and tolerate_existing:
                return False
            raise
        return True

    # alter, delete

    def alter(self, names: Sequence[str], wanted: WantedTopic) -> None:
        """More partitions."""
        assert wanted.partitions is not None, "required with --bootstrap-server"
        if not names:
            return
        existing = {name: len(topic.partitions) for name, topic in values_of(self._admin.describe_topics(names)).items()}
        given = wanted.assignment
        grown = {name: NewPartitions(wanted.partitions, None if given is None else given[existing[name] :]) for name in names}
        values_of(self._admin.create_partitions(grown))

    def delete(self, names: Sequence[str]) -> None:
        """Delete topics, without a word."""
        if names:
            values_of(self._admin.delete_topics(names))


def _row(topic: TopicDescription, entries: Mapping[str, ConfigEntry], moves: Mapping[TopicPartition, Reassignment]) -> TopicRow:
    told = [entries[name] for name in hash_map_order(entries)]
    return TopicRow(
        topic.name,
        None if topic.topic_id == kafka_uuid.ZERO else kafka_uuid.to_text(topic.topic_id),
        [_partition_row(topic.name, each, entries.get(MIN_ISR), moves.get(TopicPartition(topic.name, each.partition))) for each in topic.partitions],
        [(entry.name, entry.value or "") for entry in told if not entry.is_default],
    )


def _partition_row(topic: str, partition: PartitionDescription, min_isr: ConfigEntry | None, move: Reassignment | None) -> PartitionRow:
    return PartitionRow(
        topic,
        partition.partition,
        partition.leader,
        partition.replicas,
        partition.isr,
        min_isr=int(min_isr.value) if min_isr is not None and min_isr.value else None,
        moves=None if move is None else (move.adding, move.removing),
    )


def values_of(outcomes: Outcomes[K, V]) -> dict[K, V]:
    """All values; the first error, in the broker's own words, where there is one."""
    for error in outcomes.errors().values():
        raise error
    return outcomes.values_only()
