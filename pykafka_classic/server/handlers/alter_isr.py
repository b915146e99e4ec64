"""AlterIsr (key 56): a leader proposes new in-sync replicas to the controller (KIP-497). facts/coordination.md 3.10."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.protocol.messages.alter_isr import AlterIsrRequest, AlterIsrResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message | Promise[AlterIsrResponse]:
    """The controller's verdict on each proposal; NOT_CONTROLLER for the whole request elsewhere."""
    body = request.expect(AlterIsrRequest)
    if not broker.controller.is_active:
        return AlterIsrResponse(error_code=ErrorCode.NOT_CONTROLLER)
    return broker.controller.alter_isr(body)
