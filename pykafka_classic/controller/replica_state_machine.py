"""Moves replicas between their states; each move tells the replica's broker what to do with it.

    entering                    tells its broker                       and
    NewReplica                  follow (is_new), if a leader is known   -
    OnlineReplica               lead or follow; from New: nothing       the first move of a restarted broker: all its replicas at once
    OfflineReplica              stop                                   takes it out of the ISR and tells the other replicas
    ReplicaDeletionStarted      stop and delete the log                -
    ReplicaDeletionSuccessful   -                                      -
    ReplicaDeletionIneligible   -                                      -
    NonExistentReplica          -                                      forgets it

A transition that the table in `states` does not have is logged and skipped; the others of the same call go on.
Source: facts/coordination.md 3.4; Kafka's controller/ReplicaStateMachine.scala.

Differs from Kafka: as in `partition_state_machine`, a state is read from ZooKeeper only where the cached one may be old.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code
from pykafka_classic.controller.controller_context import PartitionAndReplica
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.controller.logs import PrefixedLog
from pykafka_classic.controller.replica_assignment import ReplicaAssignment
from pykafka_classic.controller.states import VALID_PREVIOUS_REPLICA_STATES, ReplicaState


class ReplicaStateMachine:
    """Moves replicas; one call is one batch of requests to brokers."""

    def __init__(self, core: ControllerCore) -> None:
        self._core = core
        self._context = core.context
        self._log = PrefixedLog("kafka.controller.ZkReplicaStateMachine", lambda: f"[ReplicaStateMachine controllerId={core.controller_id}] ")

    async def startup(self) -> None:
        """A new controller's first step: mark all replicas, then tell every broker about all of its replicas."""
        self._log.info("Initializing replica state")
        online, offline = self._initialize_replica_state()
        self._log.info("Triggering online replica state changes")
        await self.handle_state_changes(online, ReplicaState.ONLINE)
        self._log.info("Triggering offline replica state changes")
        await self.handle_state_changes(offline, ReplicaState.OFFLINE)

    def _initialize_replica_state(self) -> tuple[list[PartitionAndReplica], list[PartitionAndReplica]]:
        online: list[PartitionAndReplica] = []
        offline: list[PartitionAndReplica] = []
        for partition, assignment in self._context.all_partitions():
            for broker_id in assignment.replicas:
                replica = PartitionAndReplica(partition, broker_id)
                is_online = self._context.is_replica_online(broker_id, partition)
                # An offline one is first taken for one whose deletion failed: if its topic is being deleted, the deletion waits for its broker.
                self._context.replica_states[replica] = ReplicaState.ONLINE if is_online else ReplicaState.DELETION_INELIGIBLE
                (online if is_online else offline).append(replica)
        return online, offline

    async def handle_state_changes(self, replicas: Iterable[PartitionAndReplica], target: ReplicaState) -> None:
        """Move replicas to `target`, broker by broker."""
        by_broker: dict[int, list[PartitionAndReplica]] = {}
        for replica in replicas:
            by_broker.setdefault(replica.replica, []).append(replica)
        if not by_broker:
            return
        self._core.batch.new_batch()
        for broker_id, on_broker in sorted(by_broker.items()):
            valid = [replica for replica in on_broker if self._is_valid(replica, target)]
            if target is ReplicaState.OFFLINE:
                await self._take_offline(broker_id, valid)
            else:
                for replica in valid:
                    self._move(replica, target)
        self._core.batch.send_requests_to_brokers()

    def _is_valid(self, replica: PartitionAndReplica, target: ReplicaState) -> bool:
        if self._context.replica_state(replica) in VALID_PREVIOUS_REPLICA_STATES[target]:
            return True
        wanted = ",".join(map(str, sorted(VALID_PREVIOUS_REPLICA_STATES[target])))
        self._failed(replica, target, f"it should be in one of {wanted} states before")
        return False

    def _failed(self, replica: PartitionAndReplica, target: ReplicaState, reason: str) -> None:
        self._core.state_change_log.error(
            "Controller %d epoch %d initiated state change of replica %d for partition %s from %s to %s failed: %s",
            *(self._core.controller_id, self._context.epoch, replica.replica, replica.partition, self._context.replica_state(replica), target, reason),
        )

    def _enter(self, replica: PartitionAndReplica, target: ReplicaState) -> None:
        before = self._context.replica_state(replica)
        self._core.state_change_log.debug("Changed state of replica %d for partition %s from %s to %s", replica.replica, replica.partition, before, target)
        self._context.replica_states[replica] = target

    def _move(self, replica: PartitionAndReplica, target: ReplicaState) -> None:
        match target:
            case ReplicaState.NEW:
                self._become_new(replica)
            case ReplicaState.ONLINE:
                self._become_online(replica)
            case ReplicaState.DELETION_STARTED:
                self._enter(replica, target)
                self._core.batch.add_stop_replica(replica.replica, replica.partition, delete_partition=True)
            case ReplicaState.NON_EXISTENT:
                self._context.set_assignment(replica.partition, self._context.assignment(replica.partition).remove_replica(replica.replica))
                self._enter(replica, target)
                del self._context.replica_states[replica]
            case _:
                self._enter(replica, target)

    def _become_new(self, replica: PartitionAndReplica) -> None:
        state = self._context.leadership.get(replica.partition)
        if state is not None and state.leader == replica.replica:
            self._failed(replica, ReplicaState.NEW, "a new replica has no data yet and cannot be the leader")
            return
        if state is not None:
            self._core.batch.add_leader_and_isr([replica.replica], replica.partition, state, is_new=True)
        self._enter(replica, ReplicaState.NEW)

    def _become_online(self, replica: PartitionAndReplica) -> None:
        if self._context.replica_state(replica) is ReplicaState.NEW:
            self._ensure_assigned(replica)
        else:
            state = self._context.leadership.get(replica.partition)
            if state is not None:
                self._core.batch.add_leader_and_isr([replica.replica], replica.partition, state, is_new=False)
        self._enter(replica, ReplicaState.ONLINE)

    def _ensure_assigned(self, replica: PartitionAndReplica) -> None:
        assignment = self._context.assignment(replica.partition)
        if replica.replica not in assignment.replicas:
            self._log.error("Adding replica (%d) that is not part of the assignment %s", replica.replica, assignment)
            replicas = (*assignment.replicas, replica.replica)
            self._context.set_assignment(replica.partition, ReplicaAssignment(replicas, assignment.adding_replicas, assignment.removing_replicas))

    # Going offline

    async def _take_offline(self, broker_id: int, replicas: Sequence[PartitionAndReplica]) -> None:
        for replica in replicas:
            self._core.batch.add_stop_replica(broker_id, replica.partition, delete_partition=False)
        led = [replica.partition for replica in replicas if replica.partition in self._context.leadership]
        for partition, state in (await self._remove_from_isr(broker_id, led)).items():
            self._core.state_change_log.info(
                "Partition %s state changed to %s after removing replica %d from the ISR as part of transition to OfflineReplica", partition, state, broker_id
            )
            if not self._context.is_topic_queued_up_for_deletion(partition.topic):
                others = [other for other in self._context.assignment(partition).replicas if other != broker_id]
                self._core.batch.add_leader_and_isr(others, partition, state, is_new=False)
            self._enter(PartitionAndReplica(partition, broker_id), ReplicaState.OFFLINE)
        for replica in replicas:
            if replica.partition not in self._context.leadership:
                self._enter(replica, ReplicaState.OFFLINE)
                self._core.batch.add_update_metadata(self._context.live_or_shutting_down_brokers, [replica.partition])

    async def _remove_from_isr(self, broker_id: int, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, LeaderAndIsr]:
        """The states without this replica, written where that changes them; partitions that failed are logged and left out."""
        removed: dict[TopicPartition, LeaderAndIsr] = {}
        fresh = not self._core.is_alter_isr_enabled
        remaining: Sequence[TopicPartition] = partitions
        while remaining:
            current = await self._current_states(broker_id, remaining, fresh=fresh)
            update = await self._core.states.update(
                {partition: state.without_replica(broker_id) for partition, state in current.items() if broker_id in state.isr}
            )
            for partition, code in update.failed.items():
                self._failed(PartitionAndReplica(partition, broker_id), ReplicaState.OFFLINE, f"ZooKeeper answered {code.name}")
            for partition, state in current.items():
                if broker_id not in state.isr:
                    removed[partition] = state.written(zk_version=state.zk_version, controller_epoch=self._context.epoch)
            removed |= update.written
            self._context.leadership |= {partition: removed[partition] for partition in current if partition in removed}
            remaining, fresh = update.bad_version, True
        return removed

    async def _current_states(self, broker_id: int, partitions: Sequence[TopicPartition], *, fresh: bool) -> dict[TopicPartition, LeaderAndIsr]:
        if not fresh:
            return {partition: self._context.leadership[partition] for partition in partitions}
        found: dict[TopicPartition, LeaderAndIsr] = {}
        for partition, state in (await self._core.states.read(partitions)).items():
            replica = PartitionAndReplica(partition, broker_id)
            if isinstance(state, LeaderAndIsr):
                if state.controller_epoch > self._context.epoch:
                    self._failed(replica, ReplicaState.OFFLINE, f"its state was written by another controller, of epoch {state.controller_epoch}")
                else:
                    found[partition] = state
            elif state is not Code.NO_NODE or not self._context.is_topic_queued_up_for_deletion(partition.topic):
                self._failed(replica, ReplicaState.OFFLINE, f"ZooKeeper answered {state.name} for its state")
        return found
