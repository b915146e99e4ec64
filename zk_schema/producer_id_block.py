"""`/latest_producer_id_block`: the last block of 1,000 producer ids given out.

* Kind: persistent; null data (not empty data: a Java broker fails to read that) until the first block is taken.
* Writer: the broker that takes the next block, by compare-and-set, retried until it succeeds. So no two producers of a cluster ever have the same id.
* Watchers: none.
* Sample: `{"version":1,"broker":0,"block_start":"2000","block_end":"2999"}`; both ends belong to the block.

Source: 2.8:core/src/main/scala/kafka/coordinator/transaction/ProducerIdManager.scala; facts/coordination.md 6.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from zk_schema.json_fields import JsonFields, to_json

PATH: Final = "/latest_producer_id_block"
VERSION: Final = 1
BLOCK_SIZE: Final = 1000  # ids


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """A broker's block of producer ids."""

    broker: int
    block_start: int  # first id
    block_end: int  # last id


def path() -> str:
    """The one node."""
    return PATH


def next_block(latest: ProducerIdBlock | None, broker: int) -> ProducerIdBlock:
    """The block after the latest; None: no block has been given out."""
    start = 0 if latest is None else latest.block_end + 1
    return ProducerIdBlock(broker, start, start + BLOCK_SIZE - 1)


def encode(value: ProducerIdBlock) -> bytes:
    """Version 1; the bounds are strings."""
    return to_json({"version": VERSION, "broker": value.broker, "block_start": str(value.block_start), "block_end": str(value.block_end)})


def decode(data: bytes | None) -> ProducerIdBlock:
    """Version 1. A node without data has no block yet: look before you decode."""
    fields = JsonFields.of(data, PATH)
    return ProducerIdBlock(fields.integer("broker"), fields.decimal("block_start"), fields.decimal("block_end"))
