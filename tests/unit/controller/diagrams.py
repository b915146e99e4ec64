"""Draws the state diagrams of docs/controller.md from the tables in the code. `python -m tests.unit.controller.diagrams` writes them into the page."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path

from pykafka_classic.controller.states import VALID_PREVIOUS_PARTITION_STATES, VALID_PREVIOUS_REPLICA_STATES, PartitionState, ReplicaState

PAGE = Path(__file__).parents[3] / "docs" / "controller.md"


def diagram(table: Mapping[IntEnum, frozenset[IntEnum]], nowhere: IntEnum) -> str:
    """A Mermaid state diagram; `nowhere` is the state of what does not exist."""

    def name(state: IntEnum) -> str:
        return "[*]" if state is nowhere else str(state)

    arrows = [f"    {name(before)} --> {name(state)}" for state in sorted(table) for before in sorted(table[state])]
    return "\n".join(["```mermaid", "stateDiagram-v2", *arrows, "```"])


def diagrams() -> dict[str, str]:
    """Marker in the page -> diagram."""
    return {
        "partition states": diagram(VALID_PREVIOUS_PARTITION_STATES, PartitionState.NON_EXISTENT),  # type: ignore[arg-type]  # a Mapping's key is invariant
        "replica states": diagram(VALID_PREVIOUS_REPLICA_STATES, ReplicaState.NON_EXISTENT),  # type: ignore[arg-type]
    }


def with_diagrams(page: str) -> str:
    """The page with each diagram anew, between `<!-- name -->` and `<!-- end -->`."""
    for name, drawn in diagrams().items():
        before, marker, rest = page.partition(f"<!-- {name} -->\n")
        page = before + marker + drawn + "\n" + rest[rest.index("<!-- end -->") :]
    return page


if __name__ == "__main__":
    PAGE.write_text(with_diagrams(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
