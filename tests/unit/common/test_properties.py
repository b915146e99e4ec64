"""Java's .properties files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.common.properties import format_properties, parse_properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key=value", {"key": "value"}),
        ("key : value", {"key": "value"}),
        ("key value", {"key": "value"}),
        ("  key\t=\tvalue ", {"key": "value "}),
        ("key", {"key": ""}),
        ("key=", {"key": ""}),
        ("=value", {"": "value"}),
        ("a=b=c", {"a": "b=c"}),
        ("# no\n! no\n\nkey=yes", {"key": "yes"}),
        ("key=one \\\n    two", {"key": "one two"}),
        ("key=one\\\\\nother=x", {"key": "one\\", "other": "x"}),
        ("key=one\\\n# not a comment", {"key": "one# not a comment"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a\\ b=c", {"a b": "c"}),
        ("key=\\u00e9\\t\\n\\z", {"key": "é\t\nz"}),
        ("key=1\nkey=2", {"key": "2"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("key=\\ padded", {"key": " padded"}),
        ("last=line\\", {"last": "line"}),
        ("listeners=PLAINTEXT://:9092", {"listeners": "PLAINTEXT://:9092"}),
    ],
)
def test_text_is_read_as_java_reads_it(text: str, expected: dict[str, str]) -> None:
    assert parse_properties(text) == expected


def test_broken_unicode_escape_is_an_error() -> None:
    with pytest.raises(ValueError, match="uxxxx"):
        parse_properties("key=\\u00g1")


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8"))))
def test_what_is_written_is_read_back(properties: dict[str, str]) -> None:
    assert parse_properties(format_properties(properties)) == properties
