"""Reads what a ZooKeeper server did, change by change, from its transaction log: the only witness of the order in which nodes were written.

A file `version-2/log.<zxid>` is a header of 16 bytes, then entries until the first of length 0 (the file is allocated beforehand):

    checksum int64 | length int32 | entry: client int64, cxid int32, zxid int64, time int64, type int32, the operation | byte 42

A multi holds a count and then (type, length, operation) for each part. Source: org.apache.zookeeper.server.persistence.FileTxnLog and zookeeper.jute.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HEADER: Final = 16
FRAME: Final = struct.Struct(">qi")
ENTRY: Final = struct.Struct(">qiqqi")
MULTI: Final = 14
DELETE: Final = 2
SET_DATA: Final = 5
CREATES: Final = (1, 15, 19, 21)  # create, create2, createContainer, createTTL


@dataclass(frozen=True, slots=True)
class Change:
    """A node was created, changed or deleted; `version` is that of its data afterwards, where it was changed."""

    zxid: int
    event: str
    path: str
    data: bytes | None = None
    version: int | None = None


def changes(data_directory: Path) -> Iterator[Change]:
    """All of a server's life, in order; ephemeral nodes that ended with their session are not in it."""
    for log in sorted((data_directory / "version-2").glob("log.*"), key=lambda path: int(path.suffix[1:], 16)):
        yield from _changes(log.read_bytes())


def _changes(log: bytes) -> Iterator[Change]:
    at = HEADER
    while at + FRAME.size < len(log):
        _, length = FRAME.unpack_from(log, at)
        if length <= 0:
            return
        at += FRAME.size
        _, _, zxid, _, kind = ENTRY.unpack_from(log, at)
        for part, body in _parts(kind, log[at + ENTRY.size : at + length]):
            change = _change(zxid, part, body)
            if change is not None:
                yield change
        at += length + 1


def _parts(kind: int, body: bytes) -> Iterator[tuple[int, bytes]]:
    if kind != MULTI:
        yield kind, body
        return
    (count,), at = struct.unpack_from(">i", body), 4
    for _ in range(count):
        part, length = struct.unpack_from(">ii", body, at)
        yield part, body[at + 8 : at + 8 + length]
        at += 8 + length


def _change(zxid: int, kind: int, body: bytes) -> Change | None:
    if kind not in (DELETE, SET_DATA, *CREATES):
        return None  # a session, a check, or the error in place of each part of a multi that failed
    path, at = _buffer(body, 0)
    assert path is not None
    if kind == DELETE:
        return Change(zxid, "delete", path.decode())
    data, at = _buffer(body, at)
    if kind == SET_DATA:
        return Change(zxid, "change", path.decode(), data, struct.unpack_from(">i", body, at)[0])
    return Change(zxid, "create", path.decode(), data)


def _buffer(body: bytes, at: int) -> tuple[bytes | None, int]:
    (length,) = struct.unpack_from(">i", body, at)
    return (None, at + 4) if length < 0 else (body[at + 4 : at + 4 + length], at + 4 + length)
