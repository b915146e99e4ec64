"""ZooKeeper's tree, drawn: names as branches, and beside each what it holds, shortened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.zookeeper import GetChildren, GetData
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper

ZOOKEEPERS_OWN: Final = "zookeeper"  # its quotas and its configuration


@dataclass(frozen=True, slots=True)
class ZNode:
    """One node with all below it."""

    name: str
    data: bytes | None
    ephemeral: bool
    children: tuple[ZNode, ...]


def read_tree(zk: BlockingZooKeeper, path: str = "/") -> ZNode:
    """The tree below a path, children in the order of their names (numbers by value)."""
    listed, read = zk.submit(GetChildren(path), GetData(path))
    names = sorted((name for name in listed.children if path != "/" or name != ZOOKEEPERS_OWN), key=lambda name: (len(name) if name.isdigit() else 0, name))
    children = tuple(read_tree(zk, f"{path.rstrip('/')}/{name}") for name in names)
    return ZNode(path.rsplit("/", 1)[1] or "/", read.data, bool(read.stat and read.stat.ephemeral_owner), children)


def draw(node: ZNode, *, width: int = 120) -> Iterator[str]:
    """The lines of the drawing, each at most `width` long."""
    yield node.name
    yield from _branches(node, "", width)


def _branches(node: ZNode, indent: str, width: int) -> Iterator[str]:
    for place, child in enumerate(node.children):
        last = place == len(node.children) - 1
        yield _shortened(f"{indent}{'└── ' if last else '├── '}{child.name}{' (ephemeral)' if child.ephemeral else ''}", child.data, width)
        yield from _branches(child, indent + ("    " if last else "│   "), width)


def _shortened(branch: str, data: bytes | None, width: int) -> str:
    if not data:
        return branch
    text = f"{branch}  {data.decode(errors='replace')}"
    return text if len(text) <= width else f"{text[: width - 3]}..."
