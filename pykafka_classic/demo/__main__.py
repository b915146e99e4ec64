"""`python -m pykafka_classic.demo [--free-ports]`: tell the story; exit status 0 if no acknowledged record was lost and nothing is left running."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pykafka_classic.demo.chapters import CHAPTERS
from pykafka_classic.demo.console import line
from pykafka_classic.demo.places import make_cluster, told_in_a_sentence
from pykafka_classic.demo.story import Story


def tell() -> int:
    """All chapters; the exit status."""
    with tempfile.TemporaryDirectory(prefix="pykafka-demo-") as directory:
        story = Story(make_cluster(Path(directory), sys.argv[1:]))
        try:
            for chapter in CHAPTERS:
                chapter(story)
        finally:
            story.close()
            story.cluster.kill()
    for failure in story.failed:
        line(f"FAILED: {failure}")
    return 1 if story.failed else 0


if __name__ == "__main__":
    sys.exit(told_in_a_sentence(tell, target="demo"))
