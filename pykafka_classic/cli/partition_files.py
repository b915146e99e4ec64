"""Files of JSON that name partitions: `{"version":1,"partitions":[{"topic":"t","partition":0,...}]}`. What is wrong with one is told in a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.common.topic_partition import TopicPartition

Row = dict[str, Any]


def read_json(name: str, *, otherwise: str) -> Row:
    """The object in a file. CommandFailed with the text `otherwise` where there is none."""
    try:
        stored = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandFailed(f"Unable to read file {name}: {error.strerror}") from error
    except ValueError as error:
        raise CommandFailed(otherwise) from error
    if not isinstance(stored, dict):
        raise CommandFailed(otherwise)
    return stored


def partitions_of(stored: Row, name: str, *, otherwise: str) -> list[tuple[TopicPartition, Row]]:
    """The partitions of the file `name`, each with its fields. CommandFailed; `otherwise` where the list is missing."""
    rows = stored.get("partitions")
    if rows is None:
        raise CommandFailed(otherwise)
    try:
        return [(TopicPartition(_text(row["topic"]), _number(row["partition"])), row) for row in rows]
    except (TypeError, KeyError, ValueError) as error:
        raise CommandFailed(f"{name} does not hold a list of objects with the fields topic and partition.") from error


def number_of(row: Row, field: str, name: str) -> int:
    """A number in a row. CommandFailed where there is none."""
    try:
        return _number(row[field])
    except (KeyError, ValueError) as error:
        raise CommandFailed(f"{name} has a partition without the number {field}.") from error


def refuse_twice(partitions: Iterable[TopicPartition], *, otherwise: str) -> None:
    """CommandFailed, with the partitions behind the text `otherwise`, where some are named more than once."""
    found = list(partitions)
    twice = [partition for index, partition in enumerate(found) if partition in found[:index]]
    if twice:
        raise CommandFailed(f"{otherwise}: {','.join(map(str, dict.fromkeys(twice)))}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("not a number")
    return value
