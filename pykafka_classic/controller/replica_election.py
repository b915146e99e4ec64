"""Elections that somebody asked for: a tool or client (preferred, unclean), the periodic check of the balance, a config that now allows unclean leaders.

* Preferred: leadership returns to the first replica of the assignment, if it is live and in sync.
* Unclean: a partition without leader takes any live replica; what only dead replicas have is lost.
* Balance: a broker that leads too few of the partitions for which it is preferred gets them back (`leader.imbalance.per.broker.percentage`).

Source: facts/coordination.md 3.12; Kafka's processReplicaLeaderElection, onReplicaElection, checkAndTriggerAutoLeaderRebalance.

Differs from Kafka: the balance is put right for all brokers in one round of requests, not broker by broker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.election import OfflinePartitionLeaderElection, PreferredReplicaPartitionLeaderElection
from pykafka_classic.controller.events import ApiError, ElectionResult, ElectionResults, ElectionTrigger, ElectionType, ReplicaLeaderElection
from pykafka_classic.controller.leader_and_isr import NO_LEADER, LeaderAndIsr
from pykafka_classic.controller.partition_state_machine import ElectionFailed, ElectionOutcome, ElectionOutcomes, PartitionStateMachine
from pykafka_classic.controller.states import PartitionState


class ReplicaElection:
    """Handlers of ReplicaLeaderElection, AutoPreferredReplicaLeaderElection and the two "unclean election is now allowed" events."""

    def __init__(self, core: ControllerCore, partitions: PartitionStateMachine) -> None:
        self._core = core
        self._context = core.context
        self._partitions = partitions

    # Asked for by a client or through the znode

    async def process(self, event: ReplicaLeaderElection) -> ElectionResults:
        """Elect; a result for every partition named."""
        if event.trigger is not ElectionTrigger.ADMIN_CLIENT and not await self._core.notifications.watch_preferred_replica_election():
            return {}
        named = event.partitions if event.partitions is not None else await self._core.notifications.preferred_replica_election()
        results: ElectionResults = {}
        electable = []
        for partition in sorted(named):
            refusal = self._refusal(partition, event.election_type)
            if refusal is None:
                electable.append(partition)
            else:
                results[partition] = ElectionResult(None, refusal)
        outcomes = await self._elect(electable, event.election_type, event.trigger)
        return results | {partition: _result(outcome, event.election_type) for partition, outcome in outcomes.items()}

    def _refusal(self, partition: TopicPartition, election_type: ElectionType) -> ApiError | None:
        """Why no election is held for this partition; None: one is."""
        replicas = self._context.assignment(partition).replicas
        if not replicas:
            self._core.log.info("Skipping replica leader election (%s) for partition %s since it doesn't exist.", election_type.name, partition)
            return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
        if self._context.is_topic_queued_up_for_deletion(partition.topic):
            self._core.log.warning("Skipping replica leader election (%s) for partition %s since its topic is being deleted", election_type.name, partition)
            return ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic is being deleted")
        leader = self._context.leader(partition)
        if election_type is ElectionType.PREFERRED:
            is_needed = leader != replicas[0]
        else:
            is_needed = leader in (None, NO_LEADER) or leader not in self._context.live_broker_ids
        return None if is_needed else ApiError(ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.ELECTION_NOT_NEEDED.message)

    async def resume_pending(self) -> None:
        """A new controller finishes what the znode asked of its predecessor.

        Differs from Kafka: where nothing is asked, nothing is deleted. The znode may be written just after it was looked for, and that election would be lost.
        """
        asked = await self._core.notifications.preferred_replica_election()
        pending = [partition for partition in asked if self._refusal(partition, ElectionType.PREFERRED) is None]
        self._core.log.info("Resuming preferred replica election for partitions: %s", ",".join(map(str, pending)))
        if asked:
            await self._elect(pending, ElectionType.PREFERRED, ElectionTrigger.ZK)
        else:
            self._core.put_event(ReplicaLeaderElection(None, ElectionType.PREFERRED, ElectionTrigger.ZK))

    async def _elect(self, partitions: Collection[TopicPartition], election_type: ElectionType, trigger: ElectionTrigger) -> ElectionOutcomes:
        if partitions:
            names = ",".join(map(str, partitions))
            self._core.log.info("Starting replica leader election (%s) for partitions %s triggered by %s", election_type.name, names, trigger.value)
        strategy: PreferredReplicaPartitionLeaderElection | OfflinePartitionLeaderElection = PreferredReplicaPartitionLeaderElection()
        if election_type is ElectionType.UNCLEAN:
            # Data may only be given up by somebody who said so.
            strategy = OfflinePartitionLeaderElection(allow_unclean=trigger is ElectionTrigger.ADMIN_CLIENT)
        outcomes = await self._partitions.handle_state_changes(list(partitions), PartitionState.ONLINE, strategy)
        if trigger is not ElectionTrigger.ADMIN_CLIENT:
            self._report(partitions)
        if trigger is ElectionTrigger.ZK:
            await self._core.notifications.delete_preferred_replica_election()
            # Looking again sets the watch for the next one.
            self._core.put_event(ReplicaLeaderElection(None, ElectionType.PREFERRED, ElectionTrigger.ZK))
        return outcomes

    def _report(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in partitions:
            leader, preferred = self._context.leader(partition), self._context.assignment(partition).replicas[0]
            if leader == preferred:
                self._core.log.info("Partition %s completed preferred replica leader election. New leader is %d", partition, preferred)
            else:
                self._core.log.warning(
                    "Partition %s failed to complete preferred replica leader election to %d. Leader is still %s", partition, preferred, leader
                )

    # The balance

    async def process_auto_rebalance(self) -> None:
        """Give every broker that leads too little its partitions back."""
        self._core.log.info("Processing automatic preferred replica leader election")
        if self._context.partitions_being_reassigned:
            return
        candidates: list[TopicPartition] = []
        for broker_id, partitions in sorted(self._partitions_by_preferred_broker().items()):
            not_led = [partition for partition, leader in partitions.items() if leader != broker_id]
            ratio = len(not_led) / len(partitions)
            self._core.log.debug("Leader imbalance ratio for broker %d is %.3f", broker_id, ratio)
            if ratio > self._core.config.leader_imbalance_per_broker_percentage / 100:
                candidates += [partition for partition in not_led if self._can_lead(broker_id, partition)]
        if candidates:
            await self._elect(candidates, ElectionType.PREFERRED, ElectionTrigger.AUTO)

    def _partitions_by_preferred_broker(self) -> Mapping[int, dict[TopicPartition, int]]:
        """Preferred broker -> its partitions and their present leaders; topics being deleted and partitions not yet begun aside."""
        found: dict[int, dict[TopicPartition, int]] = {}
        for partition, assignment in self._context.all_partitions():
            current = self._context.leadership.get(partition)
            if assignment.replicas and current is not None and not self._context.is_topic_queued_up_for_deletion(partition.topic):
                found.setdefault(assignment.replicas[0], {})[partition] = current.leader
        return found

    def _can_lead(self, broker_id: int, partition: TopicPartition) -> bool:
        return self._context.is_replica_online(broker_id, partition) and broker_id in self._context.leadership[partition].isr

    # Unclean leaders

    async def process_unclean_enabled(self, topic: str | None = None) -> None:
        """unclean.leader.election.enable became true, for a topic or by default: partitions without leader may get one."""
        if topic is None:
            self._core.log.info("Unclean leader election has been enabled by default")
        else:
            self._core.log.info("Unclean leader election has been enabled for topic %s", topic)
        await self._partitions.trigger_online_partition_state_change(topic)


def _result(outcome: ElectionOutcome, election_type: ElectionType) -> ElectionResult:
    if isinstance(outcome, LeaderAndIsr):
        return ElectionResult(outcome.leader)
    return ElectionResult(None, _error(outcome, election_type))


def _error(failure: ElectionFailed, election_type: ElectionType) -> ApiError:
    if not failure.no_candidate:
        return ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, failure.message)
    no_leader = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE if election_type is ElectionType.PREFERRED else ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    return ApiError(no_leader, failure.message)
