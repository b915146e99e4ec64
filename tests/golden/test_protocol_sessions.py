"""Frames of real conversations: clients of four makes with brokers, and brokers among themselves."""

from __future__ import annotations

from typing import Any

import pytest

from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.headers import RequestHeader, ResponseHeader, read_request_header, read_response_header, response_header
from tests.golden.protocol_data import lines, message_class, to_json

# Without the refusals of ApiVersions v-1 and v4, which test_protocol_odd_bytes looks at.
FRAMES = [line for line in lines("session_frames") if line["version"] in spec_of(ApiKey(line["key"])).request.VALID_VERSIONS]
MINUS_TWO_TOPICS = "fffffffe"  # the body of one Metadata v1: an array length below -1 is null too
APIS = sorted({line["api"] for line in FRAMES})


def frames_of(api: str, direction: str) -> list[dict[str, Any]]:
    return [line for line in FRAMES if line["api"] == api and line["dir"] == direction]


@pytest.mark.parametrize("api", APIS)
def test_recorded_bodies_decode_to_kafkas_json_and_encode_to_the_same_bytes(api: str) -> None:
    for direction in ("request", "response"):
        for line in frames_of(api, direction):
            frame = bytes.fromhex(line["hex"])
            header_class = RequestHeader if direction == "request" else ResponseHeader
            _, start = decode(header_class, line["header_version"], frame)
            message, end = decode(message_class(api, direction), line["version"], frame, start)
            assert to_json(message, line["version"]) == line["json"]
            assert len(frame) - end == line["left_over"]
            assert encode(message, line["version"]) == frame[start:end] or frame[start:end].hex() == MINUS_TWO_TOPICS


@pytest.mark.parametrize("api", APIS)
def test_recorded_request_headers_are_read_alike_by_both_readers(api: str) -> None:
    for line in frames_of(api, "request"):
        frame = bytes.fromhex(line["hex"])
        version = spec_of(ApiKey(line["key"])).request_header_version(line["version"])
        header, end = read_request_header(memoryview(frame), version)
        assert version == line["header_version"]
        assert (header, end) == decode(RequestHeader, version, frame)
        assert (header.correlation_id, header.client_id) == (line["correlation"], line["client"] or "")  # None: a header v0
        assert encode(header, version) == frame[:end]


@pytest.mark.parametrize("api", APIS)
def test_recorded_response_headers_are_read_and_written(api: str) -> None:
    for line in frames_of(api, "response"):
        frame = bytes.fromhex(line["hex"])
        version = spec_of(ApiKey(line["key"])).response_header_version(line["version"])
        correlation_id, end = read_response_header(memoryview(frame), version)
        assert (version, correlation_id) == (line["header_version"], line["correlation"])
        assert response_header(correlation_id, version) == frame[:end]
