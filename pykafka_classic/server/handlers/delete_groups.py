"""DeleteGroups (key 42): empty groups only (KIP-229)."""

from __future__ import annotations

from pykafka_classic.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Each group succeeds or fails on its own."""
    body = request.expect(DeleteGroupsRequest)
    return DeleteGroupsResponse(
        results=[DeletableGroupResult(group_id=group_id, error_code=broker.groups.admin.delete(group_id)) for group_id in dict.fromkeys(body.groups_names)]
    )
