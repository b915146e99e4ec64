"""Tables, JSON lines, durations, colours."""

from __future__ import annotations

from io import StringIO

import pytest

from pykafka_classic.cli.command import Console
from pykafka_classic.cli.pkc.tables import Column, Screen, duration, table

COLUMNS = (Column("topic"), Column("records", "count", alarms=lambda row: row["records"] == 0), Column("isr"), Column("well"))
ROWS = [{"topic": "flights", "records": 1200, "isr": [1, 2], "well": True}, {"topic": "t", "records": 0, "isr": [], "well": False}]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_texts_stand_to_the_left_and_numbers_to_the_right() -> None:
    assert table(COLUMNS, ROWS) == [
        "TOPIC    COUNT  ISR  WELL",
        "flights   1200  1,2  yes",
        "t            0  -    no",
    ]


def test_a_table_of_nothing_is_its_heading() -> None:
    assert table(COLUMNS, []) == ["TOPIC  COUNT  ISR  WELL"]


def test_what_is_not_known_is_a_dash_and_does_not_move_a_column_of_numbers() -> None:
    assert table((Column("lag"), Column("x")), [{"lag": None, "x": ""}, {"lag": 10}]) == ["LAG  X", "  -  -", " 10  -"]


def test_colours_do_not_change_where_columns_stand() -> None:
    lines = table(COLUMNS, ROWS, lambda text, **style: f"<{text}>" if style.get("fg") else text)
    assert lines[2] == "t        <    0>  -    no"


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (999, "999 ms"), (1_000, "1 s"), (61_000, "1 min 1 s"), (3_600_000, "1 h"), (7_500_000, "2 h 5 min"), (273_600_000, "3 d 4 h")],
)
def test_durations_have_two_units_at_most(ms: int, text: str) -> None:
    assert duration(ms) == text


def test_json_has_the_rows_as_they_are_a_line_each() -> None:
    output = StringIO()
    Screen(Console(StringIO(), output, StringIO()), as_json=True).show(COLUMNS, ROWS[:1])
    assert output.getvalue() == '{"topic":"flights","records":1200,"isr":[1,2],"well":true}\n'


@pytest.mark.parametrize(("variable", "coloured"), [(None, True), ("NO_COLOR", False)])
def test_colours_are_for_terminals_whose_user_wants_them(monkeypatch: pytest.MonkeyPatch, variable: str | None, coloured: bool) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if variable is not None:
        monkeypatch.setenv(variable, "1")
    screen = Screen(Console(StringIO(), Terminal(), StringIO()))
    assert (screen.paint("x", fg="red") != "x") is coloured
    assert Screen(Console(StringIO(), StringIO(), StringIO())).paint("x", fg="red") == "x"
