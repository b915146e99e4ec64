"""The protocol of one connection without its socket: bytes in, requests and answers out (sans-IO).

`ServerConnection` is a broker's end, `ClientConnection` the end of whoever asks: a client, a follower, the controller. Neither knows time nor threads;
the edges feed them and send what they give. Responses leave in the order of the requests, so whoever serves must keep that order.

| a broker receives | it decides |
|---|---|
| a request that it serves and can read | `RequestContext`; bytes behind the body are ignored |
| ApiVersions in a version it does not know | `Answer` in version 0, with error 35 and its own versions of that one API (KIP-511) |
| an unknown API or version, a message cut short, a wrong frame length | `CloseConnection`; nothing behind it is looked at |

Source: facts/protocol.md 2 and 5, facts/observed.md "Odd bytes", 2.8:clients/src/main/java/org/apache/kafka/common/requests/RequestContext.java.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.api_keys import ApiKey, ApiSpec, spec_of
from pykafka_classic.protocol.codec import decode, encode, encode_parts
from pykafka_classic.protocol.framing import SOCKET_REQUEST_MAX_BYTES, FrameBuffer, frame_parts
from pykafka_classic.protocol.headers import KEY_AND_VERSION, RequestHeader, read_request_header, read_response_header, response_header
from pykafka_classic.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from pykafka_classic.protocol.schema import Message, Records, SchemaError

_INT32_MAX: Final = 0x7FFFFFFF


@dataclass(slots=True)
class RequestContext:
    """A request, and what is needed to answer it. Nobody changes it; not frozen, for that would make each request's context three times as slow."""

    api_key: ApiKey
    api_version: int
    correlation_id: int
    client_id: str | None
    body: Message
    size: int  # bytes of the frame, header included, length not: what quotas and metrics count


@dataclass(frozen=True, slots=True)
class Answer:
    """A response that needs no handler: send it when the answers to earlier requests have been sent."""

    parts: list[Records]


@dataclass(frozen=True, slots=True)
class CloseConnection:
    """Close without an answer, when the answers to earlier requests have been sent."""

    reason: str  # for the log


ServerEvent = RequestContext | Answer | CloseConnection


class ServerConnection:
    """A broker's end of one connection. `apis` says what this listener serves: for each API the lowest and the highest version."""

    def __init__(self, apis: Mapping[ApiKey, tuple[int, int]], max_size: int = SOCKET_REQUEST_MAX_BYTES) -> None:
        self._apis = apis
        self._frames = FrameBuffer(max_size)
        self._closed = False

    def receive_data(self, data: bytes) -> list[ServerEvent]:
        """What the next bytes of the stream bring about, in order. After a `CloseConnection` always nothing."""
        return [] if self._closed else self._events(self._frames.feed(data))

    def room(self) -> memoryview | None:
        """Where the next bytes of the stream may be read into, if that saves a copy; `received` then says how many came."""
        return self._frames.room()

    def received(self, count: int) -> list[ServerEvent]:
        """As `receive_data`, for bytes that were read into `room`."""
        return [] if self._closed else self._events(self._frames.filled(count))

    def _events(self, frames: list[memoryview]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for frame in frames:
            try:
                events.append(self._request(frame))
            except SchemaError as error:
                return self._close(events, str(error))
        if self._frames.error is not None:
            return self._close(events, str(self._frames.error))
        return events

    def encode_response(self, context: RequestContext, response: Message) -> list[Records]:
        """The frame that answers a request, as parts to send one after the other. Raises SchemaError for a response that the request's version cannot carry."""
        spec = spec_of(context.api_key)
        header = response_header(context.correlation_id, spec.response_header_version(context.api_version))
        return frame_parts(header, encode_parts(response, context.api_version))

    def _close(self, events: list[ServerEvent], reason: str) -> list[ServerEvent]:
        self._closed = True
        events.append(CloseConnection(reason))
        return events

    def _request(self, frame: memoryview) -> RequestContext | Answer:
        if len(frame) < KEY_AND_VERSION.size:
            raise SchemaError(f"a request of {len(frame)} bytes has no header")
        key, version = KEY_AND_VERSION.unpack_from(frame)
        served = self._apis.get(key)
        if served is None:
            raise SchemaError(f"API key {key} is not served here")
        spec = spec_of(key)
        header, position = read_request_header(frame, spec.request_header_version(version))
        if not served[0] <= version <= served[1]:
            return self._unknown_version(spec, header, served)
        body, _ = decode(spec.request, version, frame, position)
        return RequestContext(spec.key, version, header.correlation_id, header.client_id, body, len(frame))

    def _unknown_version(self, spec: ApiSpec, header: RequestHeader, served: tuple[int, int]) -> Answer:
        if spec.key != ApiKey.API_VERSIONS:
            raise SchemaError(f"{spec.key.camel_name} v{header.request_api_version} is not served here, only {served[0]} to {served[1]}")
        entry = ApiVersion(api_key=spec.key, min_version=served[0], max_version=served[1])
        response = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[entry])
        return Answer(frame_parts(response_header(header.correlation_id, 0), encode_parts(response, 0)))


