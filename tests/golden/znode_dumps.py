"""Reads the recorded trees and histories of tests/golden/data/znodes (its README says where they come from)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

DIRECTORY: Final = Path(__file__).parent / "data" / "znodes"
FOLDERS: Final = sorted(path.name for path in DIRECTORY.iterdir() if path.is_dir())


class StoredNode(NamedTuple):
    """A node's data somewhere in the recordings; the path is that below the chroot."""

    where: str  # folder and step, for messages
    path: str
    data: bytes | None


@cache
def dumps(folder: str) -> list[dict[str, Any]]:
    """The dumps of one folder in order: {"step", "nodes"}."""
    return _lines(folder, "dumps.jsonl.gz")


@cache
def watch(folder: str) -> list[dict[str, Any]]:
    """Every change in order."""
    return _lines(folder, "watch.jsonl.gz")


def stored_nodes(folder: str) -> Iterator[StoredNode]:
    """Every node of every dump, and everything ever written, without the chroots' own parents."""
    roots = chroots(node["path"] for dump in dumps(folder) for node in dump["nodes"])
    for dump in dumps(folder):
        yield from _below(roots, f"{folder} {dump['step']}", dump["nodes"])
    written = [change for change in watch(folder) if change.get("event") in ("create", "change")]
    yield from _below(roots, f"{folder} watch", written)


def chroots(paths: Iterable[str]) -> list[str]:
    """The roots of the clusters among these paths, longest first, then "": a cluster without a chroot, or a consumer that had none."""
    return sorted({path.removesuffix("/brokers/ids") for path in paths if path.endswith("/brokers/ids")} | {""}, key=len, reverse=True)


def _below(roots: list[str], where: str, nodes: Iterable[dict[str, Any]]) -> Iterator[StoredNode]:
    for node in nodes:
        path = node["path"]
        if not any(each.startswith(path) for each in roots):  # not a chroot, nor a parent of one
            root = next(root for root in roots if path.startswith(f"{root}/"))
            data = node["data"]
            yield StoredNode(where, path.removeprefix(root), None if data is None else data.encode())


def _lines(folder: str, name: str) -> list[dict[str, Any]]:
    with gzip.open(DIRECTORY / folder / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
