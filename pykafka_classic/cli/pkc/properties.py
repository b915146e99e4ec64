"""-X NAME=VALUE: settings of our clients by Kafka's names."""

from __future__ import annotations

from collections.abc import Iterable

import click


def parse_properties(given: Iterable[str]) -> dict[str, str]:
    """`linger.ms=5` as "linger_ms": "5". UsageError for what is no such pair."""
    found = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise click.UsageError(f"-X {each}: NAME=VALUE is wanted.")
        found[name.strip().replace(".", "_")] = value.strip()
    return found
