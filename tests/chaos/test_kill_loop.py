"""A few rounds of the kill loop, one of each story; `make chaos` runs fifty."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.kill_loop import STORIES, kill_loop

pytestmark = pytest.mark.cluster


def test_brokers_killed_again_and_again_lose_nothing_acknowledged(tmp_path: Path) -> None:
    loop = kill_loop(tmp_path, rounds=len(STORIES), seed=28, tell=print)
    assert loop.killed > len(STORIES)
    assert loop.acknowledged > 1000
