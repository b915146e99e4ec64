"""AlterConfigs (key 33): replace all of a resource's own configuration.

IncrementalAlterConfigs, which keeps what it does not name, is to be preferred (KIP-339).
"""

from __future__ import annotations

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Each resource succeeds or fails on its own."""
    return spawn(_alter_all(broker, request.expect(AlterConfigsRequest)))


async def _alter_all(broker: BrokerServices, body: AlterConfigsRequest) -> Message:
    return AlterConfigsResponse(responses=[await _alter(broker, resource, validate_only=body.validate_only) for resource in body.resources])


async def _alter(broker: BrokerServices, resource: AlterConfigsResource, *, validate_only: bool) -> AlterConfigsResourceResponse:
    answer = AlterConfigsResourceResponse(resource_type=resource.resource_type, resource_name=resource.resource_name, error_message=None)
    entries = [(entry.name, entry.value) for entry in resource.configs]
    try:
        await broker.config_admin.replace(resource.resource_type, resource.resource_name, entries, validate_only=validate_only)
    except KafkaError as error:
        answer.error_code, answer.error_message = error.code, str(error)
    return answer
