"""Lists the access rules that match a filter."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeAclsRequest(Message):
    """A filter: null and 1 (ANY) match everything."""

    API_KEY = 29
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    resource_type_filter: int = wire.int8()
    resource_name_filter: str | None = wire.string(nullable="0+")
    pattern_type_filter: int = wire.int8("1+", default=3)  # 1 any, 2 match, 3 literal, 4 prefixed
    principal_filter: str | None = wire.string(nullable="0+")
    host_filter: str | None = wire.string(nullable="0+")
    operation: int = wire.int8()
    permission_type: int = wire.int8()  # 2 deny, 3 allow


@dataclass(slots=True)
class AclDescription(Struct):
    """One rule of a resource."""

    principal: str = wire.string()
    host: str = wire.string()
    operation: int = wire.int8()
    permission_type: int = wire.int8()  # 2 deny, 3 allow


@dataclass(slots=True)
class DescribeAclsResource(Struct):
    """A resource pattern and its rules."""

    resource_type: int = wire.int8()
    resource_name: str = wire.string()
    pattern_type: int = wire.int8("1+", default=3)  # 3 literal, 4 prefixed
    acls: list[AclDescription] = wire.array(AclDescription)


@dataclass(slots=True)
class DescribeAclsResponse(Message):
    """The rules that matched."""

    API_KEY = 29
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    resources: list[DescribeAclsResource] = wire.array(DescribeAclsResource)
