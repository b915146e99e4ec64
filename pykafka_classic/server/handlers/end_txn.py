"""EndTxn (key 26): the producer commits or aborts. Answered once the outcome is stored; the markers follow. facts/coordination.md 6.2."""

from __future__ import annotations

from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.coordinator.transaction.transaction_coordinator import Producer
from pykafka_classic.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.transaction_errors import told
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """One error code."""
    body = request.expect(EndTxnRequest)
    producer = Producer(body.producer_id, body.producer_epoch)
    ending = spawn(broker.transactions.coordinator.end(body.transactional_id, producer, commit=body.committed))
    return ending.then(lambda error: EndTxnResponse(error_code=told(error, request)))
