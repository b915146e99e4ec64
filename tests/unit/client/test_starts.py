"""The four starts as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.client.client_errors import InvalidSetting
from pykafka_classic.client.consuming.offset_lookup import EARLIEST, LATEST, FoundOffset
from pykafka_classic.client.consuming.start_resolution import by_partition, resolve
from pykafka_classic.client.starts import AtOffset, AtTime, ByPartition, LastN, Reset, Span, Word, parse_reset, parse_span, parse_start
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition

ZERO, ONE, TWO = (TopicPartition("flights", number) for number in range(3))
# 2023-11-14T22:13:20Z is the second 1,700,000,000 since the epoch (date -u -d @1700000000).
MOMENT_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("earliest", Word.EARLIEST),
        ("beginning", Word.EARLIEST),
        ("smallest", Word.EARLIEST),
        ("latest", Word.LATEST),
        ("end", Word.LATEST),
        ("LARGEST", Word.LATEST),
        ("committed", Word.COMMITTED),
        ("stored", Word.COMMITTED),
        (" 17 ", AtOffset(17)),
        ("0", AtOffset(0)),
        ("-5", LastN(5)),
        ("-0", LastN(0)),
        ("@1700000000000", AtTime(MOMENT_MS)),
        ("@2023-11-14T22:13:20Z", AtTime(MOMENT_MS)),
        ("@2023-11-14T22:13:20", AtTime(MOMENT_MS)),
        ("@2023-11-14T23:13:20.250+01:00", AtTime(MOMENT_MS + 250)),
        ('{"flights": {"0": 17, "1": -2, "2": "@1700000000000"}}', ByPartition({ZERO: AtOffset(17), ONE: Word.EARLIEST, TWO: AtTime(MOMENT_MS)})),
        ('{"flights": {"0": -1, "1": "latest", "2": "committed"}}', ByPartition({ZERO: Word.LATEST, ONE: Word.LATEST, TWO: Word.COMMITTED})),
    ],
)
def test_every_spelling_has_its_meaning(text: str, start: object) -> None:
    assert parse_start(text) == start


@pytest.mark.parametrize(
    "text",
    [
        "",
        "first",
        "1.5",
        "@",
        "@yesterday",
        "5-",
        "--5",
        "9" * 20,
        "{",
        "{}x",
        '{"t": 5}',
        '{"t": {"0": -3}}',
        '{"t": {"x": 0}}',
        '{"t": {"0": true}}',
        '{"t": {"0": null}}',
        "²",
        "[]",
    ],
)
def test_what_is_no_start_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidSetting, match=r"is no start|is no time|is not JSON|beyond any offset|number of a partition|is not the"):
        parse_start(text)


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        parse_span(text)
    except InvalidSetting:
        return


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("@1..@2", Span(AtTime(1), AtTime(2))),
        ("10..20", Span(AtOffset(10), AtOffset(20))),
        ("earliest..latest", Span(Word.EARLIEST, Word.LATEST)),
        ("@1700000000000..", Span(AtTime(MOMENT_MS))),
        ("..latest", Span(None, Word.LATEST)),
        ("-5", Span(LastN(5))),
        ("@2023-11-14T22:13:20.5Z..@2023-11-14T22:13:21Z", Span(AtTime(MOMENT_MS + 500), AtTime(MOMENT_MS + 1000))),
    ],
)
def test_a_span_is_two_starts(text: str, span: Span) -> None:
    assert parse_span(text) == span


@pytest.mark.parametrize("text", ["..", " .. ", "latest..earliest", "1..2..3"])
def test_a_span_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidSetting):
        parse_span(text)


@pytest.mark.parametrize(
    ("text", "reset"),
    [
        ("earliest", Reset.EARLIEST),
        ("smallest", Reset.EARLIEST),
        ("latest", Reset.LATEST),
        ("largest", Reset.LATEST),
        ("none", Reset.NONE),
        ("error", Reset.NONE),
    ],
)
def test_the_reset_policy_knows_the_words_of_all_ages(text: str, reset: Reset) -> None:
    assert parse_reset(text) is reset


@pytest.mark.parametrize("text", ["committed", "never", "5", ""])
def test_other_words_are_no_reset_policy(text: str) -> None:
    with pytest.raises(InvalidSetting, match=r"auto\.offset\.reset is"):
        parse_reset(text)


def resolved(text: str, *, first: int, end: int, times: dict[int, int] | None = None) -> dict[TopicPartition, int]:
    """The offsets of a start in partitions of the same extent; `times`: the first offset at or after each timestamp."""

    def look_up(asked: object) -> Promise[dict[TopicPartition, FoundOffset | None]]:
        assert isinstance(asked, dict)
        offsets = {EARLIEST: first, LATEST: end} | (times or {})
        return Promise.resolved({partition: FoundOffset(offsets[time]) if time in offsets else None for partition, time in asked.items()})

    return {partition: each.offset for partition, each in spawn(resolve(by_partition(parse_start(text), [ZERO, ONE]), look_up)).result().items()}


def test_starts_are_resolved_by_what_the_leaders_say() -> None:
    assert resolved("earliest", first=3, end=9) == {ZERO: 3, ONE: 3}
    assert resolved("latest", first=3, end=9) == {ZERO: 9, ONE: 9}
    assert resolved("5", first=3, end=9) == {ZERO: 5, ONE: 5}
    assert resolved("-2", first=3, end=9) == {ZERO: 7, ONE: 7}
    assert resolved('{"flights": {"1": -2}}', first=3, end=9) == {ONE: 3}
    assert resolved("@1000", first=3, end=9, times={1000: 6}) == {ZERO: 6, ONE: 6}


def test_the_last_n_of_fewer_are_all_there_are() -> None:
    assert resolved("-100", first=3, end=9) == {ZERO: 3, ONE: 3}


def test_a_time_after_the_last_record_is_the_end() -> None:
    assert resolved("@1000", first=3, end=9) == {ZERO: 9, ONE: 9}
