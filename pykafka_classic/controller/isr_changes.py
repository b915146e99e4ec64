"""The in-sync replicas of a partition change: its leader asks (AlterIsr), or has done it itself and says so (older brokers).

AlterIsr (KIP-497, inter.broker.protocol.version 2.7-IV2 and later). Checks, in order:

    not active                                        NOT_CONTROLLER         for the whole request
    broker not registered under this epoch            STALE_BROKER_EPOCH     for the whole request
    nothing known about the partition                 UNKNOWN_TOPIC_OR_PARTITION
    an older leader epoch, or not the leader          FENCED_LEADER_EPOCH
    leader, epoch and ISR are what they are already   NONE, with the stored state: the request came twice
    a newcomer that is down or shutting down          NONE, with the stored state: the leader drops its proposal
    the state's znode has another version             INVALID_UPDATE_VERSION
    written                                           NONE, with the new version; the leader epoch stays

Then UpdateMetadata about the request's partitions goes to all brokers; LeaderAndIsr to nobody, for the leader learns the outcome from the answer.

Before, leaders wrote the ISR themselves and created /isr_change_notification/isr_change_<seq>: the controller reads the states again and tells all brokers.
Source: facts/coordination.md 3.10; Kafka's processAlterIsr, processIsrChangeNotification.

Differs from Kafka: a request from a broker that is not the leader is refused even where epoch and version would fit. And a broker that is leaving, or has left,
does not join: a proposal that was on its way when its broker went (the controller itself stopped, say) would hold up acks=all until the leader notices the
silence (later Kafka refuses it too, with an error that 2.8 does not know: KIP-841).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.controller.reassignment import PartitionReassignment
from pykafka_classic.protocol.messages.alter_isr import (
    AlterIsrRequest,
    AlterIsrRequestPartitionData,
    AlterIsrResponse,
    AlterIsrResponsePartitionData,
    AlterIsrResponseTopicData,
)


class IsrChanges:
    """Handlers of AlterIsrReceived and IsrChangeNotification."""

    def __init__(self, core: ControllerCore, reassignment: PartitionReassignment) -> None:
        self._core = core
        self._context = core.context
        self._reassignment = reassignment

    # AlterIsr

    async def process_alter_isr(self, request: AlterIsrRequest) -> AlterIsrResponse:
        """The controller's verdict on each proposal. Whoever calls sends the answer, then calls `altered`."""
        if self._context.broker_epoch(request.broker_id) != request.broker_epoch:
            self._core.log.info("Ignoring AlterIsr due to unknown broker or stale broker epoch %d for broker %d", request.broker_epoch, request.broker_id)
            return AlterIsrResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
        verdicts: dict[TopicPartition, LeaderAndIsr | ErrorCode] = {}
        to_write: dict[TopicPartition, LeaderAndIsr] = {}
        for topic in request.topics:
            for data in topic.partitions:
                partition = TopicPartition(topic.name, data.partition_index)
                verdict = self._check(partition, request.broker_id, data)
                verdicts[partition] = ErrorCode.UNKNOWN_SERVER_ERROR if verdict is None else verdict
                if verdict is None:
                    current = self._context.leadership[partition]
                    to_write[partition] = replace(current, isr=tuple(data.new_isr), leader_epoch=data.leader_epoch, zk_version=data.current_isr_version)
        verdicts |= await self._write(to_write)
        self._core.send_update_metadata(self._context.live_or_shutting_down_broker_ids, verdicts)
        return _response(verdicts)

    def _check(self, partition: TopicPartition, broker_id: int, data: AlterIsrRequestPartitionData) -> LeaderAndIsr | ErrorCode | None:
        """The verdict, or None: it has to be written."""
        current = self._context.leadership.get(partition)
        if current is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if data.leader_epoch < current.leader_epoch or broker_id != current.leader:
            return ErrorCode.FENCED_LEADER_EPOCH
        if data.leader_epoch == current.leader_epoch and tuple(data.new_isr) == current.isr:
            return current
        leaving = set(data.new_isr) - set(current.isr) - self._context.live_broker_ids
        if leaving and data.leader_epoch == current.leader_epoch:
            self._core.log.info("Refusing ISR %s for partition %s: %s not live", data.new_isr, partition, sorted(leaving))
            return current
        return None

    async def _write(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> dict[TopicPartition, LeaderAndIsr | ErrorCode]:
        verdicts: dict[TopicPartition, LeaderAndIsr | ErrorCode] = {}
        update = await self._core.states.update(states)
        for partition, state in update.written.items():
            self._core.log.info(
                "ISR for partition %s updated to [%s] and zkVersion updated to [%d]", partition, ",".join(map(str, state.isr)), state.zk_version
            )
            self._context.leadership[partition] = state
            verdicts[partition] = state
        for partition in update.bad_version:
            self._core.log.info("Failed to update ISR to %s for partition %s, bad ZK version.", states[partition], partition)
            verdicts[partition] = ErrorCode.INVALID_UPDATE_VERSION
        for partition, code in update.failed.items():
            self._core.log.error("Failed to update ISR for partition %s: ZooKeeper answered %s", partition, code.name)
            verdicts[partition] = ErrorCode.UNKNOWN_SERVER_ERROR
        return verdicts

    async def altered(self, response: AlterIsrResponse) -> None:
        """Reassignments may have waited for these ISRs to grow."""
        await self._reassignment.isr_changed(
            TopicPartition(topic.name, partition.partition_index)
            for topic in response.topics
            for partition in topic.partitions
            if partition.error_code == ErrorCode.NONE
        )

    # Notifications

    async def process_isr_change_notification(self) -> None:
        """Leaders have changed ISRs: read them again and tell all brokers."""
        paths = await self._core.notifications.isr_changes()
        partitions = await self._core.notifications.partitions_of_isr_changes(paths)
        if partitions:
            self._context.leadership |= await self._core.states.read_existing(partitions)
            self._core.send_update_metadata(self._context.live_or_shutting_down_broker_ids, partitions)
            await self._reassignment.isr_changed(partitions)
        await self._core.notifications.delete(paths)


def _response(verdicts: Mapping[TopicPartition, LeaderAndIsr | ErrorCode]) -> AlterIsrResponse:
    topics: dict[str, AlterIsrResponseTopicData] = {}
    for partition, verdict in verdicts.items():
        topic = topics.setdefault(partition.topic, AlterIsrResponseTopicData(name=partition.topic))
        topic.partitions.append(_partition_response(partition.partition, verdict))
    return AlterIsrResponse(topics=list(topics.values()))


def _partition_response(index: int, verdict: LeaderAndIsr | ErrorCode) -> AlterIsrResponsePartitionData:
    if isinstance(verdict, ErrorCode):
        return AlterIsrResponsePartitionData(partition_index=index, error_code=verdict)
    return AlterIsrResponsePartitionData(
        partition_index=index,
        leader_id=verdict.leader,
        leader_epoch=verdict.leader_epoch,
        isr=list(verdict.isr),
        current_isr_version=verdict.zk_version,
    )
