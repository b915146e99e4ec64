"""Command lines as Kafka's tools take them. What Kafka does with each is in tests/golden (test_dump_log)."""

from __future__ import annotations

import re

import pytest

from pykafka_classic.cli.command_options import Argument, Option, UsageError, help_text, parse

SIZE = Option("size", "Size of largest message.", Argument.REQUIRED, "Integer", "size", "5")
CLASS = Option("class", "if set, used.", Argument.OPTIONAL, default="some.Class")
FLAG = Option("flag", "if set.")
OPTIONS = (SIZE, CLASS, FLAG)


@pytest.mark.parametrize("arguments", [["--size", "7"], ["--size=7"], ["-size", "7"], ["--flag", "--size", "7", "--class"]])
def test_all_spellings_give_the_value(arguments: list[str]) -> None:
    assert parse(OPTIONS, arguments).integer("size") == 7


def test_options_that_are_not_given_have_their_defaults() -> None:
    options = parse(OPTIONS, [])
    assert (options.integer("size"), options.text("class"), options.has("flag")) == (5, "some.Class", False)


def test_an_optional_value_does_not_swallow_the_next_option() -> None:
    options = parse(OPTIONS, ["--class", "--flag"])
    assert options.has("flag") and options.text("class") == "some.Class"


def test_words_of_no_option_are_left_over() -> None:
    assert parse(OPTIONS, ["a", "--flag", "-", "--", "--size"]).left_over == ["a", "-", "--size"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--siz", "7"], "siz is not a recognized option. Did you mean --size?"),
        (["--number", "7"], "number is not a recognized option"),
        (["-xyz"], "x is not a recognized option"),
        (["--size"], "Option size requires an argument"),
        (["--size", "many"], "Cannot parse argument 'many' of option size"),
        (["--size", str(2**31)], f"Cannot parse argument '{2**31}' of option size"),
    ],
)
def test_what_cannot_be_understood_is_told_in_a_sentence(arguments: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(OPTIONS, arguments)
    assert str(caught.value) == sentence and not caught.value.with_help


def test_one_value_of_several_is_not_guessed() -> None:
    with pytest.raises(UsageError, match="Found multiple arguments for option size, but you asked for only one"):
        parse(OPTIONS, ["--size", "1", "--size", "2"]).integer("size")


def test_a_missing_required_option_comes_with_the_help() -> None:
    with pytest.raises(UsageError, match=r'Missing required argument "\[size\]"') as caught:
        parse(OPTIONS, []).require("size")
    assert caught.value.with_help


def test_every_line_of_the_help_is_80_wide_and_options_are_in_order() -> None:
    lines = help_text(OPTIONS).splitlines()
    assert {len(line) for line in lines} == {80}
    assert [line.split()[0] for line in lines if re.match("--[a-z]", line)] == ["--class", "--flag", "--help", "--size", "--version"]


def test_words_longer_than_a_column_are_broken() -> None:
    lines = help_text((Option("x", "y" * 200),)).splitlines()
    assert {len(line) for line in lines} == {80}
    assert "".join(line[10:].strip() for line in lines if "yy" in line).count("y") == 200
