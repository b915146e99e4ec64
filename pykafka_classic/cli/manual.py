"""`python -m pykafka_classic.cli.manual`: docs/tools.md, the manual of all tools, made of what they themselves know.

What a tool is for, and where it differs from Kafka's, is its module's docstring; its options are those that it parses. So the page cannot be out of date: a
test compares it.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Final

from pykafka_classic.cli.command_options import DEFAULT_OPTIONS, Option
from pykafka_classic.cli.commands import CLASSES, TOOLS
from pykafka_classic.cli.shell_commands import COMMANDS
from pykafka_classic.cli.zookeeper_shell import OWN

HEAD: Final = """# Kafka's tools

<!-- Made by `make docs` of the tools themselves; do not edit. -->

All of them stand in [tools/](../tools/) with Kafka's names, and in the environment's `bin/` without `.sh`. They work from any folder and need no activated
environment. `kafka-run-class.sh` takes Kafka's class names too (`kafka.tools.GetOffsetShell`).

Output, messages and exit statuses are Kafka 2.8's, for scripts depend on them. What is wrong with an address is told in one sentence within five seconds;
Ctrl-C leaves with status 130, SIGTERM with 143; a reader that goes away (`| head`) is no error. A mistyped option or tool gets the nearest suggested.

An option is `--name value`, `--name=value` or `-name value`. A host without a port means port 2181 for ZooKeeper and 9092 for a broker. For daily work there
is a friendlier front: [pkc](pkc.md).
"""
_INTERNAL: Final = ("Reading order:", "Source:")


def page() -> str:
    """docs/tools.md."""
    scripts = {f"{name}.sh": module for name, module in TOOLS.items()}
    old = {name: module for name, module in CLASSES.items() if module not in TOOLS.values()}
    sections = [_section(name, importlib.import_module(f"pykafka_classic.cli.{module}")) for name, module in (scripts | old).items()]
    return "\n".join([HEAD, *sections])


def _section(name: str, module: ModuleType) -> str:
    paragraphs = [paragraph for paragraph in (module.__doc__ or "").split("\n\n") if not paragraph.startswith(_INTERNAL)]
    synopsis, text = _apart(paragraphs[0])
    lines = [f"## {name}", "", "```", synopsis, "```", "", text or _purpose(module), ""]
    for paragraph in paragraphs[1:]:
        lines += [paragraph.strip().replace("\n* ", "\n- "), ""]
    rows = list(_rows(module))
    if rows:
        lines += ["| option | |", "|---|---|", *(f"| `{_cell(usage)}` | {_cell(meaning)} |" for usage, meaning in sorted(rows)), ""]
    return "\n".join(lines)


def _purpose(module: ModuleType) -> str:
    purpose: str = module.TOOL.purpose if hasattr(module, "TOOL") else module.parser().description
    return purpose


def _apart(paragraph: str) -> tuple[str, str]:
    """What is typed, and what it does: a docstring begins "`tool.sh [option]`, also `tool`: what it does"."""
    found = re.fullmatch(r"((?:(?:, \w+ )?`[^`]*`)+)[:.]\s*(.*)", paragraph.strip().replace("\n", " "))
    assert found is not None, paragraph
    text = re.sub(r"\s*Source: .*", "", found[2])
    return "\n".join(re.findall(r"`([^`]*)`", found[1])), text[:1].upper() + text[1:] + ("" if text.endswith(".") or not text else ".")


def _rows(module: ModuleType) -> Iterator[tuple[str, str]]:
    """How each option is written, and its meaning."""
    if module.__name__.endswith("zookeeper_shell"):
        for command in COMMANDS.values():
            deprecated = " (deprecated)" if command.deprecated and "{}" not in command.deprecated else ""
            yield f"{command.name} {command.usage}", command.purpose + deprecated
        yield from ((f"{name} {usage}".strip(), purpose) for name, (usage, purpose) in OWN.items())
        return
    if hasattr(module, "parser"):
        yield from (_argparse_row(action) for action in module.parser()._actions)
        return
    options: tuple[Option, ...] = module.TOOL.options if hasattr(module, "TOOL") else getattr(module, "OPTIONS", ())
    if options:
        yield from ((option.usage(), option.explanation()) for option in (*options, *DEFAULT_OPTIONS))


def _argparse_row(action: argparse.Action) -> tuple[str, str]:
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper().replace('_', '-')}"
    default = f" (default: {action.default})" if action.default not in (None, argparse.SUPPRESS, False) else ""
    return f"{', '.join(action.option_strings)}{value}", f"{action.help or ''}{default}"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
