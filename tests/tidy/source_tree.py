"""What the style tests look at: the project's own files, and the functions and classes in them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("pykafka_classic", "zk_schema")
TEXT_SUFFIXES = {".py", ".md", ".sh", ".cfg", ".toml", ".txt", ".in", ".properties", ".yml", ".yaml", ".xml", ".go", ".mod", ".html", ".css", ".js", ""}

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Definition(NamedTuple):
    """A function or a class, where it stands, and whether people outside its module may use it."""

    path: Path
    name: str  # with the classes around it
    node: FunctionNode | ast.ClassDef
    public: bool

    @property
    def where(self) -> str:
        """`file:line`, for a message that an editor can follow."""
        return f"{self.path.relative_to(ROOT)}:{self.node.lineno}"


@cache
def tracked_files() -> tuple[Path, ...]:
    """Files that git knows or would add, that exist; golden data aside."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True).stdout
    paths = (ROOT / name for name in listed.decode().split("\0") if name)
    return tuple(sorted(path for path in paths if path.is_file() and "tests/golden/data" not in path.as_posix()))


def text_files() -> list[Path]:
    """Files for people to read."""
    return [path for path in tracked_files() if path.suffix in TEXT_SUFFIXES]


def modules(*folders: str) -> list[Path]:
    """Python files below these folders of the root."""
    return [path for path in tracked_files() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in folders]


@cache
def tree_of(path: Path) -> ast.Module:
    """The parsed file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def definitions(path: Path) -> tuple[Definition, ...]:
    """All functions and classes of a file, nested ones too; what stands inside a function is not public."""
    return tuple(_definitions(path, tree_of(path), "", public=True))


def _definitions(path: Path, parent: ast.AST, prefix: str, *, public: bool) -> Iterator[Definition]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, FunctionNode | ast.ClassDef):
            name = prefix + node.name
            known = public and (not node.name.startswith("_") or (node.name.startswith("__") and node.name.endswith("__")))
            yield Definition(path, name, node, known)
            yield from _definitions(path, node, f"{name}.", public=known and isinstance(node, ast.ClassDef))
        elif not isinstance(node, ast.expr):  # most nodes are expressions, and none has a definition inside
            yield from _definitions(path, node, prefix, public=public)


def report(title: str, findings: list[str]) -> str:
    """One finding a line."""
    return f"{title}:\n" + "\n".join(findings)
