"""Who appends, which decides how much is checked. Source: AppendOrigin in 2.8 log/Log.scala."""

from __future__ import annotations

from enum import Enum


class AppendOrigin(Enum):
    """Where records come from."""

    REPLICATION = "replication"  # a follower's fetch, or recovery: checked when the leader took them
    COORDINATOR = "coordinator"  # the group or transaction coordinator on this broker: markers, offsets
    CLIENT = "client"  # a producer: everything is checked
