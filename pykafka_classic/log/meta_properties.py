"""`meta.properties` of a log dir: which broker of which cluster it belongs to.

```
#
#Sat Nov 21 05:36:52 UTC 2026
broker.id=0
version=0
cluster.id=ot0bJAw-S-6lI08LQiDbZw
```
A Java properties file. Every log dir of a broker has one; they must agree with each other, with `broker.id` and with /cluster/id.

Source: facts/storage.md 5; server/BrokerMetadataCheckpoint.scala.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pykafka_classic.log.file_system import FileSystem

FILE_NAME: Final = "meta.properties"


class InvalidMetaProperties(Exception):
    """The file is there but says something that this broker cannot accept."""


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """Version 0 (ZooKeeper mode). `broker_id` -1: not chosen yet; `cluster_id` None: written before Kafka 0.10.1."""

    broker_id: int
    cluster_id: str | None

    def encode(self, written_at: str = "") -> bytes:
        """The file's content; `written_at` goes into its comment."""
        lines = ["#", f"#{written_at}", f"broker.id={self.broker_id}", "version=0"]
        if self.cluster_id is not None:
            lines.append(f"cluster.id={self.cluster_id}")
        return ("\n".join(lines) + "\n").encode()


def decode_properties(data: bytes) -> dict[str, str]:
    """Keys and values; comments and blank lines left out. Enough of Java's syntax for what Kafka writes."""
    properties = {}
    for line in data.decode("utf-8", "replace").splitlines():
        stripped = line.strip()
        if stripped and stripped[0] not in "#!":
            key, _, value = stripped.partition("=" if "=" in stripped else ":")
            properties[key.strip()] = value.strip().replace("\\:", ":").replace("\\=", "=")
    return properties


def read_meta_properties(file_system: FileSystem, log_dir: str) -> MetaProperties | None:
    """What a log dir says; None where the file is absent. Raises InvalidMetaProperties, OSError."""
    path = f"{log_dir}/{FILE_NAME}"
    try:
        properties = decode_properties(file_system.read(path))
    except FileNotFoundError:
        return None
    if properties.get("version", "0") != "0":
        raise InvalidMetaProperties(f"{path}: version {properties['version']} is not the version 0 of a ZooKeeper cluster")
    try:
        return MetaProperties(int(properties.get("broker.id", "-1")), properties.get("cluster.id"))
    except ValueError as error:
        raise InvalidMetaProperties(f"{path}: broker.id {properties['broker.id']!r} is not a number") from error


def write_meta_properties(file_system: FileSystem, log_dir: str, properties: MetaProperties, written_at: str = "") -> None:
    """Replace the file atomically. Raises OSError."""
    file_system.write_atomically(f"{log_dir}/{FILE_NAME}", properties.encode(written_at))
