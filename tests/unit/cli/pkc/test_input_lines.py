"""Lines become records."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.cli.pkc.input_lines import BadLine, LineFormat, NewRecord, parse_header
from pykafka_classic.cli.pkc.record_format import Texts, json_renderer
from pykafka_classic.client.fetched_records import ConsumerRecord


def read(line: str, layout: LineFormat) -> NewRecord:
    return layout.reader()(line)


def test_a_line_is_a_value() -> None:
    assert read("1,zs,18", LineFormat()) == NewRecord(b"1,zs,18")
    assert read("", LineFormat()) == NewRecord(b"")
    assert read("\udcff", LineFormat()) == NewRecord(b"\xff")  # a byte that is no UTF-8, as stdin gives it


def test_a_key_stands_before_the_first_separator() -> None:
    layout = LineFormat(separator=":")
    assert read("a:b:c", layout) == NewRecord(b"b:c", b"a")
    assert read(":b", layout) == NewRecord(b"b", b"")
    with pytest.raises(BadLine, match="no ':' after the key in 'abc'"):
        read("abc", layout)


def test_what_holds_for_all_records_is_added() -> None:
    layout = LineFormat(key="k", null="NULL", headers=(("source", b"x"),))
    assert read("v", layout) == NewRecord(b"v", b"k", (("source", b"x"),))
    assert read("NULL", layout) == NewRecord(None, b"k", (("source", b"x"),))


def test_a_key_that_looks_like_the_null_text_is_a_key() -> None:
    assert read("NULL:NULL", LineFormat(separator=":", null="NULL")) == NewRecord(None, b"NULL")


def test_hexadecimal_digits() -> None:
    assert read("00 ff", LineFormat(hexadecimal=True)) == NewRecord(b"\x00\xff")
    with pytest.raises(BadLine, match="no hexadecimal digits: '0g'"):
        read("0g", LineFormat(hexadecimal=True))


@pytest.mark.parametrize(
    ("line", "record"),
    [
        ('{"value": "v"}', NewRecord(b"v")),
        ('{"value": null, "key": "k"}', NewRecord(None, b"k")),
        ('{"value": {"hex": "00ff"}}', NewRecord(b"\x00\xff")),
        ('{"value": {"a": [1, "ö"]}}', NewRecord('{"a":[1,"ö"]}'.encode())),
        ('{"value": 5, "timestamp": 17}', NewRecord(b"5", timestamp_ms=17)),
        ('{"value": "v", "headers": {"a": "b"}}', NewRecord(b"v", headers=(("a", b"b"),))),
        ('{"value": "v", "headers": [["a", null], ["a", {"hex": "00"}]]}', NewRecord(b"v", headers=(("a", None), ("a", b"\x00")))),
        ('{"value": "v", "topic": "other", "partition": 3, "offset": 7}', NewRecord(b"v")),
    ],
)
def test_json_objects(line: str, record: NewRecord) -> None:
    assert read(line, LineFormat(json=True)) == record


def test_a_partition_in_json_counts_where_that_was_said() -> None:
    assert read('{"value": "v", "partition": 3}', LineFormat(json=True, same_partition=True)) == NewRecord(b"v", partition=3)


@pytest.mark.parametrize(
    "line",
    ["", "v", "[]", '{"key": "k"}', '{"value": "v", "headers": 1}', '{"value": "v", "headers": [["a"]]}', '{"value": 1, "timestamp": "x"}', "[" * 100_000],
)
def test_other_json_is_refused_with_a_sentence(line: str) -> None:
    with pytest.raises(BadLine) as told:
        read(line, LineFormat(json=True))
    assert len(str(told.value)) < 200


BYTES = st.none() | st.binary(max_size=20) | st.text(max_size=20).map(str.encode)


@given(BYTES, BYTES, st.lists(st.tuples(st.text(max_size=5), BYTES), max_size=3), st.integers(0, 2**62), st.booleans())
def test_what_was_printed_as_json_can_be_written_again(
    key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]], time_ms: int, hexadecimal: bool
) -> None:
    line = json_renderer(Texts(hexadecimal))(ConsumerRecord("t", 1, 2, time_ms, key, value, tuple(headers))).removesuffix("\n")
    json.loads(line)
    assert read(line, LineFormat(json=True, same_partition=True)) == NewRecord(value, key, tuple(headers), time_ms, 1)


def test_headers_on_the_command_line() -> None:
    assert parse_header("a=b=c") == ("a", b"b=c")
    assert parse_header("a=") == ("a", b"")
    assert parse_header("a") == ("a", None)
    with pytest.raises(BadLine, match="NAME=VALUE is wanted"):
        parse_header("=b")
