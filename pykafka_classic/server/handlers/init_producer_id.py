"""InitProducerId (key 22) for idempotent producers: an id nobody else has, epoch 0. facts/coordination.md 6.

Differs from Kafka: there is no transaction coordinator yet; a transactional id is answered COORDINATOR_NOT_AVAILABLE.
"""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request

NO_PRODUCER_ID, NO_PRODUCER_EPOCH = -1, -1


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """A new producer id. Errors answer producer id and epoch -1 (observed.md, Wire)."""
    body = request.expect(InitProducerIdRequest)
    if (body.producer_id == NO_PRODUCER_ID) != (body.producer_epoch == NO_PRODUCER_EPOCH):
        return _refusal(ErrorCode.INVALID_REQUEST)
    if body.transactional_id == "":
        return _refusal(ErrorCode.INVALID_REQUEST)
    if body.transactional_id is not None:
        return _refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return spawn(_generate(broker))


async def _generate(broker: BrokerServices) -> Message:
    return InitProducerIdResponse(producer_id=await broker.producer_ids.generate(), producer_epoch=0)


def _refusal(error: ErrorCode) -> Message:
    return InitProducerIdResponse(error_code=error, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH)
