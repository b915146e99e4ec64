"""FindCoordinator (key 10): which broker coordinates a group, or a transaction. facts/protocol.md 9.

The groups' topic is created when somebody first asks.

Differs from Kafka: this broker coordinates no transactions and does not create their topic; where another broker does (one of Apache Kafka in the same
cluster), clients are sent there.
"""

from __future__ import annotations

from pykafka_classic.common import topic_name
from pykafka_classic.common.clock import within
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.java import abs_java, string_hash
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.auto_topic_creation import CREATION_WAIT_MS
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request

GROUP, TRANSACTION = 0, 1


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """The coordinator's address, or COORDINATOR_NOT_AVAILABLE: ask again soon."""
    body = request.expect(FindCoordinatorRequest)
    if body.key_type == TRANSACTION:
        return _transaction_coordinator(broker, request, body.key)
    if body.key_type != GROUP:
        return FindCoordinatorResponse(error_code=ErrorCode.INVALID_REQUEST, node_id=-1, port=-1)
    if not broker.metadata_cache.contains_topic(topic_name.GROUP_METADATA_TOPIC):
        return spawn(_create(broker))
    partition = broker.groups.store.partition_for(body.key)
    return _leader_of(broker, request, topic_name.GROUP_METADATA_TOPIC, partition)


def _transaction_coordinator(broker: BrokerServices, request: Request, transactional_id: str) -> Message:
    count = broker.metadata_cache.partition_count(topic_name.TRANSACTION_STATE_TOPIC)
    if not count:
        return _not_available()
    partition = abs_java(string_hash(transactional_id)) % count
    found = _leader_of(broker, request, topic_name.TRANSACTION_STATE_TOPIC, partition)
    return _not_available() if found.node_id == broker.config.broker_id else found


def _leader_of(broker: BrokerServices, request: Request, topic: str, partition: int) -> FindCoordinatorResponse:
    node = broker.metadata_cache.leader_node(topic, partition, request.listener)
    if node is None:
        return _not_available()
    return FindCoordinatorResponse(error_message=ErrorCode.NONE.message, node_id=node.id, host=node.host, port=node.port)


async def _create(broker: BrokerServices) -> Message:
    await within(broker.clock, spawn(broker.auto_topic_creation.create([topic_name.GROUP_METADATA_TOPIC])), CREATION_WAIT_MS)
    return _not_available()


def _not_available() -> FindCoordinatorResponse:
    error = ErrorCode.COORDINATOR_NOT_AVAILABLE
    return FindCoordinatorResponse(error_code=error, error_message=error.message, node_id=-1, host="", port=-1)
