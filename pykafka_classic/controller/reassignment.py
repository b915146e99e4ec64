"""Moving a partition to other brokers while it goes on serving (KIP-455).

An assignment during a move holds all replicas, and which of them are being added or removed (`replica_assignment`). The move is stored in /brokers/topics/T
before anything else, so that the next controller can go on with it. RS: replicas, AR: adding, RR: removing, T: target = RS - RR.

    begin      write (RS, AR, RR) to the topic's znode, remember it; replicas of an earlier, replaced move that are no longer wanted are stopped and deleted
    waiting    T is not within the ISR yet:  leader epoch + 1, LeaderAndIsr to all of RS (is_new for AR); AR -> NewReplica; then wait for the ISR to grow
    complete   T is within the ISR:          AR -> OnlineReplica; RS = T in memory; if the leader is not in T (or dead) elect another, else leader epoch + 1;
                                             RR -> Offline (leaves the ISR), deleted, NonExistent; write RS = T to the znode; UpdateMetadata

Looked at again when the ISR changes, when a broker of T starts, and at failover. Two ways in: AlterPartitionReassignments, and /admin/reassign_partitions of
older tools; the former overrides the latter. A topic under reassignment is not deleted meanwhile.
Source: facts/coordination.md 3.11; Kafka's
onPartitionReassignment and maybeTriggerPartitionReassignment.

Differs from Kafka, in what a simulation found:
* a cancellation or replacement that would delete all in-sync replicas is refused (Kafka deletes them, and the partition has lost its data and its leader);
* a move of a partition that never had a leader begins by giving it one; Kafka fails, and a controller that finds such a move when it takes over never gets
  past it;
* a move that cannot go on is logged and does not stop a failover.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.java import array_buffer
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code
from pykafka_classic.controller.controller_context import PartitionAndReplica
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.election import OfflinePartitionLeaderElection, ReassignPartitionLeaderElection
from pykafka_classic.controller.events import ApiError, PartitionErrors, Reassignments, ZkPartitionReassignment
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.controller.partition_state_machine import PartitionStateMachine
from pykafka_classic.controller.replica_assignment import ReplicaAssignment
from pykafka_classic.controller.replica_state_machine import ReplicaStateMachine
from pykafka_classic.controller.states import PartitionState, ReplicaState
from pykafka_classic.controller.topic_deletion import TopicDeletionManager
from pykafka_classic.controller.zk_client import KeeperError
from pykafka_classic.controller.zk_cluster import StoredTopic

NO_SUCH_PARTITION = ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")


class StateChangeFailed(Exception):
    """One partition's move cannot go on: its state is missing, or a later controller wrote it."""


