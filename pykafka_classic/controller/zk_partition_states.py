"""The `state` znodes of partitions, in bulk: read, create, and change by compare-and-set, all pipelined.

Two guards on each write (facts/coordination.md, trap 2): the controller epoch's version (`ControllerZkClient.fenced`) and the state's own. A state whose
version was not the expected one is for the caller to read again and decide again: somebody else decided meanwhile, or our own write went through and its
answer was lost.
Mirrors getTopicPartitionStatesRaw, createTopicPartitionStatesRaw and updateLeaderAndIsr of Kafka's zk/KafkaZkClient.scala.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pykafka_classic.common import broker_events
from pykafka_classic.common.broker_events import shortened
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code, Create, GetData, Result, SetData
from pykafka_classic.controller.controller_context import ControllerContext
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.controller.zk_client import ControllerZkClient
from zk_schema import partition_state, topics
from zk_schema.errors import MalformedZNode
from zk_schema.partition_state import TopicPartitionStateZNode

log = logging.getLogger("kafka.zk.KafkaZkClient")


@dataclass(slots=True)
class UpdateResult:
    """What became of a round of conditional writes."""

    written: dict[TopicPartition, LeaderAndIsr] = field(default_factory=dict)
    bad_version: list[TopicPartition] = field(default_factory=list)  # decide again
    failed: dict[TopicPartition, Code] = field(default_factory=dict)


def _encode(state: LeaderAndIsr, controller_epoch: int) -> bytes:
    return partition_state.encode(
        TopicPartitionStateZNode(leader=state.leader, leader_epoch=state.leader_epoch, controller_epoch=controller_epoch, isr=state.isr)
    )


def _row(written: tuple[TopicPartition, LeaderAndIsr]) -> list[Any]:
    partition, state = written
    return [str(partition), state.leader, state.leader_epoch, list(state.isr), state.zk_version]


def _decode(result: Result) -> LeaderAndIsr | Code:
    if not result.ok or result.stat is None:
        return result.code
    try:
        stored = partition_state.decode(result.data)
    except MalformedZNode as error:
        log.error("Ignoring %s: %s", result.path, error)
        return Code.NO_NODE
    return LeaderAndIsr(stored.leader, stored.leader_epoch, tuple(stored.isr), result.stat.version, stored.controller_epoch)


class PartitionStates:
    """All access of the controller to partition states."""

    def __init__(self, zk: ControllerZkClient, context: ControllerContext) -> None:
        self._zk = zk
        self._context = context

    async def read(self, partitions: Collection[TopicPartition], *, watch: bool = False) -> dict[TopicPartition, LeaderAndIsr | Code]:
        """The stored states; ZooKeeper's code where there is none to be had (NO_NODE: not created yet, or not readable)."""
        results = await self._zk.submit([GetData(partition_state.path(partition.topic, partition.partition), watch) for partition in partitions])
        return {partition: _decode(result) for partition, result in zip(partitions, results, strict=True)}

    async def read_existing(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, LeaderAndIsr]:
        """The stored states of those partitions that have one."""
        return {partition: state for partition, state in (await self.read(partitions)).items() if isinstance(state, LeaderAndIsr)}

    async def update(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> UpdateResult:
        """Write each state if its znode still has the version `zk_version`. Written states come back with their new version and our controller epoch."""
        epoch = self._context.epoch
        writes = [SetData(partition_state.path(*partition), _encode(state, epoch), state.zk_version) for partition, state in states.items()]
        outcome = UpdateResult()
        for (partition, state), result in zip(states.items(), await self._zk.fenced(writes), strict=True):
            if result.ok:
                version = state.zk_version + 1 if result.stat is None else result.stat.version
                outcome.written[partition] = state.written(zk_version=version, controller_epoch=epoch)
            elif result.code is Code.BAD_VERSION:
                outcome.bad_version.append(partition)
            else:
                outcome.failed[partition] = result.code
        if outcome.written:
            broker_events.emit(broker_events.STATE_WRITTEN, controller_epoch=epoch, **shortened(map(_row, outcome.written.items())))
        if outcome.bad_version:
            refused = ([str(partition), states[partition].zk_version] for partition in outcome.bad_version)
            broker_events.emit(broker_events.STATE_REFUSED, controller_epoch=epoch, **shortened(refused))
        return outcome

    async def create(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> dict[TopicPartition, Code]:
        """Create the states of new partitions with the nodes above them, parents first. OK, or why not, for each.

        Parents that exist are no failure: other partitions of the topic made them. An existing state is one, unless it is what we meant to write (a lost
        answer).
        """
        parents: list[Create] = [Create(topics.partitions_path(topic)) for topic in dict.fromkeys(partition.topic for partition in states)]
        parents += [Create(topics.partition_path(*partition)) for partition in states]
        creates = [Create(partition_state.path(*partition), _encode(state, self._context.epoch)) for partition, state in states.items()]
        results = (await self._zk.fenced(parents + creates))[len(parents) :]
        codes = {partition: result.code for partition, result in zip(states, results, strict=True)}
        await self._accept_lost_answers(codes, states)
        written = [_row((partition, state)) for partition, state in states.items() if codes[partition] is Code.OK]
        if written:
            broker_events.emit(broker_events.STATE_WRITTEN, controller_epoch=self._context.epoch, **shortened(written))
        return codes

    async def _accept_lost_answers(self, codes: dict[TopicPartition, Code], states: Mapping[TopicPartition, LeaderAndIsr]) -> None:
        existing: Sequence[TopicPartition] = [partition for partition, code in codes.items() if code is Code.NODE_EXISTS]
        for partition, stored in (await self.read_existing(existing)).items():
            if stored == states[partition]:
                codes[partition] = Code.OK
