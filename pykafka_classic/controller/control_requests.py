"""The three requests that the controller sends, built from what it knows: plain functions of the context, no I/O.

    request         goes to                    says
    LeaderAndIsr    holders of the partitions   lead or follow; is_new: its log may be created anew
    UpdateMetadata  all brokers                 partitions (leader -2: forget it), all brokers with all their endpoints
    StopReplica     holders of the partitions   stop following; delete: remove the log too

Each carries the controller's epoch (brokers refuse an older one) and the epoch of the addressee's own registration (a restarted broker refuses what was meant
for its earlier life). The parts that are alike for several brokers are the same objects: nobody changes them once they are built.
Source:
facts/coordination.md 3.13, protocol.md 14.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.api_version import ApiVersion
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.controller_context import ControllerContext, LiveBroker
from pykafka_classic.controller.leader_and_isr import LEADER_DURING_DELETE, LeaderAndIsr
from pykafka_classic.controller.replica_assignment import ReplicaAssignment
from pykafka_classic.protocol import ibp
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from pykafka_classic.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from pykafka_classic.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from pykafka_classic.protocol.shared_encoding import for_each_broker

PLAINTEXT = "PLAINTEXT"


class PartitionDecision(NamedTuple):
    """What one broker is to be told about one partition."""

    state: LeaderAndIsr
    assignment: ReplicaAssignment
    is_new: bool


class StoppedReplica(NamedTuple):
    """One replica to stop: the epoch under which it was decided, and whether to delete the log."""

    leader_epoch: int
    delete_partition: bool


@dataclass(frozen=True, slots=True)
class RequestVersions:
    """Versions of the three requests; they follow inter.broker.protocol.version, nothing is negotiated."""

    leader_and_isr: int
    update_metadata: int
    stop_replica: int

    @staticmethod
    def of(inter_broker_protocol_version: ApiVersion) -> RequestVersions:
        """The versions that this protocol version stands for."""
        keys = (ApiKey.LEADER_AND_ISR, ApiKey.UPDATE_METADATA, ApiKey.STOP_REPLICA)
        return RequestVersions(*(ibp.version_to_send(key, inter_broker_protocol_version) for key in keys))


class ControlRequests:
    """Builds requests for one controller. Partition states are built once per batch (`PartitionDecision` -> message)."""

    def __init__(self, context: ControllerContext, controller_id: int, *, versions: RequestVersions, listener_name: str) -> None:
        self._context = context
        self._controller_id = controller_id
        self._listener_name = listener_name  # of inter-broker traffic: where followers find their leaders
        self.versions = versions

    # LeaderAndIsr

    def leader_and_isr(
        self, broker_epoch: int, decisions: Mapping[TopicPartition, PartitionDecision], built: dict[tuple[TopicPartition, bool], LeaderAndIsrPartitionState]
    ) -> LeaderAndIsrRequest:
        """What one broker is told; `built` keeps the partition states that other brokers of the batch are told too."""
        request = LeaderAndIsrRequest(
            controller_id=self._controller_id,
            controller_epoch=self._context.epoch,
            broker_epoch=broker_epoch,
            live_leaders=self._live_leaders({decision.state.leader for decision in decisions.values()}),
        )
        topics: dict[str, LeaderAndIsrTopicState] = {}
        for partition, decision in decisions.items():
            key = (partition, decision.is_new)
            state = built.get(key) or built.setdefault(key, _leader_and_isr_state(partition, decision))
            if self.versions.leader_and_isr < 2:
                request.ungrouped_partition_states.append(state)
                continue
            if partition.topic not in topics:
                topics[partition.topic] = LeaderAndIsrTopicState(topic_name=partition.topic, topic_id=self._topic_id(partition.topic))
            topics[partition.topic].partition_states.append(state)
        request.topic_states = list(topics.values())
        return request

    def _topic_id(self, topic: str) -> bytes:
        return self._context.topic_ids.get(topic, kafka_uuid.ZERO)

    def _live_leaders(self, leaders: set[int]) -> list[LeaderAndIsrLiveLeader]:
        found = []
        for leader in sorted(leaders):
            broker = self._context.live_or_shutting_down_brokers.get(leader)
            endpoint = None if broker is None else broker.registration.endpoint(self._listener_name)
            if endpoint is not None:
                found.append(LeaderAndIsrLiveLeader(broker_id=leader, host_name=endpoint.host, port=endpoint.port))
        return found

    # UpdateMetadata

    def update_metadata(self, partitions: Iterable[TopicPartition], broker_epochs: Iterable[int]) -> Sequence[UpdateMetadataRequest]:
        """One request for each addressee's epoch; they share everything else, and are encoded once. Partitions of which no leader is known are left out."""
        states = [state for state in map(self._update_metadata_state, partitions) if state is not None]
        shared = UpdateMetadataRequest(controller_id=self._controller_id, controller_epoch=self._context.epoch, live_brokers=self._live_brokers())
        if self.versions.update_metadata < 5:
            shared.ungrouped_partition_states = states
        else:
            shared.topic_states = self._by_topic(states)
        return for_each_broker(shared, broker_epochs)

    def _by_topic(self, states: Iterable[UpdateMetadataPartitionState]) -> list[UpdateMetadataTopicState]:
        topics: dict[str, UpdateMetadataTopicState] = {}
        for state in states:
            topic = topics.get(state.topic_name)
            if topic is None:
                topic = topics[state.topic_name] = UpdateMetadataTopicState(topic_name=state.topic_name, topic_id=self._topic_id(state.topic_name))
            topic.partition_states.append(state)
        return list(topics.values())

    def _update_metadata_state(self, partition: TopicPartition) -> UpdateMetadataPartitionState | None:
        current = self._context.leadership.get(partition)
        if current is None:
            return None
        replicas = self._context.assignment(partition).replicas
        online = self._context.online_replicas(partition, replicas)
        deleted = self._context.is_topic_queued_up_for_deletion(partition.topic)
        return UpdateMetadataPartitionState(
            topic_name=partition.topic,
            partition_index=partition.partition,
            controller_epoch=current.controller_epoch,
            leader=LEADER_DURING_DELETE if deleted else current.leader,
            # Kafka builds the state of a deletion from scratch: epoch and version are those of a new partition.
            leader_epoch=0 if deleted else current.leader_epoch,
            isr=list(current.isr),
            zk_version=0 if deleted else current.zk_version,
            replicas=list(replicas),
            offline_replicas=[replica for replica in replicas if replica not in online],
        )

    def _live_brokers(self) -> list[UpdateMetadataBroker]:
        return [self._live_broker(broker_id, broker) for broker_id, broker in sorted(self._context.live_or_shutting_down_brokers.items())]

    def _live_broker(self, broker_id: int, broker: LiveBroker) -> UpdateMetadataBroker:
        registration = broker.registration
        message = UpdateMetadataBroker(id=broker_id, rack=registration.rack)
        if self.versions.update_metadata == 0:
            plaintext = registration.endpoint(PLAINTEXT)
            if plaintext is not None:
                message.v0_host, message.v0_port = plaintext.host, plaintext.port
            return message
        message.endpoints = [
            UpdateMetadataEndpoint(port=endpoint.port, host=endpoint.host, listener=endpoint.listener_name, security_protocol=endpoint.security_protocol.id)
            for endpoint in registration.endpoints
        ]
        return message

    # StopReplica

    def stop_replica(self, broker_epoch: int, replicas: Mapping[TopicPartition, StoppedReplica]) -> list[StopReplicaRequest]:
        """One request, or up to version 2 one for the deletions and one for the others."""
        if self.versions.stop_replica >= 3:
            return [self._stop_replica_v3(broker_epoch, replicas)]
        requests = []
        for delete in (True, False):
            partitions = [partition for partition, replica in replicas.items() if replica.delete_partition is delete]
            if partitions:
                requests.append(self._stop_replica_old(broker_epoch, partitions, delete=delete))
        return requests

    def _stop_replica_v3(self, broker_epoch: int, replicas: Mapping[TopicPartition, StoppedReplica]) -> StopReplicaRequest:
        topics: dict[str, StopReplicaTopicState] = {}
        for partition, replica in replicas.items():
            topic = topics.setdefault(partition.topic, StopReplicaTopicState(topic_name=partition.topic))
            topic.partition_states.append(
                StopReplicaPartitionState(partition_index=partition.partition, leader_epoch=replica.leader_epoch, delete_partition=replica.delete_partition)
            )
        return StopReplicaRequest(
            controller_id=self._controller_id, controller_epoch=self._context.epoch, broker_epoch=broker_epoch, topic_states=list(topics.values())
        )

    def _stop_replica_old(self, broker_epoch: int, partitions: Iterable[TopicPartition], *, delete: bool) -> StopReplicaRequest:
        request = StopReplicaRequest(
            controller_id=self._controller_id, controller_epoch=self._context.epoch, broker_epoch=broker_epoch, delete_partitions=delete
        )
        topics: dict[str, StopReplicaTopicV1] = {}
        for partition in partitions:
            if self.versions.stop_replica == 0:
                request.ungrouped_partitions.append(StopReplicaPartitionV0(topic_name=partition.topic, partition_index=partition.partition))
            else:
                topics.setdefault(partition.topic, StopReplicaTopicV1(name=partition.topic)).partition_indexes.append(partition.partition)
        request.topics = list(topics.values())
        return request


def _leader_and_isr_state(partition: TopicPartition, decision: PartitionDecision) -> LeaderAndIsrPartitionState:
    state, assignment = decision.state, decision.assignment
    return LeaderAndIsrPartitionState(
        topic_name=partition.topic,
        partition_index=partition.partition,
        controller_epoch=state.controller_epoch,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=list(state.isr),
        zk_version=state.zk_version,
        replicas=list(assignment.replicas),
        adding_replicas=list(assignment.adding_replicas),
        removing_replicas=list(assignment.removing_replicas),
        is_new=decision.is_new,
    )
