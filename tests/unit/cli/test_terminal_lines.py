"""What Tab makes of a word in zookeeper-shell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest

from pykafka_classic.cli.terminal_lines import completions

TREE: Final = {"/": ("controller", "brokers", "controller_epoch"), "/brokers": ("topics", "ids"), "/brokers/topics": ("t",)}


def children(path: str) -> Sequence[str]:
    return TREE.get(path, ())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("d", ["delete", "deleteall"]),
        ("/", ["/brokers", "/controller", "/controller_epoch"]),
        ("/contr", ["/controller", "/controller_epoch"]),
        ("/brokers/", ["/brokers/ids", "/brokers/topics"]),
        ("/brokers/topics/t", ["/brokers/topics/t"]),
        ("/nothing/x", []),
    ],
)
def test_a_word_is_completed_to_commands_and_a_path_to_nodes(text: str, found: list[str]) -> None:
    assert completions(text, ["delete", "deleteall", "get"], children) == found
