"""Every tool has its launcher, its console command and its module, under Kafka's name."""

from __future__ import annotations

import configparser
import importlib
import re
from pathlib import Path

import pytest

from pykafka_classic.cli.commands import CLASSES, TOOLS

ROOT = Path(__file__).resolve().parents[3]


def test_launchers_are_those_of_the_table() -> None:
    launched = {path.stem: re.search(r'kafka-run-class\.sh" (\w+) ', path.read_text()) for path in (ROOT / "tools").glob("*.sh")}
    assert {name: found[1] for name, found in launched.items() if found} == TOOLS


def test_console_commands_are_those_of_the_table() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    commands = dict(line.split(" = ") for line in setup["options.entry_points"]["console_scripts"].split("\n") if line)
    assert {name: place for name, place in commands.items() if place.startswith("pykafka_classic.cli.") and name in TOOLS} == {
        name: f"pykafka_classic.cli.{module}:run" for name, module in TOOLS.items()
    }


@pytest.mark.parametrize("module", sorted({*TOOLS.values(), *CLASSES.values()}))
def test_each_module_can_be_run(module: str) -> None:
    assert callable(importlib.import_module(f"pykafka_classic.cli.{module}").run)
