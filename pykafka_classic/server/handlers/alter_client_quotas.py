"""AlterClientQuotas (key 49): set and remove quotas of users, client ids and addresses (KIP-546). Any broker writes them."""

from __future__ import annotations

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntityData,
    AlterClientQuotasResponseEntryData,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Each entity succeeds or fails on its own."""
    return spawn(_alter_all(broker, request.expect(AlterClientQuotasRequest)))


async def _alter_all(broker: BrokerServices, body: AlterClientQuotasRequest) -> Message:
    return AlterClientQuotasResponse(entries=[await _alter(broker, entry, validate_only=body.validate_only) for entry in body.entries])


async def _alter(broker: BrokerServices, entry: AlterClientQuotasRequestEntryData, *, validate_only: bool) -> AlterClientQuotasResponseEntryData:
    entity = {part.entity_type: part.entity_name for part in entry.entity}
    answer = AlterClientQuotasResponseEntryData(
        error_message=None, entity=[AlterClientQuotasResponseEntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
    )
    changes = {op.key: None if op.remove else op.value for op in entry.ops}
    try:
        await broker.client_quotas.alter(entity, changes, validate_only=validate_only)
    except KafkaError as error:
        answer.error_code, answer.error_message = error.code, str(error)
    return answer
