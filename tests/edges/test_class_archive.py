"""Archives of classes, with a JVM that only prints ZooKeeper's version."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pykafka_classic.edges.processes import require_java, zookeeper_class_path
from pykafka_classic.testing.class_archive import ClassArchive

PROGRAM = "org.apache.zookeeper.version.VersionInfoMain"
FROM_THE_ARCHIVE = f"{PROGRAM} source: shared objects file (top)"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def run(*flags: str) -> str:
    """What it prints, and where it has its classes from."""
    told = ("-Xlog:class+load:stdout",) if flags else ()
    command = [require_java(), *flags, *told, "-cp", zookeeper_class_path(), PROGRAM]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def test_the_first_jvm_that_ends_leaves_its_classes_to_the_later_ones() -> None:
    first, second = (ClassArchive("version", zookeeper_class_path()) for _ in range(2))
    assert FROM_THE_ARCHIVE not in run(*first.flags())
    assert second.flags(makes=False) == (), "nobody has said that it has ended"
    first.ended()
    assert FROM_THE_ARCHIVE in run(*second.flags())
    assert FROM_THE_ARCHIVE in run(*first.flags(makes=False))


def test_a_jvm_that_was_killed_leaves_nothing(tmp_path: Path) -> None:
    archive = ClassArchive("version", zookeeper_class_path())
    assert any("ArchiveClassesAtExit" in flag for flag in archive.flags())
    archive.ended()
    assert list((tmp_path / "cache").rglob("*.jsa")) == []


def test_where_nothing_can_be_written_it_goes_without(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert ClassArchive("version", zookeeper_class_path()).flags() == ()
