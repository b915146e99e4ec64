"""The manual of the tools is what the tools know of themselves."""

from __future__ import annotations

from pathlib import Path

from pykafka_classic.cli.commands import TOOLS
from pykafka_classic.cli.manual import page

PAGE = Path(__file__).parents[3] / "docs" / "tools.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "`make docs` makes it anew"


def test_every_tool_has_a_section_with_its_options() -> None:
    sections = {text.partition("\n")[0]: text for text in page().split("\n## ")}
    assert {f"{name}.sh" for name in TOOLS} <= set(sections)
    assert "`--replication-factor <Integer: replication factor>`" in sections["kafka-topics.sh"]
    assert "deleteall path" in sections["zookeeper-shell.sh"]
    assert "--max-messages" in sections["kafka-verifiable-producer.sh"]
