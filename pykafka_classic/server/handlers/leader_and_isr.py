"""LeaderAndIsr (key 4): the controller makes this broker leader or follower of partitions. facts/coordination.md 4.1, protocol.md 14."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.broker_epoch import is_stale
from pykafka_classic.server.request import Request
from pykafka_classic.server.zk_operations import SessionEnded


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """Apply what is newer than what we know; refuse a request meant for this broker's previous registration.

    Topics without a log here are looked up in ZooKeeper first, as a new log needs its topic's overrides; all others (a failover's) wait for nothing.
    """
    body = request.expect(LeaderAndIsrRequest)
    if is_stale(broker, body.broker_epoch, "LeaderAndIsr"):
        return LeaderAndIsrResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    new = _topics_without_log(broker, body)
    if new:
        return spawn(_load_and_apply(broker, body, request.version, new))
    return broker.replica_manager.become_leader_or_follower(body, version=request.version)


async def _load_and_apply(broker: BrokerServices, body: LeaderAndIsrRequest, version: int, topics: list[str]) -> Message:
    try:
        await broker.topic_configs.load(topics)
    except SessionEnded:  # the last one, while the broker stops: its registration is gone with it
        return LeaderAndIsrResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    if is_stale(broker, body.broker_epoch, "LeaderAndIsr"):  # the session ended meanwhile
        return LeaderAndIsrResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    return broker.replica_manager.become_leader_or_follower(body, version=version)


def _topics_without_log(broker: BrokerServices, body: LeaderAndIsrRequest) -> list[str]:
    named = [TopicPartition(state.topic_name, partition.partition_index) for state in body.topic_states for partition in state.partition_states]
    named += [TopicPartition(partition.topic_name, partition.partition_index) for partition in body.ungrouped_partition_states]
    return sorted({place.topic for place in named if broker.replica_manager.local_log(place) is None})
