"""`partition.metadata`: the topic id that a log belongs to (KIP-516).

```
version: 0
topic_id: p-Pbmr7pQhGl459Gnaypsg      (no newline after it)
```
The id is a UUID in unpadded base64url. Without one (a topic that Kafka < 2.8 made) there is no file.

Source: facts/storage.md 5; server/PartitionMetadataFile.scala.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final
from uuid import UUID

from pykafka_classic.log.checkpoints import MalformedCheckpoint

ZERO_TOPIC_ID: Final = UUID(int=0)


def encode_topic_id(topic_id: UUID) -> str:
    """Kafka's text form of a UUID: 22 characters."""
    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def encode_partition_metadata(topic_id: UUID) -> bytes:
    """The file's content."""
    assert topic_id != ZERO_TOPIC_ID, "the zero id means that there is none"
    return f"version: 0\ntopic_id: {encode_topic_id(topic_id)}".encode()


def decode_partition_metadata(data: bytes, path: str) -> UUID:
    """The topic id. Raises MalformedCheckpoint for another version, a zero id or anything else."""
    fields = {}
    for line in data.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition(":")
        fields[key.strip()] = value.strip()
    if fields.get("version") != "0":
        raise MalformedCheckpoint(f"{path}: unknown version {fields.get('version')!r}")
    try:
        topic_id = UUID(bytes=base64.urlsafe_b64decode(fields.get("topic_id", "") + "=="))
    except (binascii.Error, ValueError) as error:
        raise MalformedCheckpoint(f"{path}: topic_id is not a UUID in base64: {error}") from error
    if topic_id == ZERO_TOPIC_ID:
        raise MalformedCheckpoint(f"{path}: a zero topic id")
    return topic_id
