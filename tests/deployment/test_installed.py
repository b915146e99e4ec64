"""The package away from its checkout: what pip puts into a folder has all it needs, every console command starts, and says which version it is."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic import __version__

ROOT: Final = Path(__file__).parents[2]
PARTS: Final = ("pykafka_classic", "spark_integration", "zk_schema", "setup.cfg", "pyproject.toml", "README.md")
VERSION: Final = f"{__version__} (follows Apache Kafka 2.8)\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that pip has installed the package into; its dependencies are this environment's. Built from a copy: building leaves files behind."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, source)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True, timeout=120)
    return target


def run(installed: Path, *words: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of an installed command, run where nothing of the project lies."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PYTHONPATH": str(installed)}
    command = [str(installed / "bin" / words[0]), *words[1:]]
    done = subprocess.run(command, cwd=installed, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", ["kafka-topics", "pkc"])
def test_the_version_is_the_packages(installed: Path, command: str) -> None:
    assert run(installed, command, "--version") == (0, VERSION, "")


def test_help_and_a_broker_without_a_file_say_how_they_are_used(installed: Path) -> None:
    status, stdout, _ = run(installed, "pkc", "--help")
    assert status == 0 and "consume" in stdout
    status, stdout, stderr = run(installed, "kafka-server-start")
    assert (status, stdout) == (1, "") and stderr.startswith("USAGE: kafka-server-start.sh")


def test_every_command_is_found_in_what_was_installed(installed: Path) -> None:
    (found,) = importlib.metadata.distributions(name="pykafka_classic", path=[str(installed)])
    commands = {each.name: each.value for each in found.entry_points if each.group == "console_scripts"}
    assert {"kafka-server-start", "kafka-topics", "zookeeper-shell", "pkc"} <= set(commands)
    modules = sorted({value.partition(":")[0] for value in commands.values()})
    code = f"import importlib, pykafka_classic; print(pykafka_classic.__file__); [importlib.import_module(name).run for name in {modules}]"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed)}
    done = subprocess.run([sys.executable, "-c", code], cwd=installed, env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == str(installed / "pykafka_classic" / "__init__.py")


def test_what_is_no_python_is_there_too(installed: Path) -> None:
    ours = {path.relative_to(ROOT) for path in (ROOT / "pykafka_classic").rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert Path("pykafka_classic/testing/apache-broker-pom.xml") in ours
    assert [str(path) for path in sorted(ours) if not (installed / path).is_file()] == []
