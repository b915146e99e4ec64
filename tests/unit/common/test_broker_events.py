"""Every event is told where its description says, with the facts that it says, and the page is up to date."""

from __future__ import annotations

import ast
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

import pykafka_classic
from pykafka_classic.common import broker_events
from pykafka_classic.common.broker_events import KINDS, LOGGER, PARTITIONS_MAX, EventKind, emit, shortened
from pykafka_classic.edges.logging_setup import name_broker, set_up_logging
from pykafka_classic.monitor.events_page import page

PACKAGE = Path(pykafka_classic.__file__).parent
DOCS = PACKAGE.parent / "docs"
CONSTANTS = {name: kind for name, kind in vars(broker_events).items() if isinstance(kind, EventKind)}


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of a module with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node


def told() -> Iterator[tuple[str, str, set[str]]]:
    """Of each call of `emit`: the constant, the place, the facts."""
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "broker_events" not in source or path.name == "broker_events.py":
            continue
        for name, function in functions(ast.parse(source)):
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                if isinstance(call.func, ast.Attribute) and call.func.attr == "emit" and isinstance(call.args[0], ast.Attribute):
                    yield call.args[0].attr, f"{path.relative_to(PACKAGE)}:{name}", facts_of(call, function)


def facts_of(call: ast.Call, function: ast.AST) -> set[str]:
    """The names that a call gives, also by `**facts` that the function has put together, and by `**shortened(...)`."""
    names = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    for keyword in (each for each in call.keywords if each.arg is None):
        if isinstance(keyword.value, ast.Call):
            names.add("partitions")
            continue
        assert isinstance(keyword.value, ast.Name)
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
            for target in targets:
                if isinstance(target, ast.Name) and target.id == keyword.value.id and isinstance(node, ast.Assign | ast.AugAssign):
                    assert isinstance(node.value, ast.Dict)
                    names |= {key.value for key in node.value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
                elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == keyword.value.id:
                    assert isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)
                    names.add(target.slice.value)
    return names


def test_every_event_is_told_where_its_description_says_and_nowhere_else() -> None:
    places: dict[str, set[str]] = {}
    for constant, place, _ in told():
        places.setdefault(CONSTANTS[constant].name, set()).add(place)
    assert places == {name: set(kind.places) for name, kind in KINDS.items()}


def test_every_event_has_the_facts_that_are_described() -> None:
    for constant, place, facts in told():
        assert facts == set(CONSTANTS[constant].facts), f"{constant} in {place}"


def test_pages_that_tell_more_exist() -> None:
    assert all((DOCS / kind.page).exists() for kind in KINDS.values())


def test_the_page_of_events_is_up_to_date() -> None:
    assert (DOCS / "events.md").read_text(encoding="utf-8") == page().rstrip("\n") + "\n", "make docs"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What the log writes, after the set-up that brokers have."""
    stream = io.StringIO()
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    set_up_logging(stream)
    yield stream
    name_broker(-1)
    root.handlers, root.level = before, level


def test_a_line_is_json_with_time_and_broker(lines: io.StringIO) -> None:
    name_broker(3)
    emit(broker_events.GROUP_EMPTY, group='g"1', generation=7)
    line = lines.getvalue()
    found = json.loads(line[line.index("{") : line.rindex("}") + 1])
    assert line.endswith(f"({LOGGER})\n")
    assert {key: value for key, value in found.items() if key != "time_ms"} == {"broker": 3, "event": "group-empty", "group": 'g"1', "generation": 7}
    assert isinstance(found["time_ms"], int)


def test_nothing_is_put_together_where_nobody_listens(lines: io.StringIO) -> None:
    logging.getLogger(LOGGER).setLevel(logging.WARNING)
    try:
        emit(broker_events.GROUP_EMPTY, group=object(), generation=object())
        assert not broker_events.is_told()
    finally:
        logging.getLogger(LOGGER).setLevel(logging.NOTSET)
    assert not lines.getvalue()


def test_long_lists_are_cut_and_say_so() -> None:
    rows = [[str(number)] for number in range(PARTITIONS_MAX + 2)]
    assert shortened(rows[:PARTITIONS_MAX]) == {"partitions": rows[:PARTITIONS_MAX]}
    assert shortened(rows)["partitions_left_out"] == 2
    assert len(shortened(rows)["partitions"]) == PARTITIONS_MAX
