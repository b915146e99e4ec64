"""docs/controller.md says what the code does."""

from __future__ import annotations

import re

from tests.unit.controller.diagrams import PAGE, diagrams, with_diagrams


def test_the_diagrams_of_the_page_are_those_of_the_tables() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_diagrams(page) == page
    assert all(drawn in page for drawn in diagrams().values())


def test_the_page_names_every_story_and_no_other() -> None:
    named = set(re.findall(r"\]\(\.\./tests/transcripts/(\w+)\.txt\)", PAGE.read_text(encoding="utf-8")))
    stories = {path.stem for path in (PAGE.parents[1] / "tests" / "transcripts").glob("*.txt")}
    assert named <= stories
    assert {"controller_race", "leader_killed", "zombie_controller"} <= named
