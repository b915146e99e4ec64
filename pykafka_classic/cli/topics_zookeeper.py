"""kafka-topics with --zookeeper: what it reads from znodes and writes into them, as Apache's tool does. The controller does the rest.

| action | written |
|---|---|
| create | /config/topics/T, then /brokers/topics/T (without a topic id: the controller adds it) |
| alter --config, --delete-config | /config/topics/T, then /config/changes/config_change_* |
| alter --partitions | /brokers/topics/T |
| delete | /admin/delete_topics/T |

Source: facts/tools.md 3, 4; 2.8 TopicCommand.scala (ZookeeperTopicService), AdminZkClient.scala.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pykafka_classic.assignors.replica_placement import BrokerMetadata, assign_replicas_to_brokers
from pykafka_classic.cli.command import Console
from pykafka_classic.cli.command_options import Options
from pykafka_classic.cli.topic_command import TopicCommandError, WantedTopic
from pykafka_classic.cli.topic_rows import PartitionRow, TopicRow, described
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common import topic_name
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.java import hash_map_order, properties_order
from pykafka_classic.common.zookeeper import Code, Create, SetData
from zk_schema import broker_ids, configs, delete_topics, partition_state, topics
from zk_schema.configs import ConfigEntity
from zk_schema.topics import ReplicaAssignment, TopicZNode

CONFIG_DEPRECATED: Final = (
    "WARNING: Altering topic configuration from this script has been deprecated and may be removed in future releases.\n"
    "         Going forward, please use kafka-configs.sh for this functionality"
)
KEYS_MOVE: Final = "WARNING: If partitions are increased for a topic that has a key, the partition logic or ordering of the messages will be affected"


class ZooKeeperTopics:
    """Implements `topic_command.TopicService`."""

    def __init__(self, connect: str, console: Console) -> None:
        self._zk = ZooKeeperSession(connect)
        self._console = console

    def close(self) -> None:
        """End the session."""
        self._zk.close()

    def names(self) -> list[str]:
        """All topics, sorted."""
        return sorted(self._zk.children(topics.PATH))

    def listed(self, names: Sequence[str]) -> list[str]:
        """Names, and which are being deleted."""
        marked = set(self._zk.children(delete_topics.PATH))
        return [f"{name} - marked for deletion" if name in marked else name for name in names]

    # describe

    def describe(self, names: Sequence[str], options: Options) -> list[str]:
        """All that ZooKeeper knows of these topics, read in a few round trips."""
        marked = set(self._zk.children(delete_topics.PATH))
        live = {int(child) for child in self._zk.children(broker_ids.PATH)}
        stored = zip(names, self._zk.data_of(map(topics.path, names)), strict=True)
        znodes = {name: topics.decode(result.data) for name, result in stored if result.ok}
        overrides = dict(zip(znodes, self._zk.data_of(map(configs.topic_path, znodes)), strict=True))
        rows = self._partition_rows(znodes, marked)
        described_topics = [
            TopicRow(name, znode.topic_id, rows[name], _in_printed_order(configs.decode(overrides[name].data)), name in marked)
            for name, znode in znodes.items()
        ]
        return described(described_topics, options, live)

    def _partition_rows(self, znodes: Mapping[str, TopicZNode], marked: set[str]) -> dict[str, list[PartitionRow]]:
        wanted = [(name, partition) for name, znode in znodes.items() for partition in sorted(znode.assignment)]
        states = self._zk.data_of(partition_state.path(name, partition) for name, partition in wanted)
        rows: dict[str, list[PartitionRow]] = {name: [] for name in znodes}
        for (name, partition), result in zip(wanted, states, strict=True):
            assignment = znodes[name].assignment[partition]
            state = partition_state.decode(result.data) if result.ok and result.data else None
            moving = assignment.adding_replicas or assignment.removing_replicas
            rows[name].append(
                PartitionRow(
                    name,
                    partition,
                    leader=state.leader if state is not None and state.leader >= 0 else None,
                    replicas=assignment.replicas,
                    isr=state.isr if state is not None else (),
                    moves=(assignment.adding_replicas, assignment.removing_replicas) if moving else None,
                    marked_for_deletion=name in marked,
                )
            )
        return rows

    # create

    def create(self, wanted: WantedTopic, *, tolerate_existing: bool) -> bool:
        """Write the wish. False where the topic was there and that is tolerated."""
        assignment = self._placed(wanted) if wanted.assignment is None else {number: tuple(ids) for number, ids in enumerate(wanted.assignment)}
        try:
            self._check_name(wanted.name)
        except KafkaError as error:
            if error.code is ErrorCode.TOPIC_ALREADY_EXISTS and tolerate_existing:
                return False
            raise
        # The config first: a topic's znode is the signal, and whoever sees it must find the config there.
        self._zk.set_or_create(configs.topic_path(wanted.name), configs.encode({key: wanted.configs[key] for key in properties_order(wanted.configs)}))
        znode = TopicZNode(None, {partition: ReplicaAssignment(replicas) for partition, replicas in assignment.items()})
        self._zk.create_parents(topics.path(wanted.name))
        if self._zk.one(Create(topics.path(wanted.name), topics.encode(znode)), Code.NODE_EXISTS).code is Code.NODE_EXISTS:
            raise _exists(wanted.name)
        return True

    def _placed(self, wanted: WantedTopic) -> dict[int, tuple[int, ...]]:
        assert wanted.partitions is not None and wanted.replication_factor is not None, "required with --zookeeper"
        return assign_replicas_to_brokers(
            self._brokers(rack_aware=wanted.rack_aware),
            partitions=range(wanted.partitions),
            replication_factor=wanted.replication_factor,
            random=random.Random(),
        )

    def _brokers(self, *, rack_aware: bool) -> list[BrokerMetadata]:
        """By id, with their racks; all without where racks shall not matter."""
        ids = sorted(int(child) for child in self._zk.children(broker_ids.PATH))
        found = zip(ids, self._zk.data_of(map(broker_ids.path, ids)), strict=True)
        brokers = [BrokerMetadata(broker, broker_ids.decode(result.data).rack) for broker, result in found if result.ok]
        if not rack_aware:
            return [BrokerMetadata(broker.id) for broker in brokers]
        if len({broker.rack is None for broker in brokers}) > 1:
            raise TopicCommandError(
                "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica assignment without rack information."
            )
        return brokers

    def _check_name(self, name: str) -> None:
        topic_name.validate(name)
        existing = self._zk.children(topics.PATH)
        if name in existing:
            raise _exists(name)
        colliding = sorted(other for other in existing if topic_name.has_collision(name, other))
        if colliding:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topics: {', '.join(colliding)}")

    # alter

    def alter(self, names: Sequence[str], wanted: WantedTopic) -> None:
        """Configurations, then partitions, topic by topic."""
        for name in names:
            if wanted.configs or wanted.deleted_configs:
                self._alter_config(name, wanted)
            if wanted.partitions is not None:
                self._add_partitions(name, wanted)

    def _alter_config(self, name: str, wanted: WantedTopic) -> None:
        self._console.say(CONFIG_DEPRECATED)
        entity = ConfigEntity.of(configs.TOPICS, name)
        stored = self._zk.entity_config(entity)
        changed = {**stored, **wanted.configs}
        self._zk.change_config(entity, {key: changed[key] for key in properties_order(stored, wanted.configs) if key not in wanted.deleted_configs})
        self._console.say(f"Updated config for topic {name}.")

    def _add_partitions(self, name: str, wanted: WantedTopic) -> None:
        if topic_name.is_internal(name):
            raise TopicCommandError(f"The number of partitions for the internal topic {name} cannot be changed.")
        assert wanted.partitions is not None
        self._console.say(KEYS_MOVE)
        data = self._zk.data(topics.path(name))
        if data is None:
            raise TopicCommandError(f"The topic {name} does not exist")
        znode = topics.decode(data)
        existing = len(znode.assignment)
        if wanted.partitions <= existing:
            raise KafkaError(
                ErrorCode.INVALID_PARTITIONS,
                "The number of partitions for a topic can only be increased. "
                f"Topic {name} currently has {existing} partitions, {wanted.partitions} would not be an increase.",
            )
        added = self._new_partitions(znode, wanted)
        combined = {**znode.assignment, **{partition: ReplicaAssignment(replicas) for partition, replicas in added.items()}}
        self._zk.one(SetData(topics.path(name), topics.encode(replace(znode, assignment=combined))))
        self._console.say("Adding partitions succeeded!")

    def _new_partitions(self, znode: TopicZNode, wanted: WantedTopic) -> dict[int, tuple[int, ...]]:
        assert wanted.partitions is not None
        existing, first = len(znode.assignment), znode.assignment[0].replicas
        brokers = self._brokers(rack_aware=True)
        given = (wanted.assignment or [])[existing:]
        if given:
            chosen = {existing + index: tuple(ids) for index, ids in enumerate(given)}
            _check_new(chosen, len(first), {broker.id for broker in brokers})
            return chosen
        return assign_replicas_to_brokers(
            brokers,
            partitions=range(existing, wanted.partitions),
            replication_factor=len(first),
            random=random.Random(),
            fixed_start_index=next((index for index, broker in enumerate(brokers) if broker.id >= first[0]), 0),
        )

    # delete

    def delete(self, names: Sequence[str]) -> None:
        """Mark topics for deletion."""
        for name in names:
            if topic_name.is_internal(name):
                raise TopicCommandError(f"Topic {name} is a kafka internal topic and is not allowed to be marked for deletion.")
            self._zk.create_parents(delete_topics.path(name))
            if self._zk.one(Create(delete_topics.path(name)), Code.NODE_EXISTS).ok:
                self._console.say(f"Topic {name} is marked for deletion.\nNote: This will have no impact if delete.topic.enable is not set to true.")
            else:
                self._console.say(f"Topic {name} is already marked for deletion.")


def _exists(name: str) -> KafkaError:
    return KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")


def _check_new(added: Mapping[int, Sequence[int]], factor: int, known: set[int]) -> None:
    for partition, ids in added.items():
        if not set(ids) <= known:
            raise KafkaError(
                ErrorCode.BROKER_NOT_AVAILABLE,
                f"Some brokers specified for partition id {partition} are not available. "
                f"Specified brokers: {', '.join(map(str, ids))}, available brokers: {', '.join(map(str, sorted(known)))}.",
            )
    wrong = {partition: len(ids) for partition, ids in added.items() if len(ids) != factor}
    if wrong:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Inconsistent replication factor between partitions, partition 0 has {factor} while partitions "
            f"[{', '.join(map(str, wrong))}] have replication factors [{', '.join(map(str, wrong.values()))}], respectively.",
        )


def _in_printed_order(stored: Mapping[str, str]) -> list[tuple[str, str]]:
    """As a java.util.HashMap is walked."""
    return [(key, stored[key]) for key in hash_map_order(stored)]
