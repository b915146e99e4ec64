"""Text checkpoints: small files that remember offsets between two lives of a broker.

```
0                     format version
2                     number of entries
topicA 0 1234         topic, partition, offset        (leader-epoch-checkpoint: epoch, start offset)
topicB 3 99
```
UTF-8, a newline after every line, the order of the lines means nothing. A file of 0 bytes is valid and has no entries.
Written whole: `.tmp`, fsync, rename, so that a crash leaves the old one or the new one.

Source: facts/storage.md 5; server/checkpoints/{CheckpointFile,OffsetCheckpointFile,LeaderEpochCheckpointFile}.scala.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.file_system import FileSystem

RECOVERY_POINT: Final = "recovery-point-offset-checkpoint"
LOG_START: Final = "log-start-offset-checkpoint"
HIGH_WATERMARK: Final = "replication-offset-checkpoint"
CLEANER: Final = "cleaner-offset-checkpoint"

_VERSION: Final = "0"


class MalformedCheckpoint(OSError):
    """A checkpoint that cannot be understood. An OSError, for it calls for the same: its log dir cannot be trusted."""


def encode_lines(lines: Iterable[str]) -> bytes:
    """Version, count and lines as file content."""
    body = list(lines)
    return "\n".join([_VERSION, str(len(body)), *body, ""]).encode()


def decode_lines(data: bytes, path: str) -> list[list[str]]:
    """The fields of every entry. Raises MalformedCheckpoint for an unknown version or a wrong count."""
    lines = data.decode("utf-8", "replace").splitlines()
    if not lines:
        return []
    if lines[0].strip() != _VERSION:
        raise MalformedCheckpoint(f"{path}: unknown version {lines[0]!r}")
    if len(lines) < 2 or not lines[1].strip().isdecimal():
        raise MalformedCheckpoint(f"{path}: no number of entries in its second line")
    entries = [line.split() for line in lines[2:] if line]
    if len(entries) != int(lines[1]):
        raise MalformedCheckpoint(f"{path}: announces {lines[1]} entries and has {len(entries)}")
    return entries


class OffsetCheckpointFile:
    """One offset a partition: recovery points, log starts, high watermarks, cleaner offsets of one log dir."""

    def __init__(self, file_system: FileSystem, path: str) -> None:
        self._file_system = file_system
        self.path = path

    def read(self) -> dict[TopicPartition, int]:
        """All entries; none where the file is absent. Raises MalformedCheckpoint."""
        try:
            data = self._file_system.read(self.path)
        except FileNotFoundError:
            return {}
        try:
            return {TopicPartition(topic, int(partition)): int(offset) for topic, partition, offset in decode_lines(data, self.path)}
        except ValueError as error:
            raise MalformedCheckpoint(f"{self.path}: {error}") from error

    def write(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace the file. fsync; raises OSError."""
        self._file_system.write_atomically(self.path, self.encode(offsets))

    @staticmethod
    def encode(offsets: Mapping[TopicPartition, int]) -> bytes:
        """The file's content."""
        return encode_lines(f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items())


def encode_epochs(entries: Iterable[tuple[int, int]]) -> bytes:
    """The content of a leader-epoch-checkpoint: (epoch, start offset) in ascending order."""
    return encode_lines(f"{epoch} {start_offset}" for epoch, start_offset in entries)


def decode_epochs(data: bytes, path: str) -> list[tuple[int, int]]:
    """The entries of a leader-epoch-checkpoint. Raises MalformedCheckpoint."""
    try:
        return [(int(epoch), int(start_offset)) for epoch, start_offset in decode_lines(data, path)]
    except ValueError as error:
        raise MalformedCheckpoint(f"{path}: {error}") from error
