"""`/migration`: how far a cluster has come on its way from ZooKeeper to KRaft (3.4 to 3.9).

* Kind: persistent.
* Writer: the KRaft controller that leads the migration. A cluster that does not migrate has no such node; a broker of 2.8 never looks at it.
* Watchers: none among brokers.
* Sample: `{"version":0,"kraft_metadata_offset":-1,"kraft_controller_id":3000,"kraft_metadata_epoch":-1,"kraft_controller_epoch":1}`.

Source: MigrationZNode in 3.9:core/src/main/scala/kafka/zk/ZkData.scala; KIP-866.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from zk_schema.json_fields import JsonFields, to_json

PATH: Final = "/migration"
VERSION: Final = 0


@dataclass(frozen=True, slots=True)
class MigrationZNode:
    """Who migrates, and the last record of the KRaft log that is in ZooKeeper."""

    kraft_controller_id: int
    kraft_controller_epoch: int
    kraft_metadata_offset: int
    kraft_metadata_epoch: int


def encode(value: MigrationZNode) -> bytes:
    """Version 0."""
    return to_json(
        {
            "version": VERSION,
            "kraft_metadata_offset": value.kraft_metadata_offset,
            "kraft_controller_id": value.kraft_controller_id,
            "kraft_metadata_epoch": value.kraft_metadata_epoch,
            "kraft_controller_epoch": value.kraft_controller_epoch,
        }
    )


def decode(data: bytes | None) -> MigrationZNode:
    """Version 0."""
    fields = JsonFields.of(data, PATH)
    if fields.integer("version") != VERSION:
        fields.fail("unknown version")
    return MigrationZNode(
        kraft_controller_id=fields.integer("kraft_controller_id"),
        kraft_controller_epoch=fields.integer("kraft_controller_epoch"),
        kraft_metadata_offset=fields.long("kraft_metadata_offset"),
        kraft_metadata_epoch=fields.integer("kraft_metadata_epoch"),
    )
