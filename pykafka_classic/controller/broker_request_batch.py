"""What one step of the controller tells the brokers, collected first and then sent in a fixed order: LeaderAndIsr, UpdateMetadata, StopReplica.

* Each partition in a LeaderAndIsr also goes into UpdateMetadata, to every broker.
* `is_new` and `delete` are sticky: once asked for within a batch, they hold for that replica.
* Brokers that are neither live nor shutting down are skipped; negative ids ("no broker") too.

A batch begins empty: what a step left behind unsent would be lost or, worse, sent later with a younger epoch. `new_batch` raises `IllegalState` then, and the
controller resigns.
Mirrors ControllerBrokerRequestBatch in Kafka's controller/ControllerChannelManager.scala; facts/coordination.md 3.13.

Differs from Kafka: requests are built when they are sent, once for all brokers where they are alike, not as each partition is added.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from pykafka_classic.common import broker_events
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.channel_manager import ControllerChannelManager
from pykafka_classic.controller.control_requests import ControlRequests, PartitionDecision, StoppedReplica
from pykafka_classic.controller.controller_context import ControllerContext
from pykafka_classic.controller.events import (
    ControllerEvent,
    LeaderAndIsrResponseReceived,
    TopicDeletionStopReplicaResponseReceived,
    UpdateMetadataResponseReceived,
)
from pykafka_classic.controller.leader_and_isr import EPOCH_DURING_DELETE, NO_EPOCH, LeaderAndIsr
from pykafka_classic.controller.logs import StateChangeLog
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrPartitionState, LeaderAndIsrResponse
from pykafka_classic.protocol.messages.stop_replica import StopReplicaResponse
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataResponse
from pykafka_classic.protocol.schema import Message

log = logging.getLogger("kafka.controller.ControllerBrokerRequestBatch")


class IllegalState(Exception):
    """The controller found its own state wrong. It resigns: its successor reads everything afresh."""


class BrokerRequestBatch:
    """The one batch of the controller; `put_event` takes the answers back into its queue."""

    def __init__(
        self, context: ControllerContext, requests: ControlRequests, channels: ControllerChannelManager, *, put_event: Callable[[ControllerEvent], None]
    ) -> None:
        self._context = context
        self._requests = requests
        self._channels = channels
        self._put_event = put_event
        self._state_change_log = StateChangeLog(context, channels.controller_id)
        self._leader_and_isr: dict[int, dict[TopicPartition, PartitionDecision]] = {}
        self._stop_replica: dict[int, dict[TopicPartition, StoppedReplica]] = {}
        self._update_metadata_brokers: set[int] = set()
        self._update_metadata_partitions: dict[TopicPartition, None] = {}

    @property
    def is_empty(self) -> bool:
        """True while nothing waits to be sent."""
        return not (self._leader_and_isr or self._stop_replica or self._update_metadata_brokers)

    def new_batch(self) -> None:
        """Begin a step. Raises IllegalState if the one before has not sent its requests."""
        if not self.is_empty:
            raise IllegalState("the batch of requests to brokers is not empty while a new one begins: some state changes would be lost")

    def clear(self) -> None:
        """Forget what was collected: the controller resigns."""
        self._leader_and_isr.clear()
        self._stop_replica.clear()
        self._update_metadata_brokers.clear()
        self._update_metadata_partitions.clear()

    # Collecting

    def add_leader_and_isr(self, broker_ids: Iterable[int], partition: TopicPartition, state: LeaderAndIsr, *, is_new: bool) -> None:
        """Tell these brokers the state of a partition, and all brokers its metadata."""
        assignment = self._context.assignment(partition)
        for broker_id in broker_ids:
            if broker_id < 0:
                continue
            decisions = self._leader_and_isr.setdefault(broker_id, {})
            before = decisions.get(partition)
            decisions[partition] = PartitionDecision(state, assignment, is_new or (before is not None and before.is_new))
        self._update_metadata_brokers.update(self._context.live_or_shutting_down_brokers)
        self._update_metadata_partitions[partition] = None

    def add_update_metadata(self, broker_ids: Iterable[int], partitions: Iterable[TopicPartition]) -> None:
        """Tell these brokers about all brokers, and about these partitions."""
        self._update_metadata_brokers.update(broker_id for broker_id in broker_ids if broker_id >= 0)
        for partition in partitions:
            if partition not in self._context.leadership:
                log.info("Leader not yet assigned for partition %s. Skip sending UpdateMetadataRequest.", partition)
            self._update_metadata_partitions[partition] = None

    def add_stop_replica(self, broker_id: int, partition: TopicPartition, *, delete_partition: bool) -> None:
        """Tell a broker to stop a replica, and to delete it."""
        if broker_id < 0:
            return
        replicas = self._stop_replica.setdefault(broker_id, {})
        before = replicas.get(partition)
        replicas[partition] = StoppedReplica(self._epoch_to_stop_at(partition), delete_partition or (before is not None and before.delete_partition))

    def _epoch_to_stop_at(self, partition: TopicPartition) -> int:
        if self._context.is_topic_queued_up_for_deletion(partition.topic):
            return EPOCH_DURING_DELETE
        current = self._context.leadership.get(partition)
        return NO_EPOCH if current is None else current.leader_epoch

    # Sending

    def send_requests_to_brokers(self) -> None:
        """Send what was collected and begin empty again."""
        self._send_leader_and_isr()
        self._send_update_metadata()
        self._send_stop_replica()

    def _send_leader_and_isr(self) -> None:
        collected, self._leader_and_isr = self._leader_and_isr, {}
        built: dict[tuple[TopicPartition, bool], LeaderAndIsrPartitionState] = {}
        for broker_id, decisions in sorted(collected.items()):
            broker_epoch = self._context.broker_epoch(broker_id)
            if broker_epoch is None:
                continue
            leading = sum(decision.state.leader == broker_id for decision in decisions.values())
            self._state_change_log.info(
                "Sending LeaderAndIsr request to broker %d with %d become-leader and %d become-follower partitions",
                broker_id,
                leading,
                len(decisions) - leading,
            )
            self._tell_sent(broker_id, decisions)
            request = self._requests.leader_and_isr(broker_epoch, decisions, built)
            self._channels.send_request(broker_id, request, self._requests.versions.leader_and_isr, self._on_leader_and_isr(broker_id))

    def _tell_sent(self, broker_id: int, decisions: Mapping[TopicPartition, PartitionDecision]) -> None:
        if broker_events.is_told():
            rows = (
                [str(partition), each.state.leader, each.state.leader_epoch, list(each.state.isr), each.state.zk_version]
                for partition, each in decisions.items()
            )
            broker_events.emit(broker_events.LEADER_AND_ISR_SENT, to=broker_id, controller_epoch=self._context.epoch, **broker_events.shortened(rows))

    def _on_leader_and_isr(self, broker_id: int) -> Callable[[Message], None]:
        def received(response: Message) -> None:
            assert isinstance(response, LeaderAndIsrResponse)
            self._put_event(LeaderAndIsrResponseReceived(response, broker_id))

        return received

    def _send_update_metadata(self) -> None:
        brokers, self._update_metadata_brokers = self._update_metadata_brokers, set()
        partitions, self._update_metadata_partitions = self._update_metadata_partitions, {}
        if not brokers:
            return
        addressees = {broker_id: epoch for broker_id in sorted(brokers) if (epoch := self._context.broker_epoch(broker_id)) is not None}
        self._state_change_log.info("Sending UpdateMetadata request to brokers %s for %d partitions", sorted(addressees), len(partitions))
        requests = self._requests.update_metadata(partitions, addressees.values())
        for broker_id, request in zip(addressees, requests, strict=True):
            self._channels.send_request(broker_id, request, self._requests.versions.update_metadata, self._on_update_metadata(broker_id))

    def _on_update_metadata(self, broker_id: int) -> Callable[[Message], None]:
        def received(response: Message) -> None:
            assert isinstance(response, UpdateMetadataResponse)
            self._put_event(UpdateMetadataResponseReceived(response, broker_id))

        return received

    def _send_stop_replica(self) -> None:
        collected, self._stop_replica = self._stop_replica, {}
        for broker_id, replicas in sorted(collected.items()):
            broker_epoch = self._context.broker_epoch(broker_id)
            if broker_epoch is None:
                continue
            self._state_change_log.info("Sending StopReplica request for %d replicas to broker %d", len(replicas), broker_id)
            on_response = self._on_stop_replica(broker_id, {partition for partition, replica in replicas.items() if replica.delete_partition})
            for request in self._requests.stop_replica(broker_epoch, replicas):
                self._channels.send_request(broker_id, request, self._requests.versions.stop_replica, on_response)

    def _on_stop_replica(self, broker_id: int, deleted: set[TopicPartition]) -> Callable[[Message], None]:
        """Only deletions of topics being deleted are waited for; a reassignment deletes replicas without looking back."""

        def received(response: Message) -> None:
            assert isinstance(response, StopReplicaResponse)
            errors = {TopicPartition(each.topic_name, each.partition_index): ErrorCode(each.error_code) for each in response.partition_errors}
            relevant = {
                partition: error
                for partition, error in errors.items()
                if partition in deleted and partition.topic in self._context.topics_with_deletion_started
            }
            if relevant:
                self._put_event(TopicDeletionStopReplicaResponseReceived(broker_id, ErrorCode(response.error_code), relevant))

        return received
