"""Topic ids; texts are compared with Kafka's in tests/golden/test_protocol_primitives.py."""

from __future__ import annotations

import uuid
from random import Random

import pytest

from pykafka_classic.common import kafka_uuid


def test_random_ids_are_version_4_uuids() -> None:
    random = Random(7)
    for _ in range(50):
        parsed = uuid.UUID(bytes=kafka_uuid.random_uuid(random))
        assert (parsed.version, parsed.variant) == (4, uuid.RFC_4122)


def test_random_ids_depend_on_nothing_but_the_given_chance() -> None:
    assert kafka_uuid.random_uuid(Random(7)) == kafka_uuid.random_uuid(Random(7)) != kafka_uuid.random_uuid(Random(8))


def test_texts_are_read_back() -> None:
    value = kafka_uuid.random_uuid(Random(7))
    assert len(kafka_uuid.to_text(value)) == 22
    assert kafka_uuid.from_text(kafka_uuid.to_text(value)) == value


@pytest.mark.parametrize("text", ["", "A", "AAAA", "A" * 21, "A" * 23, "****************AAAAAA", "A" * 40])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="uuid"):
        kafka_uuid.from_text(text)


def test_bytes_of_another_length_have_no_text() -> None:
    with pytest.raises(ValueError, match="16 bytes, not 3"):
        kafka_uuid.to_text(b"abc")
