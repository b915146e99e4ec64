"""AddOffsetsToTxn (key 25): the transaction is going to commit offsets of a group: its partition of `__consumer_offsets` joins. facts/coordination.md 6.2."""

from __future__ import annotations

from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_name import GROUP_METADATA_TOPIC
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.transaction.transaction_coordinator import Producer
from pykafka_classic.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.transaction_errors import told
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """One error code."""
    body = request.expect(AddOffsetsToTxnRequest)
    partition = TopicPartition(GROUP_METADATA_TOPIC, broker.groups.store.partition_for(body.group_id))
    producer = Producer(body.producer_id, body.producer_epoch)
    adding = spawn(broker.transactions.coordinator.add_partitions(body.transactional_id, producer, frozenset({partition})))
    return adding.then(lambda error: AddOffsetsToTxnResponse(error_code=told(error, request)))
