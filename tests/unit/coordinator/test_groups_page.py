"""docs/groups.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from pykafka_classic.coordinator.group.group_metadata import VALID_PREVIOUS_STATES, GroupState

PAGE = Path(__file__).parents[3] / "docs" / "groups.md"


def diagram() -> str:
    """From the table."""
    arrows = [
        f"    {before.value} --> {after.value}" for after in GroupState for before in GroupState if before in VALID_PREVIOUS_STATES[after] and before != after
    ]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> Empty", *arrows, "    Dead --> [*]", "```"])


def test_the_diagram_is_the_tables() -> None:
    assert f"<!-- group states -->\n{diagram()}\n<!-- end -->" in PAGE.read_text(encoding="utf-8")


def test_every_state_has_a_row() -> None:
    rows = re.findall(r"^\| (\w+) \|", PAGE.read_text(encoding="utf-8").partition("## Who has failed")[0], re.MULTILINE)
    assert [row for row in rows if row != "state"] == [state.value for state in GroupState]
