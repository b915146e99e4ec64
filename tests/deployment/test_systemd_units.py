"""systemd's units: systemd itself finds nothing wrong with them, and what they start is there."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "config" / "systemd").glob("*.service"))
INSTALLED = "/opt/pykafka_classic"


def unit(path: Path) -> configparser.RawConfigParser:
    """A unit's sections; keys keep their case."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path)
    return parser


def test_there_is_one_for_each_kind_of_server() -> None:
    assert [path.name for path in UNITS] == ["kafka.service", "zookeeper.service"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_it_starts_a_launcher_of_ours_as_somebody_who_is_not_root(path: Path) -> None:
    service = unit(path)["Service"]
    launcher = Path(service["ExecStart"].split()[0]).relative_to(INSTALLED)
    assert (ROOT / launcher).exists()
    assert "-daemon" not in service["ExecStart"]  # systemd watches the process that it starts
    assert service["User"] == "kafka"
    assert re.fullmatch(r".*LOG_DIR=/var/log/kafka", service["Environment"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    """The units of an installation in this checkout: of others systemd-analyze says that their programs are not there."""
    for path in UNITS:
        (tmp_path / path.name).write_text(path.read_text().replace(INSTALLED, str(ROOT)))
    outcome = subprocess.run(["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))], capture_output=True, text=True, check=False)
    assert (outcome.returncode, outcome.stdout + outcome.stderr) == (0, "")
