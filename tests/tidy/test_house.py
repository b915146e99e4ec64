"""The house stands as it is described: floors, mirrors of modules among the tests, launchers, commands of the README."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
from pathlib import Path

from tests.tidy.source_tree import ROOT, modules, report, tracked_files

# Modules of zk_schema that hold no family of nodes, and are tested through those that do.
WITHOUT_MIRROR = {"families", "sequential", "json_fields", "errors", "paths_to_create", "partition_lists"}

LAUNCHER = re.compile(r'#!/bin/sh\nexec "\$\(dirname "\$\(readlink -f "\$0"\)"\)/kafka-run-class\.sh" (\w+) "\$@"\n')
SCRIPTS_OF_THEIR_OWN = {"kafka-run-class.sh", "setup.sh", "lock.sh"}


def settings() -> configparser.ConfigParser:
    """setup.cfg."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def test_both_contracts_of_the_floors_are_there() -> None:
    contracts = {settings()[name]["type"] for name in settings().sections() if name.startswith("importlinter:contract:")}
    assert contracts == {"layers", "forbidden"}


def test_every_package_has_its_floor() -> None:
    floors = set(re.findall(r"pykafka_classic\.(\w+)|\b(zk_schema)\b", settings()["importlinter:contract:floors"]["layers"]))
    known = {first or second for first, second in floors}
    packages = {path.parent.name for path in modules("pykafka_classic") if path.name == "__init__.py" and path.parent.parent == ROOT / "pykafka_classic"}
    single = {path.stem for path in modules("pykafka_classic") if path.parent == ROOT / "pykafka_classic"} - {"__init__"}
    assert packages | single <= known, report("packages without a floor in setup.cfg", sorted((packages | single) - known))


def test_every_family_of_znodes_has_a_unit_test_of_its_name() -> None:
    tests = {path.stem for path in (ROOT / "tests/unit/zk_schema").glob("test_*.py")}
    expected = {path.stem for path in modules("zk_schema") if path.stem != "__init__" and path.stem not in WITHOUT_MIRROR}
    missing = sorted(name for name in expected if f"test_{name}" not in tests)
    assert not missing, report("modules of zk_schema without tests/unit/zk_schema/test_NAME.py", missing)


def test_launchers_are_executable_and_of_one_line() -> None:
    found = []
    for path in sorted((ROOT / "tools").glob("*.sh")):
        if not os.access(path, os.X_OK):
            found.append(f"{path.relative_to(ROOT)}: not executable")
        if path.name not in SCRIPTS_OF_THEIR_OWN and not LAUNCHER.fullmatch(path.read_text()):
            found.append(f"{path.relative_to(ROOT)}: not a line onto cli/")
    assert not found, report("launchers", found)


def test_every_launcher_has_its_command() -> None:
    found = []
    for path in sorted((ROOT / "tools").glob("*.sh")):
        launched = LAUNCHER.fullmatch(path.read_text())
        if launched and not (ROOT / "pykafka_classic" / "cli" / f"{launched[1]}.py").exists():
            found.append(f"{path.relative_to(ROOT)}: no pykafka_classic/cli/{launched[1]}.py")
    assert not found, report("launchers of nothing", found)


def test_continuous_integration_runs_make_test() -> None:
    path = ROOT / ".ci" / "run"
    assert os.access(path, os.X_OK)
    assert "make test" in path.read_text()


def test_commands_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    documents = [path for path in tracked_files() if path.suffix == ".md" and (path.parent == ROOT or path.parent == ROOT / "docs")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: make {target}"
        for path in documents
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for target in re.findall(r"(?:^|[`$ ])make ([a-z]+)\b(?=[`\s]|$)", line if line.startswith((" ", "$")) or "`" in line else "")
        if target not in targets
    ]
    assert not found, report("commands that the Makefile does not have", found)


def test_links_between_documents_lead_somewhere() -> None:
    found = []
    for path in (each for each in tracked_files() if each.suffix == ".md" and "golden" not in each.parts):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", line)
            found += [f"{path.relative_to(ROOT)}:{number}: {target}" for target in targets if not (path.parent / target).exists()]
    assert not found, report("links to files that are not there", found)


def test_lock_files_pin_every_package_with_a_hash() -> None:
    found = []
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        entries = re.split(r"\n(?=[A-Za-z])", path.read_text())
        found += [f"{path.relative_to(ROOT)}: {entry.splitlines()[0]}" for entry in entries if re.match(r"[A-Za-z]", entry) and "--hash=sha256:" not in entry]
    assert not found, report("locked without a hash", found)


def test_shell_scripts_parse() -> None:
    for path in sorted((ROOT / "tools").glob("*.sh")):
        assert subprocess.run(["sh", "-n", str(path)], check=False).returncode == 0, Path(path).name
