"""Removes the access rules that match filters."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DeleteAclsFilter(Struct):
    """Rules that match all parts are deleted; null and 1 (ANY) match everything."""

    resource_type_filter: int = wire.int8()
    resource_name_filter: str | None = wire.string(nullable="0+")
    pattern_type_filter: int = wire.int8("1+", default=3)  # 1 any, 2 match, 3 literal, 4 prefixed
    principal_filter: str | None = wire.string(nullable="0+")
    host_filter: str | None = wire.string(nullable="0+")
    operation: int = wire.int8()
    permission_type: int = wire.int8()  # 2 deny, 3 allow


@dataclass(slots=True)
class DeleteAclsRequest(Message):
    """Filters for rules to delete."""

    API_KEY = 31
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    filters: list[DeleteAclsFilter] = wire.array(DeleteAclsFilter)


@dataclass(slots=True)
class DeleteAclsMatchingAcl(Struct):
    """A rule that matched."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    resource_type: int = wire.int8()
    resource_name: str = wire.string()
    pattern_type: int = wire.int8("1+", default=3)  # 3 literal, 4 prefixed
    principal: str = wire.string()
    host: str = wire.string()
    operation: int = wire.int8()
    permission_type: int = wire.int8()  # 2 deny, 3 allow


@dataclass(slots=True)
class DeleteAclsFilterResult(Struct):
    """What became of one filter."""

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    matching_acls: list[DeleteAclsMatchingAcl] = wire.array(DeleteAclsMatchingAcl)


@dataclass(slots=True)
class DeleteAclsResponse(Message):
    """One entry for each filter, in their order."""

    API_KEY = 31
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    filter_results: list[DeleteAclsFilterResult] = wire.array(DeleteAclsFilterResult)
