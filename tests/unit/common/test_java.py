"""Java's text and numbers. Hashes of strings are compared with Java's own in tests/golden (test_placement)."""

from __future__ import annotations

import pytest

from pykafka_classic.common.java import abs_java, decode_utf8, to_int32


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"kl\xc3\xad\xc4\x8d", "klíč"),
        (b"\xf0\x9f\x98\x80", "\U0001f600"),
        (b"\xff", "\ufffd"),
        (b"a\xe2\x82", "a\ufffd"),  # cut: one piece
        (b"\xed\xa0\x80", "\ufffd"),  # a surrogate: one piece, where Python sees three
        (b"\xed\xa0A", "\ufffdA"),
        (b"\xed\xa0\xbd\xed\xb8\x80", "\ufffd\ufffd"),  # a pair of them, as CESU-8 writes it
        (b"\xc0\x80", "\ufffd\ufffd"),
    ],
)
def test_malformed_utf_8_is_replaced_as_java_replaces_it(data: bytes, text: str) -> None:
    """The larger proof is in tests/golden (test_dump_log: text that is not UTF-8, random bytes as text)."""
    assert decode_utf8(data) == text


def test_integers_wrap_to_32_bits() -> None:
    assert [to_int32(value) for value in (2**31 - 1, 2**31, -(2**31) - 1, 2**32 + 5)] == [2**31 - 1, -(2**31), 2**31 - 1, 5]


def test_the_smallest_integer_has_no_positive_twin() -> None:
    assert (abs_java(-7), abs_java(-(2**31))) == (7, 0)
