"""Who commits offsets: what a producer that commits them in a transaction must know of the consumer. Source: KIP-447."""

from __future__ import annotations

from typing import NamedTuple


class GroupMetadata(NamedTuple):
    """On whose behalf offsets are committed (KIP-447): with a member's generation an old member of the group is refused."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