@dataclass(frozen=True, slots=True)
class InFlight:
    """A request that has been sent and not yet answered."""

    correlation_id: int
    api_key: ApiKey
    version: int


class ClientConnection:
    """The end that asks. Any SchemaError means that the connection is of no more use."""

    def __init__(self, client_id: str | None, max_size: int = _INT32_MAX) -> None:
        self._client_id = client_id
        self._frames = FrameBuffer(max_size)
        self._in_flight: deque[InFlight] = deque()
        self._next_correlation_id = 0

    @property
    def in_flight(self) -> tuple[InFlight, ...]:
        """Requests without an answer, the oldest first."""
        return tuple(self._in_flight)

    def send(self, request: Message, version: int, *, expects_response: bool = True) -> tuple[int, list[Records]]:
        """The correlation id of a request and its frame, as parts to send one after the other. Only a Produce with acks=0 expects no response."""
        spec = spec_of(ApiKey(request.API_KEY))
        correlation_id = self._next_correlation_id
        header = RequestHeader(spec.key, version, correlation_id, self._client_id)
        header_version = spec.request_header_version(version)
        if header_version == 0:
            header.client_id = ""
        parts = frame_parts(encode(header, header_version), encode_parts(request, version))
        self._next_correlation_id = (correlation_id + 1) & _INT32_MAX
        if expects_response:
            self._in_flight.append(InFlight(correlation_id, spec.key, version))
        return correlation_id, parts

    def receive_data(self, data: bytes) -> list[tuple[int, Message]]:
        """The responses that the next bytes complete, each with the correlation id of its request. Raises SchemaError."""
        return self._responses(self._frames.feed(data))

    def room(self) -> memoryview | None:
        """Where the next bytes of the stream may be read into, if that saves a copy; `received` then says how many came."""
        return self._frames.room()

    def received(self, count: int) -> list[tuple[int, Message]]:
        """As `receive_data`, for bytes that were read into `room`."""
        return self._responses(self._frames.filled(count))

    def _responses(self, frames: list[memoryview]) -> list[tuple[int, Message]]:
        responses = [self._response(frame) for frame in frames]
        if self._frames.error is not None:
            raise self._frames.error
        return responses

    def _response(self, frame: memoryview) -> tuple[int, Message]:
        if not self._in_flight:
            raise SchemaError("a response came that nobody asked for")
        expected = self._in_flight.popleft()
        spec = spec_of(expected.api_key)
        correlation_id, position = read_response_header(frame, spec.response_header_version(expected.version))
        if correlation_id != expected.correlation_id:
            raise SchemaError(f"a response to request {correlation_id} came where that to {expected.correlation_id} was due")
        version = 0 if _is_version_refusal(expected, frame, position) else expected.version
        return correlation_id, decode(spec.response, version, frame, position)[0]


def _is_version_refusal(expected: InFlight, frame: memoryview, position: int) -> bool:
    """A broker that does not know this version of ApiVersions answers in version 0, whose first field is the error code too."""
    error_code = int.from_bytes(frame[position : position + 2], "big")
    return expected.api_key == ApiKey.API_VERSIONS and error_code == ErrorCode.UNSUPPORTED_VERSION
