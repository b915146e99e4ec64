"""The JSON shape that several families share: `{"version":1,"partitions":[{"topic":"t","partition":0},...]}`.

A partition is a plain pair (topic, partition); any NamedTuple of the two serves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from zk_schema.json_fields import JsonFields, to_json

VERSION: Final = 1


def encode_partitions(partitions: Iterable[tuple[str, int]]) -> bytes:
    """The JSON, in the order given."""
    return to_json({"version": VERSION, "partitions": [{"topic": topic, "partition": partition} for topic, partition in partitions]})


def decode_partitions(data: bytes | None, family: str) -> tuple[tuple[str, int], ...]:
    """The pairs in the order stored, each once."""
    pairs = [(fields.text("topic"), fields.integer("partition")) for fields in JsonFields.of(data, family).objects("partitions")]
    return tuple(dict.fromkeys(pairs))
