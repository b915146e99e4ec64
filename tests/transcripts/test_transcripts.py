"""Each transcript of this folder says what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcripts.controller_story import Story
from tests.transcripts.replica_story import ReplicaStory

STORIES = sorted(Path(__file__).parent.rglob("*.txt"))


def story_for(path: Path) -> Story | ReplicaStory:
    """Stories in `replicas` are about whole brokers, the others about controllers."""
    return ReplicaStory() if path.parent.name == "replicas" else Story()


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_transcript_is_what_happens(path: Path, request: pytest.FixtureRequest) -> None:
    written = path.read_text(encoding="utf-8")
    happened = story_for(path).run(written)
    if request.config.getoption("--rewrite", default=False):
        path.write_text(happened, encoding="utf-8")
    else:
        assert happened == written


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_transcript_opens_with_a_question(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    assert first.endswith("?")
