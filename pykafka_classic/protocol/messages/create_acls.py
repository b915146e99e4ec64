"""Adds access rules. Any broker carries it out: rules lie in ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AclCreation(Struct):
    """A rule to add."""

    resource_type: int = wire.int8()  # 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token
    resource_name: str = wire.string()
    resource_pattern_type: int = wire.int8("1+", default=3)  # 3 literal, 4 prefixed
    principal: str = wire.string()
    host: str = wire.string()
    operation: int = wire.int8()
    permission_type: int = wire.int8()  # 2 deny, 3 allow


@dataclass(slots=True)
class CreateAclsRequest(Message):
    """Rules to add."""

    API_KEY = 30
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    creations: list[AclCreation] = wire.array(AclCreation)


@dataclass(slots=True)
class AclCreationResult(Struct):
    """What became of one rule."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class CreateAclsResponse(Message):
    """One entry for each rule, in their order."""

    API_KEY = 30
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    results: list[AclCreationResult] = wire.array(AclCreationResult)
