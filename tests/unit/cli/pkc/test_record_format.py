"""Records as text and as JSON."""

from __future__ import annotations

import json

import pytest

from pykafka_classic.cli.pkc.record_format import BadFormat, Texts, iso_time, json_renderer, renderer
from pykafka_classic.client.fetched_records import ConsumerRecord

# 2023-11-14T22:13:20.042Z is 1,700,000,000 s and 42 ms after 1970.
LANDED = ConsumerRecord("flights", 2, 17, 1_700_000_000_042, b"RA-86906", b"landed", (("source", b"tower"), ("final", None)))
NOTHING = ConsumerRecord("flights", 0, 0, -1, None, None)
BINARY = ConsumerRecord("flights", 0, 1, 0, b"\x00\xff", b"\xc3\x28")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("%v", "landed\n"),
        ("%s", "landed\n"),
        ("%t-%p @ %o", "flights-2 @ 17\n"),
        ("%k: %v", "RA-86906: landed\n"),
        ("%K %S", "8 6\n"),
        ("%h", "source=tower,final=\n"),
        ("%T %D", "1700000000042 2023-11-14T22:13:20.042Z\n"),
        ("100%% %o", "100% 17\n"),
        ("", "\n"),
    ],
)
def test_letters_stand_for_what_a_record_has(text: str, printed: str) -> None:
    assert renderer(text, Texts())(LANDED) == printed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (r"%o\n", "17\n"),  # as in kcat: no second newline
        (r"%o\0", "17\0"),
        (r"%o\c", "17"),
        (r"%o\t%p", "17\t2\n"),
        (r"\x41%o", "A17\n"),
        (r"a\\b", "a\\b\n"),
    ],
)
def test_a_newline_ends_a_record_unless_an_escape_does(text: str, printed: str) -> None:
    assert renderer(text, Texts())(LANDED) == printed


@pytest.mark.parametrize(("text", "why"), [("%x", "%x means nothing"), ("%", "% means nothing"), (r"\q", r"\q means nothing"), (r"\c%o", r"\c means nothing")])
def test_what_means_nothing_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadFormat, match=f"^{why.replace(chr(92), chr(92) * 2)}"):
        renderer(text, Texts())


def test_what_is_not_there_is_empty_or_as_the_user_says() -> None:
    assert renderer("<%k|%v|%T|%S>", Texts())(NOTHING) == "<||-1|-1>\n"
    assert renderer("<%k|%v>", Texts(null="NULL"))(NOTHING) == "<NULL|NULL>\n"


def test_bytes_that_are_no_text_come_out_as_they_went_in() -> None:
    assert renderer("%k%v", Texts())(BINARY).encode("utf-8", "surrogateescape") == b"\x00\xff\xc3\x28\n"
    assert renderer("%k %v", Texts(hexadecimal=True))(BINARY) == "00ff c328\n"


def test_json_has_everything_and_text_where_the_bytes_are_text() -> None:
    assert json.loads(json_renderer(Texts())(LANDED)) == {
        "topic": "flights",
        "partition": 2,
        "offset": 17,
        "timestamp": 1_700_000_000_042,
        "key": "RA-86906",
        "value": "landed",
        "headers": [["source", "tower"], ["final", None]],
    }
    binary = json.loads(json_renderer(Texts())(BINARY))
    assert (binary["key"], binary["value"]) == ({"hex": "00ff"}, {"hex": "c328"})
    assert json.loads(json_renderer(Texts(hexadecimal=True))(LANDED))["value"] == {"hex": "6c616e646564"}
    assert [json.loads(json_renderer(Texts())(NOTHING))[name] for name in ("key", "value", "timestamp")] == [None, None, None]


def test_a_json_line_is_one_line_whatever_a_value_holds() -> None:
    assert json_renderer(Texts())(NOTHING._replace(value=b"two\nlines\r\n")).count("\n") == 1


def test_times_that_no_calendar_has_stay_numbers() -> None:
    assert iso_time(-1) == "-1"
    assert iso_time(0) == "1970-01-01T00:00:00.000Z"
    assert iso_time(2**62) == str(2**62)
