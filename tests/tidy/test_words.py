"""Everything public is explained, packages in a fixed form; modules say `from __future__ import annotations`; what must not stand in a file does not."""

from __future__ import annotations

import ast
import re

from tests.tidy.source_tree import PACKAGES, ROOT, definitions, modules, report, text_files, tracked_files, tree_of

CODE = (*PACKAGES, "spark_integration", "tools")

# A package's docstring has these parts; `zk_schema` and the packages of pykafka_classic are what newcomers read first.
PACKAGE_PARTS = ("Mirrors", "Differs from Kafka:")
DOCSTRING_MIN = 200
PLACEHOLDER = "To be written by its owner."

# Homes, work folders and package indexes of those who write: nobody else has them.
FOREIGN = re.compile(
    r"(/home/\w+/|/root/|/Users/\w+/|/work/|--index-url|--extra-index-url|--trusted-host|--find-links|https?://[^ ]*(?:pypi|simple/|artifactory|nexus|proxy))"
)

# Words for unfinished work.
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def test_everything_public_has_a_docstring() -> None:
    found = [
        f"{each.where}: {each.name}"
        for path in modules(*CODE)
        for each in definitions(path)
        if each.public and not each.name.rpartition(".")[2].startswith("__") and ast.get_docstring(each.node) is None
    ]
    assert not found, report("public and without a docstring", found)


def test_every_module_has_a_docstring() -> None:
    found = [f"{path.relative_to(ROOT)}:1" for path in modules(*CODE, "tests") if path.name != "__init__.py" and not ast.get_docstring(tree_of(path))]
    assert not found, report("modules without a docstring", found)


def test_every_package_tells_its_idea_what_it_mirrors_and_how_it_differs() -> None:
    found = []
    for path in modules(*PACKAGES):
        if path.name != "__init__.py":
            continue
        text = ast.get_docstring(tree_of(path)) or ""
        missing = [part for part in PACKAGE_PARTS if part not in text]
        if missing or len(text) < DOCSTRING_MIN or PLACEHOLDER in text:
            found.append(f"{path.relative_to(ROOT)}:1: {'lacks ' + ', '.join(missing) if missing else 'says too little'}")
    assert not found, report("packages whose docstring is not what a reader needs", found)


def test_modules_postpone_annotations() -> None:
    found = [
        f"{path.relative_to(ROOT)}:1"
        for path in modules(*CODE, "tests")
        if not _only_a_docstring(path.read_text(encoding="utf-8")) and "from __future__ import annotations" not in path.read_text(encoding="utf-8")
    ]
    assert not found, report("modules without `from __future__ import annotations`", found)


def test_no_file_names_a_machine_or_an_index() -> None:
    found = _lines_matching(FOREIGN, except_for={"tests/tidy/test_words.py"})
    assert not found, report("paths of somebody's machine, or addresses of package indexes", found)


def test_nothing_is_left_for_later() -> None:
    found = _lines_matching(UNFINISHED, except_for={"tests/tidy/test_words.py"})
    assert not found, report("unfinished work", found)


def test_no_exception_is_swallowed() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules(*CODE)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and all(isinstance(each, ast.Pass) for each in node.body)
    ]
    assert not found, report("`except ...: pass`", found)


def test_unit_tests_do_not_sleep() -> None:
    quiet = ("tests/unit", "tests/golden", "tests/property", "tests/simulation", "tests/transcripts")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in modules("tests")
        if str(path.relative_to(ROOT)).startswith(quiet)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\btime\.sleep\(", line)
    ]
    assert not found, report("sleeps in tests that need none", found)


def test_files_end_with_one_newline_and_have_no_trailing_blanks() -> None:
    found = []
    for path in tracked_files():
        if path.suffix not in {".py", ".sh", ".cfg", ".toml", ".properties"}:
            continue
        text = path.read_text(encoding="utf-8")
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            found.append(f"{path.relative_to(ROOT)}: its end")
        found += [f"{path.relative_to(ROOT)}:{number}" for number, line in enumerate(text.split("\n"), 1) if line != line.rstrip()]
    assert not found, report("untidy white space", found)


def _lines_matching(pattern: re.Pattern[str], *, except_for: set[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in text_files()
        if str(path.relative_to(ROOT)) not in except_for
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


def _only_a_docstring(text: str) -> bool:
    body = ast.parse(text).body
    return not body or (len(body) == 1 and isinstance(body[0], ast.Expr))
