"""Files of JSON that name partitions: `{"version":1,"partitions":[{"topic":"t","partition":0,...}]}`. What is wrong with one is told in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.kafka_json import WrongJson, as_array, as_number, as_object, as_text, field, parse_object
from pykafka_classic.common.topic_partition import TopicPartition

Row = Mapping[str, Any]


def read_json(name: str, *, otherwise: str, why: bool = True) -> Row:
    """The object in a file. CommandFailed, with the text `otherwise` where it is no JSON; `why`: what the system says of a file that cannot be read too."""
    try:
        return parse_object(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandFailed(f"Unable to read file {name}" + (f": {error.strerror}" if why else "")) from error
    except ValueError as error:
        raise CommandFailed(otherwise) from error
    except WrongJson as error:
        raise CommandFailed(str(error)) from error


def partitions_of(stored: Row, *, otherwise: str) -> list[tuple[TopicPartition, Row]]:
    """The partitions of a file, each with its fields. CommandFailed; `otherwise` where the list is missing."""
    if "partitions" not in stored:
        raise CommandFailed(otherwise)
    try:
        rows = [as_object(row) for row in as_array(stored["partitions"])]
        return [(TopicPartition(as_text(field(row, "topic")), as_number(field(row, "partition"))), row) for row in rows]
    except WrongJson as error:
        raise CommandFailed(str(error)) from error


def number_of(row: Row, name: str, kind: str) -> int:
    """A number in a row; `kind` Int or Long. CommandFailed where there is none."""
    try:
        return as_number(field(row, name), kind)
    except WrongJson as error:
        raise CommandFailed(str(error)) from error


def refuse_twice(partitions: Iterable[TopicPartition], *, otherwise: str) -> None:
    """CommandFailed, with the partitions behind the text `otherwise`, where some are named more than once."""
    found = list(partitions)
    twice = [partition for index, partition in enumerate(found) if partition in found[:index]]
    if twice:
        raise CommandFailed(f"{otherwise}: {','.join(map(str, dict.fromkeys(twice)))}")
