"""FindCoordinator (key 10): which broker coordinates a group, or a transaction. facts/protocol.md 9.

The topic that a coordinator keeps its state in is created when somebody first asks.
"""

from __future__ import annotations

from pykafka_classic.common import topic_name
from pykafka_classic.common.clock import within
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.api_keys import CoordinatorType
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.auto_topic_creation import CREATION_WAIT_MS
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """The coordinator's address, or COORDINATOR_NOT_AVAILABLE: ask again soon."""
    body = request.expect(FindCoordinatorRequest)
    if body.key_type == CoordinatorType.GROUP:
        topic, partition = topic_name.GROUP_METADATA_TOPIC, broker.groups.store.partition_for(body.key)
    elif body.key_type == CoordinatorType.TRANSACTION:
        topic, partition = topic_name.TRANSACTION_STATE_TOPIC, broker.transactions.store.partition_for(body.key)
    else:
        return FindCoordinatorResponse(error_code=ErrorCode.INVALID_REQUEST, node_id=-1, port=-1)
    if not broker.metadata_cache.contains_topic(topic):
        return spawn(_create(broker, topic))
    return _leader_of(broker, request, topic, partition)


def _leader_of(broker: BrokerServices, request: Request, topic: str, partition: int) -> FindCoordinatorResponse:
    node = broker.metadata_cache.leader_node(topic, partition, request.listener)
    if node is None:
        return _not_available()
    return FindCoordinatorResponse(error_message=ErrorCode.NONE.message, node_id=node.id, host=node.host, port=node.port)


async def _create(broker: BrokerServices, topic: str) -> Message:
    await within(broker.clock, spawn(broker.auto_topic_creation.create([topic])), CREATION_WAIT_MS)
    return _not_available()


def _not_available() -> FindCoordinatorResponse:
    error = ErrorCode.COORDINATOR_NOT_AVAILABLE
    return FindCoordinatorResponse(error_code=error, error_message=error.message, node_id=-1, host="", port=-1)
