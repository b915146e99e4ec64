"""Names of files and directories of a log, and what they say.

```
<log dir>/flights-0/                          one log; the partition is what follows the last '-'
<log dir>/flights-0.<32 hex>-delete/          waits for its removal
<log dir>/flights-0.<32 hex>-future/          a replica on its way to this log dir
00000000000000000064.log                      record batches from base offset 64
00000000000000000064.{index,timeindex,txnindex,snapshot}
*.deleted  waits for its removal;  *.cleaned  half written by the cleaner;  *.swap  complete, to be renamed in place
```
Source: facts/storage.md 3; Log.scala (companion object).
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from pykafka_classic.common.clock import Random
from pykafka_classic.common.topic_partition import TopicPartition

LOG: Final = ".log"
INDEX: Final = ".index"
TIME_INDEX: Final = ".timeindex"
TXN_INDEX: Final = ".txnindex"
SNAPSHOT: Final = ".snapshot"
DELETED: Final = ".deleted"
CLEANED: Final = ".cleaned"
SWAP: Final = ".swap"

LEADER_EPOCH_CHECKPOINT: Final = "leader-epoch-checkpoint"
PARTITION_METADATA: Final = "partition.metadata"

NAME_LENGTH_MAX: Final = 255  # bytes of one path component on common file systems

_NUMBERED: Final = re.compile(r"(\d{20})(\.[a-z]+)(\.deleted|\.cleaned|\.swap)?$")
_DIRECTORY: Final = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)(\.[0-9a-f]{32}-(?P<mark>delete|future))?$", re.DOTALL)


class DirectoryKind(Enum):
    """What a partition's directory is there for."""

    CURRENT = ""
    DELETE = "delete"
    FUTURE = "future"


class NumberedFile(NamedTuple):
    """A file name taken apart: `00000000000000000064.index.swap` is (64, ".index", ".swap")."""

    base_offset: int
    kind: str
    suffix: str


def numbered_name(base_offset: int, kind: str, suffix: str = "") -> str:
    """The name of a segment's file: 20 digits, kind, suffix."""
    return f"{base_offset:020d}{kind}{suffix}"


def parse_numbered_name(name: str) -> NumberedFile | None:
    """The parts of a segment's file name; None for any other file."""
    match = _NUMBERED.match(name)
    return NumberedFile(int(match[1]), match[2], match[3] or "") if match else None


def parse_directory_name(name: str) -> tuple[TopicPartition, DirectoryKind] | None:
    """Whose directory this is; None where the name has another shape."""
    match = _DIRECTORY.match(name)
    if match is None:
        return None
    return TopicPartition(match["topic"], int(match["partition"])), DirectoryKind(match["mark"] or "")


def marked_directory_name(partition: TopicPartition, kind: DirectoryKind, random: Random) -> str:
    """A fresh `-delete` or `-future` name. For `-delete` the topic is cut where the name would be too long; nobody reads it back."""
    tail = f"-{partition.partition}.{random.getrandbits(128):032x}-{kind.value}"
    topic = partition.topic
    if kind is DirectoryKind.DELETE:
        topic = topic[: NAME_LENGTH_MAX - len(tail)]
    return topic + tail
