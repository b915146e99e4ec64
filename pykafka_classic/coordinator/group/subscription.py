"""Which topics a consumer group reads, told from its members' metadata (facts/protocol.md 18).

The coordinator looks inside for two questions only: may an offset expire, may it be deleted.
"""

from __future__ import annotations

from struct import Struct

from pykafka_classic.coordinator.group.group_metadata import GroupMetadata, GroupState
from pykafka_classic.protocol.codec import decode
from pykafka_classic.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from pykafka_classic.protocol.schema import SchemaError

CONSUMER_PROTOCOL_TYPE = "consumer"
_VERSION = Struct(">h")


def subscribed_topics(group: GroupMetadata) -> frozenset[str] | None:
    """The topics of a consumer group's members; None where that can't be told (another protocol type, a rebalance under way, metadata of another form)."""
    if group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    if group.state in (GroupState.EMPTY, GroupState.DEAD):
        return frozenset()
    if group.protocol_name is None:
        return None
    topics: set[str] = set()
    try:
        for member in group.members.values():
            metadata = dict(member.protocols).get(group.protocol_name, b"")
            # Newer versions only append fields: the first ones can be read with version 0.
            topics.update(decode(ConsumerProtocolSubscription, 0, metadata, _VERSION.size)[0].topics)
    except SchemaError:
        return None
    return frozenset(topics)
