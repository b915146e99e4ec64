"""DescribeClientQuotas (key 48): quotas by a filter on their entities (KIP-546). Any broker answers: they lie in ZooKeeper."""

from __future__ import annotations

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.client_quotas import FilterComponent
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """All or nothing."""
    return spawn(_describe(broker, request.expect(DescribeClientQuotasRequest)))


async def _describe(broker: BrokerServices, body: DescribeClientQuotasRequest) -> Message:
    components = [FilterComponent(each.entity_type, each.match_type, each.match) for each in body.components]
    try:
        quotas = await broker.client_quotas.describe(components, strict=body.strict)
    except KafkaError as error:
        return DescribeClientQuotasResponse(error_code=error.code, error_message=str(error), entries=None)
    entries = [
        EntryData(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in quota.entity],
            values=[ValueData(key=key, value=value) for key, value in quota.values.items()],
        )
        for quota in quotas
    ]
    return DescribeClientQuotasResponse(entries=entries)
