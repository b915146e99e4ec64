"""Every message in every version, byte for byte as Apache Kafka 2.8.2 writes it."""

from __future__ import annotations

import pytest

from pykafka_classic.protocol.codec import decode, encode
from tests.golden.protocol_data import from_json, lines, message_class, records_in, to_json, without_sizes

APIS = sorted({line["api"] for line in lines("vectors")})
TAGGED_APIS = sorted({line["api"] for line in lines("unknown_tags")})


@pytest.mark.parametrize("api", APIS)
def test_bytes_of_kafka_decode_to_its_json(api: str) -> None:
    for line in (line for line in lines("vectors") if line["api"] == api):
        data = bytes.fromhex(line["hex"])
        message, end = decode(message_class(api, line["type"]), line["version"], data)
        assert (without_sizes(to_json(message, line["version"])), end) == (line["json"], len(data)), line["case"]


@pytest.mark.parametrize("api", APIS)
def test_json_of_kafka_encodes_to_its_bytes(api: str) -> None:
    for line in (line for line in lines("vectors") if line["api"] == api):
        kind = message_class(api, line["type"])
        record_sets = records_in(decode(kind, line["version"], bytes.fromhex(line["hex"]))[0])
        message = from_json(kind, line["json"], line["version"], record_sets)
        assert encode(message, line["version"]).hex() == line["hex"], (line["type"], line["version"], line["case"])


@pytest.mark.parametrize("api", TAGGED_APIS)
def test_unknown_tagged_fields_are_skipped(api: str) -> None:
    for line in (line for line in lines("unknown_tags") if line["api"] == api):
        data = bytes.fromhex(line["hex"])
        message, end = decode(message_class(api, line["type"]), line["version"], data)
        assert (to_json(message, line["version"]), end) == (line["json"], len(data)), line["case"]
        assert [record_set.hex() for record_set in records_in(message)] == [content for content in line.get("records_hex", []) if content is not None]


def test_vectors_hold_every_version_of_every_api() -> None:
    seen = {(line["api"], line["type"], line["version"]) for line in lines("vectors")}
    assert len(lines("vectors")) == 1702
    for api, kind, _ in seen:
        first, last = message_class(api, kind).VALID_VERSIONS
        assert all((api, kind, version) in seen for version in range(first, last + 1)), api
