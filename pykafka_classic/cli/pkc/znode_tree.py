"""Drawings of ZooKeeper's tree, and of what has changed in it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.monitor.znodes import ROOT, Change, Mark, Node, name_of, parent_of, plain, sort_key

ELLIPSIS: Final = "..."
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]+")


def with_parents(paths: Iterable[str], root: str = ROOT) -> set[str]:
    """These paths, and all between them and the root."""
    found = set()
    for path in paths:
        step = path
        while step not in found:
            found.add(step)
            if step in (root, ROOT):
                break
            step = parent_of(step)
    return found


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a drawing: its mark, if the node has changed, and the text."""

    mark: Mark | None
    text: str

    def __str__(self) -> str:
        return f"{self.mark.value if self.mark else ' '} {self.text}".rstrip()


def draw(nodes: Mapping[str, Node], root: str = ROOT, *, width: int | None = None) -> Iterator[Line]:
    """The tree below a path, the path first."""
    yield from _drawn({path: (None, _text(name_of(path), node)) for path, node in nodes.items()}, root, width)


def draw_changes(changes: Iterable[Change], root: str = ROOT, *, width: int | None = None) -> Iterator[Line]:
    """The branches of the tree that lead to changes, with marks: what is gone stands there for the last time."""
    marked: dict[str, tuple[Mark | None, str]] = {each.path: (each.mark, _changed_text(each)) for each in changes}
    for path in with_parents(marked, root):
        marked.setdefault(path, (None, name_of(path)))
    yield from _drawn(marked, root, width)


def change_as_json(change: Change) -> dict[str, Any]:
    """A change as an object; `data` as of now, `before` as it was."""
    now = change.after or change.before
    found: dict[str, Any] = {"change": change.mark.value, "path": change.path, "ephemeral": bool(now and now.ephemeral)}
    if change.after is not None:
        found["data"] = plain(change.after.data)
    if change.before is not None:
        found["before"] = plain(change.before.data)
    return found


def node_as_json(path: str, node: Node) -> dict[str, Any]:
    """A node as an object."""
    return {"path": path, "data": plain(node.data), "ephemeral": node.ephemeral, "version": node.version}


def _drawn(texts: Mapping[str, tuple[Mark | None, str]], root: str, width: int | None) -> Iterator[Line]:
    children: dict[str, list[str]] = {}
    for path in texts:
        if path != root:
            children.setdefault(parent_of(path), []).append(path)
    if root in texts:
        mark, text = texts[root]
        yield Line(mark, _cut(f"{root}{text.removeprefix(name_of(root))}", width))
    yield from _branches(texts, children, root, "", width)


def _branches(  # it calls itself
    texts: Mapping[str, tuple[Mark | None, str]], children: Mapping[str, list[str]], path: str, indent: str, width: int | None
) -> Iterator[Line]:
    below = sorted(children.get(path, ()), key=sort_key)
    for place, child in enumerate(below):
        is_last = place == len(below) - 1
        mark, text = texts[child]
        yield Line(mark, _cut(f"{indent}{'└── ' if is_last else '├── '}{text}", width))
        yield from _branches(texts, children, child, indent + ("    " if is_last else "│   "), width)


def _text(name: str, node: Node) -> str:
    data = _one_line(node.data)
    return f"{name}{' *' if node.ephemeral else ''}{f'  {data}' if data else ''}"


def _changed_text(change: Change) -> str:
    if change.before is None or change.after is None:
        node = change.after or change.before
        assert node is not None
        return _text(name_of(change.path), node)
    if change.before.data == change.after.data:
        return f"{_text(name_of(change.path), change.after)}  (made anew)"
    return f"{_text(name_of(change.path), change.after)}  (was {_one_line(change.before.data) or 'empty'})"


def _one_line(data: bytes | None) -> str:
    return _CONTROL.sub(" ", plain(data) or "")


def _cut(text: str, width: int | None) -> str:
    return text if width is None or len(text) <= width else f"{text[: max(0, width - len(ELLIPSIS))]}{ELLIPSIS}"
