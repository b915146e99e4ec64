"""Our command-line tools print what Apache's printed: every recorded case, in its order, on a cluster of ours. What differs on purpose: cli_differences.py."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from tests.integration.cli_differences import DIFFERENCES
from tests.integration.cli_recordings import DATA, Played, is_played, play, recording

RECORDINGS = tuple(sorted(path.stem for path in DATA.glob("*.json") if not path.stem.startswith("old-")))
CASES = [(name, case["name"]) for name in RECORDINGS for case in recording(name)["cases"] if is_played(case)]


Player = Callable[[str], dict[str, Played] | Exception]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Player:
    """Plays a recording when its first case is asked for, once, also where it fails."""

    @functools.cache
    def once(name: str) -> dict[str, Played] | Exception:
        try:
            return play(name, tmp_path_factory.mktemp(name))
        except Exception as error:  # it fails all cases of the recording
            return error

    return once


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case}" for name, case in CASES])
def test_a_tool_says_what_apaches_says(played: Player, name: str, case: str) -> None:
    outcomes = played(name)
    if isinstance(outcomes, Exception):
        raise outcomes
    outcome = outcomes[case]
    assert outcome.found == outcome.wanted, f"found {outcome.found}\nwanted {outcome.wanted}"


def test_every_difference_is_of_a_case() -> None:
    known = {(name, case["name"]) for name in DIFFERENCES for case in recording(name)["cases"]}
    assert {(name, case) for name, cases in DIFFERENCES.items() for case in cases} <= known
