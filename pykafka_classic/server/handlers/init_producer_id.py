"""InitProducerId (key 22): an idempotent producer gets an id that nobody else has; a transactional one becomes the only producer of its transactional id.

KIP-98; KIP-360 for producers that say who they were. facts/coordination.md 6.2.
"""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.coordinator.transaction.transaction_coordinator import Initialized, Producer
from pykafka_classic.coordinator.transaction.transaction_metadata import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from pykafka_classic.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.transaction_errors import told
from pykafka_classic.server.request import Request

PRODUCER_FENCED_KNOWN_SINCE = 4


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """A producer id and epoch. Errors answer -1 and -1 (observed.md, Wire)."""
    body = request.expect(InitProducerIdRequest)
    if (body.producer_id == NO_PRODUCER_ID) != (body.producer_epoch == NO_PRODUCER_EPOCH):
        return _response(Initialized(ErrorCode.INVALID_REQUEST), request)
    return spawn(_initialize(broker, request, body))


async def _initialize(broker: BrokerServices, request: Request, body: InitProducerIdRequest) -> Message:
    if body.transactional_id is None:
        return InitProducerIdResponse(producer_id=await broker.producer_ids.generate(), producer_epoch=0)
    expected = None if body.producer_id == NO_PRODUCER_ID else Producer(body.producer_id, body.producer_epoch)
    outcome = await broker.transactions.coordinator.init_producer_id(body.transactional_id, body.transaction_timeout_ms, expected)
    return _response(outcome, request)


def _response(outcome: Initialized, request: Request) -> Message:
    error = told(outcome.error, request, known_since=PRODUCER_FENCED_KNOWN_SINCE)
    return InitProducerIdResponse(error_code=error, producer_id=outcome.producer.id, producer_epoch=outcome.producer.epoch)
