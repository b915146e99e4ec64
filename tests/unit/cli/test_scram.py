"""SCRAM credentials, compared with one that Apache Kafka 2.8.2's kafka-configs made (tests/golden/data/cli/kafka-configs-zookeeper.json, "user describe")."""

from __future__ import annotations

import base64

import pytest

from pykafka_classic.cli.scram import BadCredential, credential

SALT = base64.b64decode("MTd6dnV0MXJzcWxhbzJoNmF3NzBzdHdtNHU=")
MADE_BY_KAFKA = (
    "salt=MTd6dnV0MXJzcWxhbzJoNmF3NzBzdHdtNHU=,stored_key=fJZC1Q8VAhpJ1SnX6daFams0EQfbitbelcc2WqNPaaPkEMlN2Sz0KM5GBVQunCLdA/1T/OclHJ22ojw/T94ltQ==,"
    "server_key=HdG0Sp3CDtma7UOjJPUCrR9uGdlOAaMZlqz2MZTeI2XRhHryUklSPWEEUZLpSeQQfNi1ftujSjT2ZQvJTTj14A==,iterations=4096"
)


def test_a_password_is_salted_as_kafka_does_it() -> None:
    assert credential("SCRAM-SHA-512", "password=secret", SALT) == MADE_BY_KAFKA


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ("iterations=8192", "Invalid credential property SCRAM_SHA_256=iterations=8192"),
        ("iterations=-1,password=secret", "Invalid credential property SCRAM_SHA_256=iterations=-1,password=secret"),
        ("iterations=,password=secret", 'For input string: ""'),
        ("iterations=10,password=secret", "Iterations 10 is less than the minimum 4096 required for SCRAM_SHA_256"),
    ],
)
def test_a_wish_that_is_none_is_refused_in_kafkas_words(wish: str, sentence: str) -> None:
    with pytest.raises(BadCredential) as caught:
        credential("SCRAM-SHA-256", wish, SALT)
    assert str(caught.value) == sentence
