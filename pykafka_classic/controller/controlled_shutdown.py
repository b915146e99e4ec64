"""A broker announces that it is leaving: the controller moves its leaderships away before it goes.

From now on the broker counts as shutting down: it is still sent requests, but is elected for nothing. What it leads is handed to another ISR member where
there is one; where it follows it is told to stop and leaves the ISR. The answer names the partitions (with more than one replica) that it still leads; the
broker asks again, or goes anyway.
Source: facts/coordination.md 2.4; Kafka's doControlledShutdown (KIP-380 for the broker epoch).
"""

from __future__ import annotations

from collections.abc import Sequence

from pykafka_classic.common import broker_events
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.controller_context import PartitionAndReplica
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.election import ControlledShutdownPartitionLeaderElection
from pykafka_classic.controller.partition_state_machine import PartitionStateMachine
from pykafka_classic.controller.replica_state_machine import ReplicaStateMachine
from pykafka_classic.controller.states import PartitionState, ReplicaState

UNKNOWN_BROKER_EPOCH = -1  # the broker speaks a version without epochs


class BrokerShutdown:
    """Handler of ControlledShutdown."""

    def __init__(self, core: ControllerCore, replicas: ReplicaStateMachine, partitions: PartitionStateMachine) -> None:
        self._core = core
        self._context = core.context
        self._replicas = replicas
        self._partitions = partitions

    async def process(self, broker_id: int, broker_epoch: int) -> frozenset[TopicPartition]:
        """Relieve the broker; returns what it still leads. Raises BROKER_NOT_AVAILABLE or STALE_BROKER_EPOCH."""
        self._check(broker_id, broker_epoch)
        self._core.log.info("Shutting down broker %d", broker_id)
        self._context.shutting_down_broker_ids.add(broker_id)
        self._core.log.info(
            "All shutting down brokers: %s; live brokers: %s", sorted(self._context.shutting_down_broker_ids), sorted(self._context.live_broker_ids)
        )
        concerned = [partition for partition in self._context.partitions_on(broker_id) if self._can_be_moved(partition)]
        led = [partition for partition in concerned if self._context.leader(partition) == broker_id]
        followed = [partition for partition in concerned if self._context.leader(partition) != broker_id]
        broker_events.emit(broker_events.CONTROLLED_SHUTDOWN, stopping=broker_id, led=len(led))
        await self._partitions.handle_state_changes(led, PartitionState.ONLINE, ControlledShutdownPartitionLeaderElection())
        await self._stop_following(broker_id, followed)
        return self._context.partitions_led_by(broker_id)

    def _check(self, broker_id: int, broker_epoch: int) -> None:
        registered = self._context.broker_epoch(broker_id)
        if registered is None:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"Broker id {broker_id} does not exist.")
        if broker_epoch != UNKNOWN_BROKER_EPOCH and broker_epoch < registered:
            message = (
                f"Received controlled shutdown request from an old broker epoch {broker_epoch} for broker {broker_id}. Current broker epoch is {registered}."
            )
            self._core.log.info(message)
            raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, message)

    def _can_be_moved(self, partition: TopicPartition) -> bool:
        return (
            len(self._context.assignment(partition).replicas) > 1
            and partition in self._context.leadership
            and not self._context.is_topic_queued_up_for_deletion(partition.topic)
        )

    async def _stop_following(self, broker_id: int, partitions: Sequence[TopicPartition]) -> None:
        # First let it stop fetching, then take it out of the ISR: otherwise the leader might take it back in at once.
        self._core.batch.new_batch()
        for partition in partitions:
            self._core.batch.add_stop_replica(broker_id, partition, delete_partition=False)
        self._core.batch.send_requests_to_brokers()
        await self._replicas.handle_state_changes([PartitionAndReplica(partition, broker_id) for partition in partitions], ReplicaState.OFFLINE)
