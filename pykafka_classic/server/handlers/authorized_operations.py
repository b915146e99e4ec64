"""The `authorized_operations` bit sets: without an authorizer everything that a resource knows is allowed.

Bit n stands for AclOperation n (facts/protocol.md 7); which operations a resource type knows is kafka.security.authorizer.AclEntry.supportedOperations.
"""

from __future__ import annotations

from typing import Final

NOT_REQUESTED: Final = -(1 << 31)

READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = range(3, 13)


def _bits(*operations: int) -> int:
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS: Final = _bits(READ, WRITE, CREATE, DESCRIBE, DELETE, ALTER, DESCRIBE_CONFIGS, ALTER_CONFIGS)
GROUP_OPERATIONS: Final = _bits(READ, DESCRIBE, DELETE)
CLUSTER_OPERATIONS: Final = _bits(CREATE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE, ALTER, DESCRIBE)
