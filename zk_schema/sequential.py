"""Sequential nodes: ZooKeeper appends a counter of ten digits to the name asked for (`config_change_0000000017`).

The notification families share one way of using them: whoever has news creates a node; watchers of the parent list the children and handle those with a
number higher than the last handled.
"""

from __future__ import annotations

from zk_schema.errors import MalformedZNode


def sequence_number(name: str, prefix: str) -> int:
    """The counter in a child's name (or whole path)."""
    digits = name.rpartition("/")[2].removeprefix(prefix)
    if not (digits.isascii() and digits.isdigit()):
        raise MalformedZNode(name, f"expected {prefix} and digits")
    return int(digits)
