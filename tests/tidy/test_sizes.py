"""Lines, functions, modules and parameter lists stay small. The limits hold from the first day: there is no list of exceptions to shrink."""

from __future__ import annotations

import ast

from tests.tidy.source_tree import PACKAGES, ROOT, FunctionNode, definitions, modules, report

LINE_MAX = 160
MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 40  # without the docstring
PARAMETERS_MAX = 5  # self and cls aside

# Kafka's texts of errors, and data read from Kafka's own output, are not broken.
LONG_LINES = {"pykafka_classic/common/errors.py"}

# The constructor of a class that is wired by hand, and functions whose shape somebody else dictates: `send` has the fields of a record by their names.
MANY_PARAMETERS: set[str] = {
    "pykafka_classic/edges/clients/producer.py:Producer.send",
    "pykafka_classic/edges/clients/twisted_producer.py:TwistedProducer.send",
}

CODE = (*PACKAGES, "spark_integration", "tools", "tests")


def test_lines_are_at_most_160_characters() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)}"
        for path in modules(*CODE)
        if str(path.relative_to(ROOT)) not in LONG_LINES
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if len(line) > LINE_MAX
    ]
    assert not found, report(f"lines longer than {LINE_MAX}", found)


def test_modules_are_at_most_400_lines() -> None:
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules(*PACKAGES, "spark_integration", "tools")}
    found = [f"{path.relative_to(ROOT)}: {size}" for path, size in sizes.items() if size > MODULE_LINES_MAX]
    assert not found, report(f"modules of more than {MODULE_LINES_MAX} lines", found)


def test_functions_are_at_most_40_lines() -> None:
    found = [
        f"{each.where}: {each.name} has {body_lines(each.node)}"
        for path in modules(*PACKAGES, "spark_integration", "tools")
        for each in definitions(path)
        if isinstance(each.node, FunctionNode) and body_lines(each.node) > FUNCTION_LINES_MAX
    ]
    assert not found, report(f"functions of more than {FUNCTION_LINES_MAX} lines", found)


def test_functions_take_at_most_five_parameters() -> None:
    found = [
        f"{each.where}: {each.name} takes {parameters(each.node)}"
        for path in modules(*PACKAGES, "spark_integration", "tools")
        for each in definitions(path)
        if isinstance(each.node, FunctionNode) and parameters(each.node) > PARAMETERS_MAX and f"{path.relative_to(ROOT)}:{each.name}" not in MANY_PARAMETERS
    ]
    assert not found, report(f"functions of more than {PARAMETERS_MAX} parameters", found)


def body_lines(node: FunctionNode) -> int:
    """Lines of a function, its docstring aside."""
    assert node.end_lineno is not None
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if is_docstring else 0
    return node.end_lineno - node.lineno + 1 - docstring


def parameters(node: FunctionNode) -> int:
    """Parameters that a caller gives."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))
