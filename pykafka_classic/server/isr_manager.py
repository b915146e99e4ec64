"""How a leader has its ISR changed: by asking the controller (AlterIsr), or in older clusters by writing the state znode itself (facts/coordination.md 3.10).

AlterIsr: at most one item of a partition waits; one request is under way; each takes all that wait. An error for the whole request, or a lost connection,
sends it again to whoever is the controller then. ZooKeeper: a compare-and-set of the state znode, and every now and then a notification of the partitions
changed, for the controller to read.

Mirrors kafka.server.{AlterIsrManager, ZkIsrManager}.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pykafka_classic.cluster.broker import Node
from pykafka_classic.cluster.isr_state import AlterIsrItem, LeaderAndIsr
from pykafka_classic.common import broker_events
from pykafka_classic.common.api_version import KAFKA_2_7_IV2
from pykafka_classic.common.clock import Clock, after
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code, Create, GetData, Result, SetData, ZooKeeper
from pykafka_classic.protocol.messages.alter_isr import (
    AlterIsrRequest,
    AlterIsrRequestPartitionData,
    AlterIsrRequestTopicData,
    AlterIsrResponse,
    AlterIsrResponsePartitionData,
)
from pykafka_classic.protocol.network import Channel, Disconnected, Network
from pykafka_classic.server.metadata_cache import MetadataCache
from zk_schema import isr_change_notification, partition_state
from zk_schema.partition_state import TopicPartitionStateZNode

log = logging.getLogger("kafka.server.AlterIsrManager")

RESEND_MS: Final = 50
LOOK_UP_MS: Final = 100
ALTER_ISR_VERSION: Final = 0
RETRY_MS: Final = 1000
PUBLISH_CHECK_MS: Final = 2500
PUBLISH_QUIET_MS: Final = 5000
PUBLISH_LATEST_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class IsrManagerServices:
    """What either variant needs."""

    clock: Clock
    network: Network
    zk: ZooKeeper
    metadata_cache: MetadataCache
    broker_epoch: Callable[[], int]


class AlterIsrManager:
    """Asks the controller.

    Invariant: an item is in `_unsent` until its verdict is about to be told; `_sending` is true while a request is under way.
    """

    def __init__(self, config: KafkaConfig, services: IsrManagerServices) -> None:
        self._config = config
        self._services = services
        self._unsent: dict[TopicPartition, AlterIsrItem] = {}
        self._sending = False
        self._stopped = False
        self._channel: tuple[Node, Channel] | None = None
        self._refusal = ErrorCode.NONE  # the last answer's top-level error

    def start(self) -> None:
        """Nothing to do before the first change."""

    def shutdown(self) -> None:
        """Ask nothing more."""
        self._stopped = True
        self._drop_channel()

    def submit(self, item: AlterIsrItem) -> bool:
        """Propose a change; False where one of this partition waits already."""
        if item.topic_partition in self._unsent:
            return False
        self._unsent[item.topic_partition] = item
        if not self._sending and not self._stopped:
            self._sending = True
            self._services.clock.call_later(0, self._begin)
        return True

    def clear_pending(self, topic_partition: TopicPartition) -> None:
        """Drop what waits: a LeaderAndIsr has overtaken it."""
        self._unsent.pop(topic_partition, None)

    def _begin(self) -> None:
        spawn(self._send_all()).when_settled(self._ended)

    def _ended(self, outcome: Promise[None]) -> None:
        self._sending = False
        error = outcome.error()
        if error is not None:
            log.error("[AlterIsrManager] Error due to a bug", exc_info=error)

    async def _send_all(self) -> None:
        while self._unsent and not self._stopped:
            items = list(self._unsent.values())
            response = await self._ask(items)
            if response is None:
                await after(self._services.clock, LOOK_UP_MS)
            elif response.error_code:
                self._note_refusal(ErrorCode(response.error_code))
                if response.error_code == ErrorCode.NOT_CONTROLLER:
                    self._drop_channel()
                await after(self._services.clock, RESEND_MS)
            else:
                self._refusal = ErrorCode.NONE
                if not self._tell(items, response):
                    await after(self._services.clock, RESEND_MS)

    def _note_refusal(self, error: ErrorCode) -> None:
        """Log it, but not each time: who is cut off from ZooKeeper is refused 20 times a second."""
        if error is not self._refusal:
            log.info("[AlterIsrManager] The controller answered %s; asking again until it does not", error.name)
        self._refusal = error

    async def _ask(self, items: list[AlterIsrItem]) -> AlterIsrResponse | None:
        cache = self._services.metadata_cache
        node = cache.node(cache.controller_id(), self._config.inter_broker_listener)
        if node is None:
            return None
        if self._channel is None or self._channel[0] != node:
            self._drop_channel()
            self._channel = node, self._services.network.channel(node.host, node.port, client_id=str(self._config.broker_id))
        request = AlterIsrRequest(broker_id=self._config.broker_id, broker_epoch=self._services.broker_epoch(), topics=_topics(items))
        try:
            response = await self._channel[1].send(request, ALTER_ISR_VERSION, timeout_ms=self._config.request_timeout_ms)
        except Disconnected as error:
            log.info("[AlterIsrManager] Lost the controller %s: %s", node, error)
            self._drop_channel()
            return None
        assert isinstance(response, AlterIsrResponse)
        return response

    def _tell(self, items: list[AlterIsrItem], response: AlterIsrResponse) -> bool:
        """Pass the verdicts on; False where some are missing, which has to be asked again."""
        complete = True
        verdicts = {TopicPartition(topic.name, partition.partition_index): partition for topic in response.topics for partition in topic.partitions}
        for item in items:
            verdict = verdicts.get(item.topic_partition)
            if self._unsent.get(item.topic_partition) is not item:
                continue  # overtaken meanwhile
            if verdict is None:
                log.warning("[AlterIsrManager] The controller said nothing about %s", item.topic_partition)
                complete = False
                continue
            del self._unsent[item.topic_partition]  # first: the verdict may bring about the next change
            item.on_verdict(_verdict(verdict))
        return complete

    def _drop_channel(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel[1].close()


def _topics(items: list[AlterIsrItem]) -> list[AlterIsrRequestTopicData]:
    topics: dict[str, AlterIsrRequestTopicData] = {}
    for item in items:
        topic = topics.setdefault(item.topic_partition.topic, AlterIsrRequestTopicData(name=item.topic_partition.topic))
        wanted = item.leader_and_isr
        topic.partitions.append(
            AlterIsrRequestPartitionData(
                partition_index=item.topic_partition.partition,
                leader_epoch=wanted.leader_epoch,
                new_isr=list(wanted.isr),
                current_isr_version=wanted.zk_version,
            )
        )
    return list(topics.values())


def _verdict(partition: AlterIsrResponsePartitionData) -> LeaderAndIsr | ErrorCode:
    if partition.error_code:
        return ErrorCode(partition.error_code)
    return LeaderAndIsr(partition.leader_id, partition.leader_epoch, tuple(partition.isr), partition.current_isr_version)


class ZkIsrManager:
    """Writes the state znode, for clusters whose controllers know no AlterIsr yet (inter.broker.protocol.version below 2.7-IV2).

    Invariants: a partition is in `_pending` until its verdict is about to be told; `_changed` has what no notification has told yet.
    """

    def __init__(self, services: IsrManagerServices) -> None:
        self._services = services
        self._pending: set[TopicPartition] = set()
        self._changed: set[TopicPartition] = set()
        self._last_change_ms = 0.0
        self._last_published_ms = services.clock.monotonic_ms()
        self._stopped = False

    def start(self) -> None:
        """Look now and then whether a notification is due."""
        self._services.clock.call_later(PUBLISH_CHECK_MS, self._look)

    def shutdown(self) -> None:
        """Write nothing more."""
        self._stopped = True

    def submit(self, item: AlterIsrItem) -> bool:
        """Compare and set; the verdict comes when ZooKeeper has answered."""
        if item.topic_partition in self._pending:
            return False
        self._pending.add(item.topic_partition)
        self._services.clock.call_later(0, lambda: self._begin(item))
        return True

    def clear_pending(self, topic_partition: TopicPartition) -> None:
        """A write that has been sent can't be taken back: its verdict is ignored by the partition."""

    def _begin(self, item: AlterIsrItem) -> None:
        spawn(self._write(item)).when_settled(lambda outcome: self._settled(item, outcome))

    def _settled(self, item: AlterIsrItem, outcome: Promise[LeaderAndIsr | ErrorCode]) -> None:
        error = outcome.error()
        if error is not None:
            log.error("[ZkIsrManager] Writing the ISR of %s failed", item.topic_partition, exc_info=error)
        verdict = ErrorCode.UNKNOWN_SERVER_ERROR if error is not None else outcome.result()
        if verdict is ErrorCode.UNKNOWN_SERVER_ERROR:  # the partition will try again: not while a session is being renewed
            self._services.clock.call_later(RETRY_MS, lambda: self._tell(item, verdict))
        else:
            self._tell(item, verdict)

    def _tell(self, item: AlterIsrItem, verdict: LeaderAndIsr | ErrorCode) -> None:
        self._pending.discard(item.topic_partition)
        if not self._stopped:
            item.on_verdict(verdict)

    async def _write(self, item: AlterIsrItem) -> LeaderAndIsr | ErrorCode:
        wanted = item.leader_and_isr
        path = partition_state.path(*item.topic_partition)
        stored = TopicPartitionStateZNode(leader=wanted.leader, leader_epoch=wanted.leader_epoch, isr=wanted.isr, controller_epoch=item.controller_epoch)
        [result] = await self._services.zk.submit([SetData(path, partition_state.encode(stored), wanted.zk_version)])
        if result.code is Code.BAD_VERSION:  # perhaps our own write, whose answer was lost
            [result] = await self._services.zk.submit([GetData(path)])
            if result.ok and partition_state.decode(result.data) != stored:
                return ErrorCode.INVALID_UPDATE_VERSION
        if result.code is Code.NO_NODE:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if not result.ok or result.stat is None:
            return ErrorCode.UNKNOWN_SERVER_ERROR
        self._changed.add(item.topic_partition)
        self._last_change_ms = self._services.clock.monotonic_ms()
        facts = {"isr": list(wanted.isr), "leader_epoch": wanted.leader_epoch, "zk_version": result.stat.version}
        broker_events.emit(broker_events.ISR_WRITTEN, partition=str(item.topic_partition), **facts)
        return LeaderAndIsr(wanted.leader, wanted.leader_epoch, wanted.isr, result.stat.version)

    # Telling the controller

    def _look(self) -> None:
        if self._stopped:
            return
        self._services.clock.call_later(PUBLISH_CHECK_MS, self._look)
        now_ms = self._services.clock.monotonic_ms()
        quiet = now_ms - self._last_change_ms > PUBLISH_QUIET_MS
        if self._changed and (quiet or now_ms - self._last_published_ms > PUBLISH_LATEST_MS):
            self._last_published_ms = now_ms
            self._publish()

    def _publish(self) -> None:
        changed, self._changed = self._changed, set()

        def published(answers: Promise[list[Result]]) -> None:
            [result] = answers.result()
            if not result.ok:
                log.warning("[ZkIsrManager] Telling the controller of %d ISR changes failed: %s", len(changed), result.code.name)
                self._changed |= changed

        data = isr_change_notification.encode(sorted(changed))
        self._services.zk.submit([Create(isr_change_notification.CREATE_PATH, data, sequential=True)]).when_settled(published)


def make_isr_manager(config: KafkaConfig, services: IsrManagerServices) -> AlterIsrManager | ZkIsrManager:
    """The variant that the brokers' protocol asks for."""
    if config.inter_broker_api_version >= KAFKA_2_7_IV2:
        return AlterIsrManager(config, services)
    return ZkIsrManager(services)
