"""Headers, where the recorded ones do not reach."""

from __future__ import annotations

import pytest

from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.headers import RequestHeader, ResponseHeader, read_request_header, read_response_header
from pykafka_classic.protocol.schema import SchemaError
from tests.golden.protocol_data import lines

HEADERS = [line for line in lines("vectors") + lines("unknown_tags") if line["type"] == "header"]


@pytest.mark.parametrize("line", [line for line in HEADERS if line["api"] == "RequestHeader"], ids=lambda line: line["hex"])
def test_quick_reader_of_request_headers_agrees_with_the_codec(line: dict[str, str]) -> None:
    data, version = bytes.fromhex(line["hex"]), int(line["version"])
    assert read_request_header(memoryview(data), version) == decode(RequestHeader, version, data)


@pytest.mark.parametrize("line", [line for line in HEADERS if line["api"] == "ResponseHeader"], ids=lambda line: line["hex"])
def test_quick_reader_of_response_headers_agrees_with_the_codec(line: dict[str, str]) -> None:
    data, version = bytes.fromhex(line["hex"]), int(line["version"])
    header, end = decode(ResponseHeader, version, data)
    assert read_response_header(memoryview(data), version) == (header.correlation_id, end)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_request_header_cut_anywhere_is_a_schema_error(version: int) -> None:
    data = encode(RequestHeader(3, 1, 7, "me" if version else ""), version)
    for length in range(len(data)):
        with pytest.raises(SchemaError, match=f"request header v{version} is cut short"):
            read_request_header(memoryview(data)[:length], version)


@pytest.mark.parametrize("version", [0, 1])
def test_response_header_cut_anywhere_is_a_schema_error(version: int) -> None:
    data = encode(ResponseHeader(7), version)
    for length in range(len(data)):
        with pytest.raises(SchemaError, match=f"response header v{version} is cut short"):
            read_response_header(memoryview(data)[:length], version)
