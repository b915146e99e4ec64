"""Whatever the bytes or the values: decoding fails only with SchemaError and within bounds, and what was written is read back."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykafka_classic.protocol.api_keys import ApiKey, spec_of, zk_broker_apis
from pykafka_classic.protocol.codec import decode, encode, encode_parts
from pykafka_classic.protocol.connection import ClientConnection, CloseConnection, RequestContext, ServerConnection
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest
from pykafka_classic.protocol.schema import FieldSchema, Message, SchemaError, Struct, WireType, fields_of, join_records
from tests.golden.protocol_data import lines, message_class

KINDS: list[type[Message]] = [kind for key in ApiKey for kind in (spec_of(key).request, spec_of(key).response)]
VERSIONS = [(kind, version) for kind in KINDS for version in range(kind.VALID_VERSIONS.first, kind.VALID_VERSIONS.last + 1)]
RANGES = {
    WireType.INT8: (-(1 << 7), (1 << 7) - 1),
    WireType.INT16: (-(1 << 15), (1 << 15) - 1),
    WireType.UINT16: (0, (1 << 16) - 1),
    WireType.INT32: (-(1 << 31), (1 << 31) - 1),
    WireType.INT64: (-(1 << 63), (1 << 63) - 1),
}
STRATEGIES: dict[tuple[type[Struct], int], st.SearchStrategy[Any]] = {}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


def values(wire_type: WireType, element: WireType | type[Struct] | None, version: int) -> st.SearchStrategy[Any]:
    """Values of one type, null aside."""
    match wire_type:
        case WireType.BOOLEAN:
            return st.booleans()
        case WireType.FLOAT64:
            return st.floats(allow_nan=False)
        case WireType.UUID:
            return st.binary(min_size=16, max_size=16)
        case WireType.STRING:
            return TEXT
        case WireType.BYTES | WireType.RECORDS:
            return st.binary(max_size=300)
        case WireType.STRUCT:
            assert isinstance(element, type)
            return structs(element, version)
        case WireType.ARRAY:
            assert element is not None
            inner = values(element, None, version) if isinstance(element, WireType) else structs(element, version)
            return st.lists(inner, max_size=3)
        case _:
            return st.integers(*RANGES[wire_type])


def field_values(field: FieldSchema, version: int) -> st.SearchStrategy[Any]:
    """Values of one field, null where the version allows it."""
    plain = values(field.wire_type, field.element, version)
    return st.none() | plain if version in field.nullable else plain


def structs(kind: type[Struct], version: int) -> st.SearchStrategy[Any]:
    """Messages with a value in every field that the version has."""
    if (kind, version) not in STRATEGIES:
        wanted = {field.name: field_values(field, version) for field in fields_of(kind) if version in field.versions}
        STRATEGIES[kind, version] = st.builds(kind, **wanted)
    return STRATEGIES[kind, version]


def plain(value: Any) -> Any:
    """The message with records as bytes, so that it compares."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Struct):
        return type(value), [plain(getattr(value, field.name)) for field in fields_of(type(value))]
    return value


def elements(value: Any) -> int:
    """How many array elements a message holds, at all depths."""
    if isinstance(value, list):
        return len(value) + sum(map(elements, value))
    if isinstance(value, Struct):
        return sum(elements(getattr(value, field.name)) for field in fields_of(type(value)))
    return 0


@settings(max_examples=400)
@given(st.data())
def test_what_was_written_is_read_back(data: st.DataObject) -> None:
    kind, version = data.draw(st.sampled_from(VERSIONS))
    message = data.draw(structs(kind, version))
    written = encode(message, version)
    decoded, end = decode(kind, version, written)
    assert end == len(written)
    assert plain(decoded) == plain(message)
    assert encode(decoded, version) == written
    assert join_records(encode_parts(decoded, version)) == written


@settings(max_examples=400)
@given(st.data(), st.sampled_from(VERSIONS))
def test_message_cut_short_is_a_schema_error(data: st.DataObject, chosen: tuple[type[Message], int]) -> None:
    kind, version = chosen
    written = encode(data.draw(structs(kind, version)), version)
    for length in range(min(len(written), 200)):
        with pytest.raises(SchemaError):
            decode(kind, version, written[:length])


@settings(max_examples=1000)
@given(st.sampled_from(VERSIONS), st.binary(max_size=400))
def test_random_bytes_give_a_bounded_message_or_a_schema_error(chosen: tuple[type[Message], int], data: bytes) -> None:
    try:
        message, end = decode(*chosen, data)
    except SchemaError:
        return
    assert end <= len(data)
    assert elements(message) <= len(data)


@settings(max_examples=1000)
@given(st.sampled_from(lines("vectors")), st.data())
def test_changed_bytes_of_kafka_give_a_bounded_message_or_a_schema_error(line: dict[str, Any], data: st.DataObject) -> None:
    changed = bytearray.fromhex(line["hex"]) or bytearray(1)
    for position in data.draw(st.lists(st.integers(0, len(changed) - 1), min_size=1, max_size=4)):
        changed[position] = data.draw(st.integers(0, 255))
    try:
        message, end = decode(message_class(line["api"], line["type"]), line["version"], changed)
    except SchemaError:
        return
    assert end <= len(changed)
    assert elements(message) <= len(changed)


@settings(max_examples=500)
@given(st.binary(max_size=300))
def test_a_connection_survives_any_bytes(data: bytes) -> None:
    server = ServerConnection(zk_broker_apis())
    server.receive_data(data)
    client = ClientConnection("me")
    client.send(HeartbeatRequest(), 0)
    with contextlib.suppress(SchemaError):
        client.receive_data(data)


@settings(max_examples=500)
@given(st.sampled_from(sorted(zk_broker_apis().items())), st.binary(max_size=100), st.data())
def test_random_body_of_a_served_api_is_a_request_or_closes(api: tuple[ApiKey, tuple[int, int]], body: bytes, data: st.DataObject) -> None:
    key, (low, high) = api
    version = data.draw(st.integers(low, high))
    frame = key.to_bytes(2, "big") + version.to_bytes(2, "big") + b"\0\0\0\5" + b"\xff\xff\0" + body
    (event,) = ServerConnection(zk_broker_apis()).receive_data(len(frame).to_bytes(4, "big") + frame)
    assert isinstance(event, RequestContext | CloseConnection)
