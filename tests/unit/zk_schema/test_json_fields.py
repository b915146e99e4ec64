"""Typed reading of JSON, and Kafka's way of writing it."""

from __future__ import annotations

import pytest

from zk_schema.errors import MalformedZNode
from zk_schema.json_fields import JsonFields, decimal, from_json, text, to_json


def _fields(data: str) -> JsonFields:
    return JsonFields.of(data.encode(), "/test")


def test_json_is_written_compactly_in_utf8() -> None:
    assert to_json({"name": "é", "list": [1, -1], "none": None}) == '{"name":"é","list":[1,-1],"none":null}'.encode()


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert to_json("\ud800") == b'"?"'


@pytest.mark.parametrize("data", [None, b"", b"{", b"\xff", b"NaN", b'{"a":1}x', b"[" * 100_000, b"9" * 5000])
def test_what_is_not_json_is_malformed(data: bytes | None) -> None:
    with pytest.raises(MalformedZNode):
        from_json(data, "/test")


def test_only_an_object_has_fields() -> None:
    with pytest.raises(MalformedZNode, match="expected a JSON object"):
        _fields("[1]")


@pytest.mark.parametrize("value", ["1.0", "true", "null", '"1"', "2147483648", "-2147483649", "{}"])
def test_an_integer_has_32_bits_and_no_other_type(value: str) -> None:
    with pytest.raises(MalformedZNode, match="integer of 32 bits"):
        _fields(f'{{"a":{value}}}').integer("a")


def test_the_bounds_of_an_integer_are_inside() -> None:
    assert _fields('{"a":2147483647}').integer("a") == 2147483647
    assert _fields('{"a":-2147483648}').integer("a") == -2147483648


def test_a_long_has_64_bits() -> None:
    assert _fields('{"a":9223372036854775807}').long("a") == 9223372036854775807
    with pytest.raises(MalformedZNode, match="integer of 64 bits"):
        _fields('{"a":9223372036854775808}').long("a")


@pytest.mark.parametrize("digits", ["", "x", "1.5", " 1", "1_0", "٣", "9223372036854775808", "9" * 5000, "-"])
def test_a_decimal_is_digits_of_64_bits(digits: str) -> None:
    with pytest.raises(MalformedZNode):
        decimal(digits.encode(), "/test")


def test_a_missing_key_is_malformed_unless_it_has_a_default() -> None:
    fields = _fields('{"null":null}')
    for read in (fields.integer, fields.text, fields.decimal, fields.integers, fields.texts, fields.objects, fields.fields):
        with pytest.raises(MalformedZNode, match="no a"):
            read("a")
    assert (fields.integer("a", default=4), fields.decimal("a", default=5), fields.integer("null", default=6)) == (4, 5, 6)
    assert (fields.optional_text("a"), fields.optional_text("null"), fields.optional_fields("a").items()) == (None, None, [])


def test_lists_have_elements_of_one_type() -> None:
    for data in ('{"a":[1,"2"]}', '{"a":[1.5]}', '{"a":{}}', '{"a":"12"}'):
        with pytest.raises(MalformedZNode):
            _fields(data).integers("a")
    with pytest.raises(MalformedZNode, match="list of strings"):
        _fields('{"a":["x",1]}').texts("a")


def test_the_error_names_the_family() -> None:
    with pytest.raises(MalformedZNode) as caught:
        text(b"", "/brokers/ids/N")
    assert (caught.value.family, caught.value.why) == ("/brokers/ids/N", "no data")
    assert str(caught.value) == "Malformed data in /brokers/ids/N: no data"
