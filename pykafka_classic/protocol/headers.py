"""The headers before each request and response. Which version of a header goes with a message: `ApiSpec.request_header_version`, `response_header_version`.

`RequestHeader` and `ResponseHeader` are messages like any other; the functions below read and write the same bytes without copying the frame around them.
Source: facts/protocol.md 2, 2.8:clients/src/main/resources/common/message/{RequestHeader,ResponseHeader}.json.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from struct import Struct
from typing import Final

from pykafka_classic.common.varint import VarintError
from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.codec_runtime import skip_tags
from pykafka_classic.protocol.schema import LATEST, Message, SchemaError, Versions

KEY_AND_VERSION: Final = Struct(">hh")  # the first bytes of every request: they say how the rest of the header looks
_FIXED: Final = Struct(">hhi")
_WITH_CLIENT_ID: Final = Struct(">hhih")  # and the length of the client id
_CORRELATION_ID: Final = Struct(">i")
assert _FIXED.size == 8
assert _CORRELATION_ID.size == 4


@dataclass(slots=True)
class RequestHeader(Message):
    """Before the body of a request."""

    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    request_api_key: int = wire.int16()
    request_api_version: int = wire.int16()
    correlation_id: int = wire.int32()  # the response repeats it; the broker does not look at it
    # Never compact: a broker that does not know the version must still find the client id (KIP-482).
    client_id: str | None = wire.classic_string("1+", nullable="1+")


@dataclass(slots=True)
class ResponseHeader(Message):
    """Before the body of a response."""

    VALID_VERSIONS = Versions(0, 1)
    FLEXIBLE_VERSIONS = Versions(1, LATEST)

    correlation_id: int = wire.int32()


def read_request_header(frame: memoryview, header_version: int) -> tuple[RequestHeader, int]:
    """The header at the beginning of a request, and where the body begins. Raises SchemaError."""
    try:
        if header_version == 0:
            return RequestHeader(*_FIXED.unpack_from(frame)), _FIXED.size
        key, version, correlation_id, length = _WITH_CLIENT_ID.unpack_from(frame)
        end = _WITH_CLIENT_ID.size + max(length, 0)
        client_id = str(frame[_WITH_CLIENT_ID.size : end], "utf-8", "replace") if length >= 0 else None
        position = _skip_tags(frame, end) if header_version > 1 else end
    except (struct.error, IndexError, VarintError) as error:
        raise SchemaError(f"a request header v{header_version} is cut short: {error}") from None
    if position > len(frame):
        raise SchemaError(f"a request header v{header_version} is cut short")
    return RequestHeader(key, version, correlation_id, client_id), position


def read_response_header(frame: memoryview, header_version: int) -> tuple[int, int]:
    """The correlation id of a response, and where its body begins. Raises SchemaError."""
    try:
        (correlation_id,) = _CORRELATION_ID.unpack_from(frame)
        position = _skip_tags(frame, _CORRELATION_ID.size) if header_version > 0 else _CORRELATION_ID.size
    except (struct.error, IndexError, VarintError) as error:
        raise SchemaError(f"a response header v{header_version} is cut short: {error}") from None
    return correlation_id, position


def _skip_tags(frame: memoryview, position: int) -> int:
    """Nearly always there are no tags: one zero byte."""
    return position + 1 if frame[position] == 0 else skip_tags(frame, position)


def response_header(correlation_id: int, header_version: int) -> bytes:
    """The bytes of a response header; no tags are known for it."""
    header = _CORRELATION_ID.pack(correlation_id)
    return header + b"\0" if header_version >= 1 else header
