"""ListGroups (key 16): the groups that this broker coordinates; from v4 with their states (KIP-518)."""

from __future__ import annotations

from pykafka_classic.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Only groups of this broker: a client asks all of them."""
    body = request.expect(ListGroupsRequest)
    error, groups = broker.groups.admin.list(body.states_filter)
    return ListGroupsResponse(
        error_code=error,
        groups=[ListedGroup(group_id=group.group_id, protocol_type=group.protocol_type or "", group_state=group.state.value) for group in groups],
    )
