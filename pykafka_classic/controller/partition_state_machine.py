"""Moves partitions between their states; entering OnlinePartition is where leaders are chosen.

    entering               does
    NewPartition           nothing but remember it
    OnlinePartition        from New: create the `state` znode, leader = first live replica, ISR = all live ones; tell them (is_new)
                           else: elect a leader by the strategy given, epoch + 1, compare-and-set; tell the recipients
    OfflinePartition       nothing but remember it: its leader is gone
    NonExistentPartition   nothing but remember it: it is being deleted

A transition that the table in `states` does not have is logged and skipped; the others of the same call go on. A partition whose election fails keeps its
state.
Source: facts/coordination.md 3.5, 3.6; Kafka's controller/PartitionStateMachine.scala.

Differs from Kafka: where all ISR changes pass through the controller (AlterIsr), an election begins from the cached state and reads ZooKeeper only if its
write finds another version; that saves a round trip for each partition of a dead broker.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from pykafka_classic.common import broker_events
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.election import (
    ControlledShutdownPartitionLeaderElection,
    Elected,
    ElectionStrategy,
    OfflinePartitionLeaderElection,
    PreferredReplicaPartitionLeaderElection,
    ReassignPartitionLeaderElection,
    elect_for_controlled_shutdown,
    elect_for_offline,
    elect_for_reassign,
    elect_preferred,
    name_of,
)
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.controller.logs import PrefixedLog
from pykafka_classic.controller.states import VALID_PREVIOUS_PARTITION_STATES, PartitionState

OFFLINE_OR_NEW = frozenset({PartitionState.OFFLINE, PartitionState.NEW})


@dataclass(frozen=True, slots=True)
class ElectionFailed:
    """Why a partition got no new leader. `no_candidate`: no replica qualified, as opposed to a failure in ZooKeeper."""

    message: str
    no_candidate: bool = True


ElectionOutcome: TypeAlias = LeaderAndIsr | ElectionFailed
ElectionOutcomes: TypeAlias = dict[TopicPartition, ElectionOutcome]


class PartitionStateMachine:
    """Moves partitions; one call is one batch of requests to brokers."""

    def __init__(self, core: ControllerCore) -> None:
        self._core = core
        self._context = core.context
        self._log = PrefixedLog("kafka.controller.ZkPartitionStateMachine", lambda: f"[PartitionStateMachine controllerId={core.controller_id}] ")

    async def startup(self) -> None:
        """A new controller's first step: find out each partition's state, then try to give every one a leader."""
        self._log.info("Initializing partition state")
        self._initialize_partition_state()
        self._log.info("Triggering online partition state changes")
        await self.trigger_online_partition_state_change()

    def _initialize_partition_state(self) -> None:
        for partition, _ in self._context.all_partitions():
            leader = self._context.leader(partition)
            if leader is None:
                state = PartitionState.NEW
            else:
                state = PartitionState.ONLINE if self._context.is_replica_online(leader, partition) else PartitionState.OFFLINE
            self._context.partition_states[partition] = state

    async def trigger_online_partition_state_change(self, topic: str | None = None) -> None:
        """Try to give a leader to all partitions (of one topic) that have none and may have one."""
        partitions = [
            partition
            for partition in self._context.partitions_in_states(OFFLINE_OR_NEW)
            if self._context.may_have_a_leader(partition) and topic in (None, partition.topic)
        ]
        await self.handle_state_changes(partitions, PartitionState.ONLINE, OfflinePartitionLeaderElection())

    async def handle_state_changes(
        self, partitions: Sequence[TopicPartition], target: PartitionState, strategy: ElectionStrategy | None = None
    ) -> ElectionOutcomes:
        """Move partitions to `target`; elections answer with the new state or why there is none."""
        if not partitions:
            return {}
        self._core.batch.new_batch()
        valid = [partition for partition in partitions if self._is_valid(partition, target)]
        outcomes: ElectionOutcomes = {}
        if target is PartitionState.ONLINE:
            outcomes = await self._bring_online(valid, strategy)
        else:
            for partition in valid:
                self._enter(partition, target)
        self._core.batch.send_requests_to_brokers()
        return outcomes

    def _is_valid(self, partition: TopicPartition, target: PartitionState) -> bool:
        current = self._context.partition_state(partition)
        if current in VALID_PREVIOUS_PARTITION_STATES[target]:
            return True
        wanted = ",".join(map(str, sorted(VALID_PREVIOUS_PARTITION_STATES[target])))
        self._failed(partition, target, f"it should be in one of {wanted} states before")
        return False

    def _enter(self, partition: TopicPartition, target: PartitionState) -> None:
        before = self._context.partition_state(partition)
        if target is PartitionState.NEW:
            replicas = ",".join(map(str, self._context.assignment(partition).replicas))
            self._core.state_change_log.info("Changed partition %s state from %s to %s with assigned replicas %s", partition, before, target, replicas)
        elif target is PartitionState.ONLINE:
            self._core.state_change_log.info("Changed partition %s from %s to %s with state %s", partition, before, target, self._context.leadership[partition])
        else:
            self._core.state_change_log.debug("Changed partition %s state from %s to %s", partition, before, target)
        self._context.partition_states[partition] = target

    def _failed(self, partition: TopicPartition, target: PartitionState, reason: str) -> None:
        self._core.state_change_log.error(
            "Controller %d epoch %d failed to change state for partition %s from %s to %s: %s",
            *(self._core.controller_id, self._context.epoch, partition, self._context.partition_state(partition), target, reason),
        )

    async def _bring_online(self, partitions: Sequence[TopicPartition], strategy: ElectionStrategy | None) -> ElectionOutcomes:
        new = [partition for partition in partitions if self._context.partition_state(partition) is PartitionState.NEW]
        others = [partition for partition in partitions if self._context.partition_state(partition) is not PartitionState.NEW]
        await self._initialize(new)
        if not others:
            return {}
        assert strategy is not None, "an election needs a strategy"
        outcomes = await self._elect(others, strategy)
        for partition, outcome in outcomes.items():
            if isinstance(outcome, LeaderAndIsr):
                self._enter(partition, PartitionState.ONLINE)
        return outcomes

    # New partitions

    async def _initialize(self, partitions: Sequence[TopicPartition]) -> None:
        states: dict[TopicPartition, LeaderAndIsr] = {}
        for partition in partitions:
            replicas = self._context.assignment(partition).replicas
            live = self._context.online_replicas(partition, replicas)
            if live:
                states[partition] = LeaderAndIsr.initial(live, controller_epoch=self._context.epoch)
            else:
                reason = f"no assigned replica is alive: replicas are {list(replicas)}, live brokers are {sorted(self._context.live_broker_ids)}"
                self._failed(partition, PartitionState.ONLINE, reason)
        for partition, code in (await self._core.states.create(states)).items():
            if code is not Code.OK:
                self._failed(partition, PartitionState.ONLINE, f"ZooKeeper answered {code.name}")
                continue
            state = states[partition]
            self._context.leadership[partition] = state
            self._core.batch.add_leader_and_isr(state.isr, partition, state, is_new=True)
            self._enter(partition, PartitionState.ONLINE)

    # Elections

    async def _elect(self, partitions: Sequence[TopicPartition], strategy: ElectionStrategy) -> ElectionOutcomes:
        """Decide and write, again and again for those whose state had another version than we thought."""
        outcomes: ElectionOutcomes = {}
        current = self._cached(partitions) if self._core.is_alter_isr_enabled else {}
        remaining: Sequence[TopicPartition] = partitions
        while remaining:
            current |= await self._read([partition for partition in remaining if partition not in current], outcomes)
            remaining = await self._decide_and_write(current, strategy, outcomes)
            current = {}
            if remaining:
                self._log.info("Retrying leader election with strategy %s for partitions %s", strategy, ",".join(map(str, remaining)))
        for partition, outcome in outcomes.items():
            if isinstance(outcome, ElectionFailed):
                self._failed(partition, PartitionState.ONLINE, outcome.message)
                broker_events.emit(broker_events.ELECTION_FAILED, partition=str(partition), strategy=name_of(strategy), why=outcome.message)
        return outcomes

    def _cached(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, LeaderAndIsr]:
        leadership = self._context.leadership
        return {partition: leadership[partition] for partition in partitions if partition in leadership}

    async def _read(self, partitions: Sequence[TopicPartition], outcomes: ElectionOutcomes) -> dict[TopicPartition, LeaderAndIsr]:
        """The stored states; what cannot be elected from goes into `outcomes`."""
        found: dict[TopicPartition, LeaderAndIsr] = {}
        for partition, state in (await self._core.states.read(partitions)).items():
            if isinstance(state, Code):
                known = f"LeaderAndIsr information doesn't exist for partition {partition} in {self._context.partition_state(partition)} state"
                outcomes[partition] = ElectionFailed(known if state is Code.NO_NODE else f"ZooKeeper answered {state.name}", state is Code.NO_NODE)
            elif state.controller_epoch > self._context.epoch:
                outcomes[partition] = ElectionFailed(f"its state was already written by another controller, of epoch {state.controller_epoch}")
            else:
                found[partition] = state
        return found

    async def _decide_and_write(
        self, current: Mapping[TopicPartition, LeaderAndIsr], strategy: ElectionStrategy, outcomes: ElectionOutcomes
    ) -> Sequence[TopicPartition]:
        """One round; returns the partitions whose state was not what we thought."""
        elected = await self._decide(current, strategy)
        for partition in current.keys() - elected.keys():
            outcomes[partition] = ElectionFailed(f"Failed to elect leader for partition {partition} under strategy {strategy}")
        update = await self._core.states.update({partition: election.leader_and_isr for partition, election in elected.items()})
        for partition, state in update.written.items():
            outcomes[partition] = state
            self._context.leadership[partition] = state
            self._tell_elected(partition, strategy, current[partition], state)
            self._core.batch.add_leader_and_isr(elected[partition].recipients, partition, state, is_new=False)
        for partition, code in update.failed.items():
            outcomes[partition] = ElectionFailed(f"ZooKeeper answered {code.name}", no_candidate=False)
        return update.bad_version

    def _tell_elected(self, partition: TopicPartition, strategy: ElectionStrategy, before: LeaderAndIsr, now: LeaderAndIsr) -> None:
        broker_events.emit(
            broker_events.LEADER_ELECTED,
            partition=str(partition),
            strategy=name_of(strategy),
            leader=now.leader,
            before=before.leader,
            isr=list(now.isr),
            leader_epoch=now.leader_epoch,
            zk_version=now.zk_version,
            unclean=now.leader >= 0 and now.leader not in before.isr,
        )

    async def _decide(self, current: Mapping[TopicPartition, LeaderAndIsr], strategy: ElectionStrategy) -> dict[TopicPartition, Elected]:
        unclean_topics: frozenset[str] = frozenset()
        if isinstance(strategy, OfflinePartitionLeaderElection):
            unclean_topics = await self._topics_that_allow_unclean_election(current, strategy)
        elections = ((partition, self._decide_one(partition, state, strategy, partition.topic in unclean_topics)) for partition, state in current.items())
        return {partition: election for partition, election in elections if election is not None}

    def _decide_one(self, partition: TopicPartition, state: LeaderAndIsr, strategy: ElectionStrategy, unclean_allowed: bool) -> Elected | None:
        context, assignment = self._context, self._context.assignment(partition)
        online = frozenset(context.online_replicas(partition, assignment.replicas))
        match strategy:
            case OfflinePartitionLeaderElection():
                election = elect_for_offline(state, assignment.replicas, online, unclean_allowed=unclean_allowed)
                if election is not None and election.unclean:
                    self._log.warning(
                        "Unclean leader election for partition %s: %d was not in the ISR %s; records may be lost",
                        *(partition, election.leader_and_isr.leader, list(state.isr)),
                    )
                return election
            case ReassignPartitionLeaderElection():
                return elect_for_reassign(state, assignment.target_replicas, online)
            case PreferredReplicaPartitionLeaderElection():
                return elect_preferred(state, assignment.replicas, online)
            case ControlledShutdownPartitionLeaderElection():
                online_or_leaving = frozenset(context.online_replicas(partition, assignment.replicas, include_shutting_down=True))
                return elect_for_controlled_shutdown(state, assignment.replicas, online_or_leaving, leaving=context.shutting_down_broker_ids)
            case _:
                assert_never(strategy)

    async def _topics_that_allow_unclean_election(
        self, current: Mapping[TopicPartition, LeaderAndIsr], strategy: OfflinePartitionLeaderElection
    ) -> frozenset[str]:
        """Of the topics that have a partition without any live ISR member; the configs of others do not matter."""
        hopeless = {partition.topic: None for partition, state in current.items() if not self._context.online_replicas(partition, state.isr)}
        if strategy.allow_unclean:
            return frozenset(hopeless)
        return await self._core.cluster.topics_that_allow_unclean_election(list(hopeless), default=self._core.config.unclean_leader_election_enable)
