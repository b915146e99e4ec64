"""The house stands as it is described: floors, mirrors of modules among the tests, launchers, commands of the README."""

from __future__ import annotations

import ast
import configparser
import os
import re
import subprocess
from pathlib import Path

from pykafka_classic.cli.commands import TOOLS
from tests.tidy.source_tree import ROOT, modules, report, tracked_files, tree_of

# Modules of zk_schema that hold no family of nodes, and are tested through those that do.
WITHOUT_MIRROR = {"families", "sequential", "errors", "paths_to_create", "partition_lists"}

# Packages whose tests are not in tests/unit/NAME: they touch the world.
TESTED_IN = {"edges": "tests/edges", "testing": "tests/integration"}

LAUNCHER = re.compile(r'#!/bin/sh\nexec "\$\(dirname "\$\(readlink -f "\$0"\)"\)/kafka-run-class\.sh" (\w+) "\$@"\n')
COMMANDS_OF_OUR_OWN = {"pkc": "pykafka_classic.cli.__main__:pkc"}  # not one of Kafka's
SCRIPTS_OF_THEIR_OWN = {"kafka-run-class.sh", "setup.sh", "lock.sh", "spark_releases.sh"}


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


def test_every_module_of_zk_schema_is_looked_at_by_a_unit_test() -> None:
    looked_at = {name for path in modules("tests") if path.parent == ROOT / "tests/unit/zk_schema" for name in _imported_from("zk_schema", path)}
    expected = {path.stem for path in modules("zk_schema") if path.stem != "__init__" and path.stem not in WITHOUT_MIRROR}
    assert expected <= looked_at, report("modules of zk_schema that no test in tests/unit/zk_schema imports", sorted(expected - looked_at))


def test_every_package_has_a_folder_of_tests() -> None:
    packages = {path.parent.name for path in modules("pykafka_classic") if path.parent.parent == ROOT / "pykafka_classic" and path.name != "__init__.py"}
    missing = sorted(name for name in packages if not any((ROOT / TESTED_IN.get(name, f"tests/unit/{name}")).rglob("test_*.py")))
    assert not missing, report("packages without tests", missing)


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


def test_every_tool_is_a_console_command_and_has_its_launcher() -> None:
    scripts = dict(line.split(" = ") for line in settings()["options.entry_points"]["console_scripts"].strip().splitlines())
    tools = {name: f"pykafka_classic.cli.{module}:run" for name, module in TOOLS.items()}
    assert scripts == {**tools, **COMMANDS_OF_OUR_OWN}
    assert {f"{name}.sh" for name in TOOLS} <= {path.name for path in (ROOT / "tools").glob("*.sh")}


def test_continuous_integration_runs_make_test() -> None:
    path = ROOT / ".ci" / "run"
    assert os.access(path, os.X_OK)
    assert "make test" in path.read_text()


def test_commands_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    documents = [path for path in tracked_files() if path.suffix == ".md" and (path.parent == ROOT or path.parent == ROOT / "docs")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: make {target}"
        for path in documents
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for target in re.findall(r"(?:^|[`$ ])make ([a-z-]+)\b(?=[`\s]|$)", line if line.startswith((" ", "$")) or "`" in line else "")
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


def _imported_from(package: str, path: Path) -> set[str]:
    """Modules of a package that a file imports."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{package}."):
            names.add(node.module.split(".")[1])
    return names
