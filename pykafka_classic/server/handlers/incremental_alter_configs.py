"""IncrementalAlterConfigs (key 44): set, delete, append or subtract single keys (KIP-339)."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.config_numbers import AlterOp
from pykafka_classic.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.config_admin import Change
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Each resource succeeds or fails on its own."""
    return spawn(_alter_all(broker, request.expect(IncrementalAlterConfigsRequest)))


async def _alter_all(broker: BrokerServices, body: IncrementalAlterConfigsRequest) -> Message:
    resources = {(resource.resource_type, resource.resource_name): resource for resource in body.resources}  # one that is named twice: the last counts
    return IncrementalAlterConfigsResponse(responses=[await _alter(broker, resource, validate_only=body.validate_only) for resource in resources.values()])


async def _alter(broker: BrokerServices, resource: AlterConfigsResource, *, validate_only: bool) -> AlterConfigsResourceResponse:
    answer = AlterConfigsResourceResponse(resource_type=resource.resource_type, resource_name=resource.resource_name, error_message=None)
    try:
        changes = [Change(entry.name, AlterOp(entry.config_operation), entry.value) for entry in resource.configs]
    except ValueError as error:
        answer.error_code, answer.error_message = ErrorCode.INVALID_REQUEST, str(error)
        return answer
    try:
        await broker.config_admin.change(resource.resource_type, resource.resource_name, changes, validate_only=validate_only)
    except KafkaError as error:
        answer.error_code, answer.error_message = error.code, str(error)
    return answer