class PartitionReassignment:
    """Moves partitions. `replicas` and `partitions` are the controller's state machines."""

    def __init__(self, core: ControllerCore, replicas: ReplicaStateMachine, partitions: PartitionStateMachine, deletion: TopicDeletionManager) -> None:
        self._core = core
        self._context = core.context
        self.replicas = replicas
        self.partitions = partitions
        self._deletion = deletion

    # Ways in

    async def initialize(self) -> None:
        """A new controller goes on with what its predecessor, or a tool meanwhile, began."""
        handled = await self.process_zk_reassignment()
        await self._resume(lambda partition, _: partition not in handled)

    async def process_zk_reassignment(self) -> set[TopicPartition]:
        """/admin/reassign_partitions was created. Returns the partitions whose move began (or was found complete)."""
        if not await self._core.notifications.watch_reassignment():
            return set()
        moves = await self._core.notifications.reassignment() or {}
        results = await self._trigger({partition: self._context.assignment(partition).reassign_to(target) for partition, target in moves.items()})
        failed = {partition: result.error.name for partition, result in results.items() if result.error is not ErrorCode.NONE}
        if failed or not moves:
            self._core.log.warning(
                "Failed reassignment through zk with the following errors: %s", {str(partition): error for partition, error in failed.items()}
            )
            await self._remove_from_zk_reassignment(lambda partition, _: partition in failed)
        return results.keys() - failed.keys()

    async def process_api_reassignment(self, requested: Mapping[TopicPartition, tuple[int, ...] | None]) -> PartitionErrors:
        """A client asks to move partitions (None: to cancel)."""
        results: PartitionErrors = {}
        moves: dict[TopicPartition, ReplicaAssignment] = {}
        for partition, target in requested.items():
            error = None if target is None else self._validate(partition, target)
            move = self._build(partition, target)
            if error is not None:
                results[partition] = error
            elif move is None:
                results[partition] = ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS.message)
            else:
                moves[partition] = move
        # An API call overrides what the znode says about the partition.
        await self._remove_from_zk_reassignment(lambda partition, _: partition in moves)
        return results | await self._trigger(moves)

    def list_reassignments(self, partitions: Iterable[TopicPartition] | None) -> Reassignments:
        """The moves under way, of these partitions or of all."""
        asked = self._context.partitions_being_reassigned if partitions is None else partitions
        assignments = {partition: self._context.assignment(partition) for partition in asked}
        return {partition: assignment for partition, assignment in assignments.items() if assignment.is_being_reassigned}

    async def resume_those_moving_to(self, broker_ids: Collection[int]) -> None:
        """These brokers have started: moves that wait for them may go on."""
        await self._resume(lambda _, assignment: any(broker_id in broker_ids for broker_id in assignment.target_replicas))

    async def isr_changed(self, partitions: Iterable[TopicPartition]) -> None:
        """The ISR of these changed: complete the moves that waited for it."""
        for partition in partitions:
            if partition in self._context.partitions_being_reassigned:
                await self._maybe_complete(partition)

    async def _resume(self, wanted: Callable[[TopicPartition, ReplicaAssignment], bool]) -> None:
        for partition in list(self._context.partitions_being_reassigned):
            assignment = self._context.assignment(partition)
            if wanted(partition, assignment):
                await self._reassign_or_log(partition, assignment)

    async def _maybe_complete(self, partition: TopicPartition) -> None:
        assignment = self._context.assignment(partition)
        if await self._is_complete(partition, assignment):
            self._core.log.info(
                "Target replicas %s have all caught up with the leader for reassigning partition %s", list(assignment.target_replicas), partition
            )
            await self._reassign_or_log(partition, assignment)

    # Validation

    def _validate(self, partition: TopicPartition, target: Sequence[int]) -> ApiError | None:
        def invalid(message: str) -> ApiError:
            return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)

        if not target:
            return invalid("Empty replica list specified in partition reassignment.")
        if len(set(target)) != len(target):
            return invalid(f"Duplicate replica ids in partition reassignment replica list: {array_buffer(target)}")
        if any(replica < 0 for replica in target):
            return invalid(f"Invalid broker id in replica list: {array_buffer(target)}")
        adding = self._context.assignment(partition).reassign_to(target).adding_replicas
        live = self._context.live_broker_ids
        if not live.issuperset(adding):
            alive = f"Set({', '.join(map(str, sorted(live)))})"
            return invalid(f"Replica assignment has brokers that are not alive. Replica list: {array_buffer(adding)}, live broker list: {alive}")
        return None

    def _build(self, partition: TopicPartition, target: Sequence[int] | None) -> ReplicaAssignment | None:
        """The assignment to move to; None: there is no move that could be cancelled."""
        current = self._context.assignment(partition)
        if target is not None:
            return current.reassign_to(target)
        return current.reassign_to(current.origin_replicas) if current.is_being_reassigned else None

    async def _trigger(self, moves: Mapping[TopicPartition, ReplicaAssignment]) -> PartitionErrors:
        return {partition: await self._trigger_one(partition, move) for partition, move in moves.items()}

    async def _trigger_one(self, partition: TopicPartition, move: ReplicaAssignment) -> ApiError:
        if self._context.is_topic_queued_up_for_deletion(partition.topic):
            self._core.log.info("Skipping reassignment of %s since the topic is currently being deleted", partition)
            return NO_SUCH_PARTITION
        if not self._context.assignment(partition).replicas:
            return NO_SUCH_PARTITION
        current = self._context.leadership.get(partition)
        if current is not None and not set(move.replicas).intersection(current.isr):
            message = f"The move would delete all in-sync replicas of the partition, {list(current.isr)}, and with them its data."
            return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        return ApiError() if await self._reassign_or_log(partition, move) else ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)

    # The steps

    async def _reassign_or_log(self, partition: TopicPartition, move: ReplicaAssignment) -> bool:
        """One partition that cannot go on must stop neither the others nor a failover."""
        try:
            await self._reassign(partition, move)
        except (StateChangeFailed, KeeperError) as error:
            self._core.log.error("Error completing reassignment of partition %s: %s", partition, error)
            return False
        return True

    async def _reassign(self, partition: TopicPartition, move: ReplicaAssignment) -> None:
        if partition.topic in self._context.topics_with_deletion_started:
            return  # its replicas are being deleted where they are
        self._deletion.mark_topics_ineligible([partition.topic], reason="topic reassignment in progress")
        await self._begin(partition, move)
        if partition not in self._context.leadership and not await self._bring_to_life(partition, move):
            return  # no replica of it lives; a broker that starts will bring it back here
        if await self._is_complete(partition, move):
            await self._complete(partition, move)
        else:
            await self._bump_leader_epoch(partition, move)
            await self._make_new(partition, move)

    async def _make_new(self, partition: TopicPartition, move: ReplicaAssignment) -> None:
        for replica in move.adding_replicas:
            if self._context.replica_state(PartitionAndReplica(partition, replica)) is ReplicaState.NON_EXISTENT:
                await self.replicas.handle_state_changes([PartitionAndReplica(partition, replica)], ReplicaState.NEW)

    async def _bring_to_life(self, partition: TopicPartition, move: ReplicaAssignment) -> bool:
        """A partition that never had a leader, for all of its replicas were dead when it was created, may get one among the new replicas."""
        await self._make_new(partition, move)
        await self.partitions.handle_state_changes([partition], PartitionState.ONLINE, OfflinePartitionLeaderElection())
        return partition in self._context.leadership

    async def _begin(self, partition: TopicPartition, move: ReplicaAssignment) -> None:
        current = self._context.assignment(partition)
        if current != move:
            self._core.log.debug("Updating assignment of partition %s from %s to %s", partition, current, move)
            await self._store(partition, move)
            self._context.set_assignment(partition, move)
            await self._stop_removed_replicas(partition, [replica for replica in current.replicas if replica not in move.replicas])
        self._context.partitions_being_reassigned[partition] = None

    async def _is_complete(self, partition: TopicPartition, move: ReplicaAssignment) -> bool:
        if not move.is_being_reassigned:
            return True
        # Below 2.7-IV2 the leader itself writes its ISR: a watch on the state tells of it.
        state = (await self._core.states.read([partition], watch=not self._core.is_alter_isr_enabled))[partition]
        return isinstance(state, LeaderAndIsr) and set(move.target_replicas) <= set(state.isr)

    async def _complete(self, partition: TopicPartition, move: ReplicaAssignment) -> None:
        adding = [PartitionAndReplica(partition, replica) for replica in move.adding_replicas]
        await self.replicas.handle_state_changes(adding, ReplicaState.ONLINE)
        completed = ReplicaAssignment(move.target_replicas)
        self._context.set_assignment(partition, completed)
        await self._move_leader_if_required(partition, completed)
        await self._stop_removed_replicas(partition, move.removing_replicas)
        # Last, for until here the znode alone knows that there is still something to remove.
        await self._store(partition, completed)
        await self._remove_from_zk_reassignment(lambda other, target: other == partition and target == completed.replicas)
        self._context.partitions_being_reassigned.pop(partition, None)
        self._core.send_update_metadata(self._context.live_or_shutting_down_broker_ids, [partition])
        await self._deletion.resume_deletion_for_topics([partition.topic])

    async def _move_leader_if_required(self, partition: TopicPartition, completed: ReplicaAssignment) -> None:
        leader = self._context.leader(partition)
        replicas = ",".join(map(str, completed.replicas))
        if leader in completed.replicas and leader is not None and self._context.is_replica_online(leader, partition):
            self._core.log.info(
                "Leader %d for partition %s being reassigned, is already in the new list of replicas %s and is alive", leader, partition, replicas
            )
            # The leader has to learn, under a new epoch, that the leaving replicas may not return to the ISR.
            await self._bump_leader_epoch(partition, completed)
            return
        reason = "is already in the new list of replicas %s but is dead" if leader in completed.replicas else "is not in the new list of replicas %s"
        self._core.log.info(f"Leader %s for partition %s being reassigned, {reason}. Re-electing leader", leader, partition, replicas)
        await self.partitions.handle_state_changes([partition], PartitionState.ONLINE, ReassignPartitionLeaderElection())

    async def _stop_removed_replicas(self, partition: TopicPartition, removed: Sequence[int]) -> None:
        """Stop, delete and forget, without waiting for the brokers' answers: what they miss they delete when they start again."""
        replicas = [PartitionAndReplica(partition, replica) for replica in removed]
        for state in (ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL, ReplicaState.NON_EXISTENT):
            await self.replicas.handle_state_changes(replicas, state)

    async def _store(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        topic = partition.topic
        partitions = {**self._context.assignments.get(topic, {}), partition.partition: assignment}
        await self._core.cluster.write_topic(StoredTopic(topic, self._context.topic_ids.get(topic), partitions))
        self._core.log.info("Successfully updated assignment of partition %s to %s", partition, assignment)

    async def _bump_leader_epoch(self, partition: TopicPartition, move: ReplicaAssignment) -> None:
        """Same leader, same ISR, next epoch: replicas ignore a LeaderAndIsr whose epoch they know already."""
        state = await self._write_next_epoch(partition)
        self._context.leadership[partition] = state
        self._core.log.info("Updated leader epoch for partition %s to %d, zkVersion=%d", partition, state.leader_epoch, state.zk_version)
        self._core.batch.new_batch()
        self._core.batch.add_leader_and_isr(move.origin_replicas, partition, state, is_new=False)
        self._core.batch.add_leader_and_isr(move.adding_replicas, partition, state, is_new=True)
        self._core.batch.send_requests_to_brokers()
        self._core.state_change_log.info(
            "Sent LeaderAndIsr request %s with new replica assignment %s to leader %d for partition being reassigned %s", state, move, state.leader, partition
        )

    async def _write_next_epoch(self, partition: TopicPartition) -> LeaderAndIsr:
        while True:
            state = (await self._core.states.read([partition]))[partition]
            if isinstance(state, Code):
                raise StateChangeFailed(f"cannot update the leader epoch of partition {partition}: ZooKeeper answered {state.name} for its state")
            if state.controller_epoch > self._context.epoch:
                raise StateChangeFailed(f"the state of partition {partition} was written by another controller, of epoch {state.controller_epoch}")
            update = await self._core.states.update({partition: state.decide(leader=state.leader, isr=state.isr)})
            if partition in update.written:
                return update.written[partition]
            if partition in update.failed:
                raise StateChangeFailed(f"cannot update the leader epoch of partition {partition}: ZooKeeper answered {update.failed[partition].name}")

    # The znode

    async def _remove_from_zk_reassignment(self, done: Callable[[TopicPartition, tuple[int, ...]], bool]) -> None:
        """Take partitions out of /admin/reassign_partitions; delete it with the last one, and look again, which sets the watch for the next one."""
        stored = await self._core.notifications.reassignment()
        if stored is None:
            return
        left = {partition: target for partition, target in stored.items() if not done(partition, target)}
        if left and len(left) == len(stored):
            return
        removed = ",".join(str(partition) for partition in stored if partition not in left)
        self._core.log.info("Removing partitions %s from the list of reassigned partitions in zookeeper", removed)
        if left:
            await self._core.notifications.write_reassignment(left)
            return
        self._core.log.info("No more partitions need to be reassigned. Deleting zk path /admin/reassign_partitions")
        await self._core.notifications.delete_reassignment()
        self._core.put_event(ZkPartitionReassignment())
