"""CreateAcls."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class AclCreation(Struct):
    """AclCreation."""

    resource_type: int = wire.int8()
    resource_name: str = wire.string()
    resource_pattern_type: int = wire.int8("1+", default=3)
    principal: str = wire.string()
    host: str = wire.string()
    operation: int = wire.int8()
    permission_type: int = wire.int8()


@dataclass(slots=True)
class CreateAclsRequest(Message):
    """CreateAclsRequest."""

    API_KEY = 30
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    creations: list[AclCreation] = wire.array(AclCreation)


@dataclass(slots=True)
class AclCreationResult(Struct):
    """AclCreationResult."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class CreateAclsResponse(Message):
    """CreateAclsResponse."""

    API_KEY = 30
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()
    results: list[AclCreationResult] = wire.array(AclCreationResult)
