"""ControlledShutdown (key 7): a broker that wants to stop asks the controller to move its leaderships away. facts/coordination.md 2.4."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse, RemainingPartition
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """The partitions that the broker still leads; none: it may stop."""
    return spawn(_shut_down(broker, request.expect(ControlledShutdownRequest)))


async def _shut_down(broker: BrokerServices, body: ControlledShutdownRequest) -> Message:
    try:
        remaining = await broker.controller.controlled_shutdown(body.broker_id, body.broker_epoch)
    except KafkaError as error:
        return ControlledShutdownResponse(error_code=error.code)
    return ControlledShutdownResponse(
        error_code=ErrorCode.NONE,
        remaining_partitions=[RemainingPartition(topic_name=partition.topic, partition_index=partition.partition) for partition in sorted(remaining)],
    )
