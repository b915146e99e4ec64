"""Translation between the seam's requests and answers (`common/zookeeper.py`) and kazoo's.

kazoo's own `*_async` methods stay unused: those for transactions refuse null data, each wraps an answer in a lock and several closures, and none knows
SetWatches. Its request tuples (`kazoo.protocol.serialization`, ZooKeeper's wire structures one to one) are all that is needed; `None` in them is written as
ZooKeeper's null.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, assert_never

from kazoo.protocol import serialization
from kazoo.security import OPEN_ACL_UNSAFE

from pykafka_classic.common.zookeeper import Check, Code, Create, Delete, Exists, GetChildren, GetData, Multi, Request, Result, SetData, Stat

log = logging.getLogger("kafka.zookeeper.ZooKeeperClient")

# A kazoo request tuple; an answer as kazoo deserialises it.
KazooRequest = Any
KazooAnswer = Any

EPHEMERAL: Final = 1
SEQUENTIAL: Final = 2

# Codes of ZooKeeper that mean "this connection or session is of no use", beside those that the seam names: SESSION_MOVED, OPERATION_TIMEOUT; AUTH_FAILED.
AS_CONNECTION_LOSS: Final = frozenset((-118, -7))
AS_SESSION_EXPIRED: Final = frozenset((-115,))

# SetWatches is cut into pieces, as the Java client does, for the server refuses requests over 1 MiB.
SET_WATCHES_MAX_BYTES: Final = 128 * 1024

_INT: Final = struct.Struct(">i")
_LONG: Final = struct.Struct(">q")


class WithPath(Protocol):
    """A request about one node."""

    @property
    def path(self) -> str:
        """The node's."""
        ...


@dataclass(frozen=True, slots=True)
class SetWatches:
    """Sent first on a connection that continues a session: watches are armed anew, and those that missed something since `relative_zxid` fire at once.

    Wire: i64 relative_zxid; then paths of data, exist and child watches, each as i32 count and strings.
    The attribute `type` and the two methods are what kazoo asks of a request.
    """

    relative_zxid: int
    data: tuple[str, ...]
    exist: tuple[str, ...]
    child: tuple[str, ...]

    type = 101

    def serialize(self) -> bytes:
        """The body."""
        parts = [_LONG.pack(self.relative_zxid)]
        for paths in (self.data, self.exist, self.child):
            parts.append(_INT.pack(len(paths)))
            for path in paths:
                encoded = path.encode()
                parts += (_INT.pack(len(encoded)), encoded)
        return b"".join(parts)

    @staticmethod
    def deserialize(_buffer: bytes, _offset: int) -> bool:
        """The answer has no body."""
        return True


def set_watches(relative_zxid: int, data: set[str], exist: set[str], child: set[str]) -> Iterator[SetWatches]:
    """All watches in as many requests as their size asks for."""
    piece: tuple[list[str], list[str], list[str]] = ([], [], [])
    size = 0
    for kind, paths in enumerate((data, exist, child)):
        for path in paths:
            piece[kind].append(path)
            size += 4 + len(path.encode())
            if size >= SET_WATCHES_MAX_BYTES:
                yield SetWatches(relative_zxid, tuple(piece[0]), tuple(piece[1]), tuple(piece[2]))
                piece, size = ([], [], []), 0
    if size:
        yield SetWatches(relative_zxid, tuple(piece[0]), tuple(piece[1]), tuple(piece[2]))


def check_request(request: WithPath | Multi, max_bytes: int) -> str | None:
    """Why this request must not be sent, or None.

    ZooKeeper drops the connection of a client that sends too much, so such a request would be lost and sent again for ever.
    """
    operations = request.operations if isinstance(request, Multi) else (request,)
    size = 0
    for operation in operations:
        if not operation.path.startswith("/"):
            return f"path {operation.path!r} does not start with /"
        try:
            size += len(operation.path.encode())
        except UnicodeEncodeError:
            return f"path {operation.path!r} is no text"
        size += len(getattr(operation, "data", None) or b"")
    return f"{size} bytes are more than ZooKeeper takes ({max_bytes})" if size > max_bytes else None


def to_kazoo(request: Request, chroot: str, watcher: Callable[[Any], None]) -> KazooRequest:
    """kazoo's request tuple; `watcher` is what kazoo calls when a watch fires."""
    match request:
        case GetData(path, watch):
            return serialization.GetData(prefixed(chroot, path), watcher if watch else None)
        case Exists(path, watch):
            return serialization.Exists(prefixed(chroot, path), watcher if watch else None)
        case GetChildren(path, watch):
            return serialization.GetChildren(prefixed(chroot, path), watcher if watch else None)
        case Multi(operations):
            return serialization.Transaction([_operation(operation, chroot) for operation in operations])
        case _:
            return _operation(request, chroot)


def _operation(operation: Create | SetData | Delete | Check, chroot: str) -> KazooRequest:
    path = prefixed(chroot, operation.path)
    match operation:
        case Create():
            flags = (EPHEMERAL if operation.ephemeral else 0) | (SEQUENTIAL if operation.sequential else 0)
            return serialization.Create(path, operation.data, OPEN_ACL_UNSAFE, flags)
        case SetData():
            return serialization.SetData(path, operation.data, operation.version)
        case Delete():
            return serialization.Delete(path, operation.version)
        case Check():
            return serialization.CheckVersion(path, operation.version)
        case _:
            assert_never(operation)


def prefixed(chroot: str, path: str) -> str:
    """The path as the server knows it."""
    return (chroot if path == "/" else chroot + path) if chroot else path


def unprefixed(chroot: str, path: str) -> str:
    """The path as the client knows it."""
    return path[len(chroot) :] or "/" if path.startswith(chroot) else path


def from_kazoo(request: Request, answer: KazooAnswer, chroot: str) -> Result:
    """The answer to a request that ZooKeeper carried out (a multi also where it failed)."""
    match request:
        case GetData(path):
            data, stat = answer
            return Result(Code.OK, path, data=data, stat=stat_of(stat))
        case Exists(path):
            return Result(Code.OK, path, stat=stat_of(answer)) if answer is not None else Result(Code.NO_NODE, path)
        case GetChildren(path):
            return Result(Code.OK, path, children=tuple(answer))
        case Multi(operations):
            return _multi_result([_operation_result(operation, each, chroot) for operation, each in zip(operations, answer, strict=True)])
        case _:
            return _operation_result(request, answer, chroot)


def _multi_result(results: list[Result]) -> Result:
    # Of a failed multi ZooKeeper answers OK for the operations before the culprit (rolled back), its error, and RUNTIME_INCONSISTENCY for those after it.
    failed = [result.code for result in results if not result.ok]
    culprit = next((code for code in failed if code is not Code.RUNTIME_INCONSISTENCY), None)
    return Result(culprit or (failed[0] if failed else Code.OK), results=tuple(results))


def _operation_result(operation: Create | SetData | Delete | Check, answer: KazooAnswer, chroot: str) -> Result:
    if isinstance(answer, Exception):
        return Result(code_of(answer), operation.path)
    if isinstance(operation, Create):
        return Result(Code.OK, unprefixed(chroot, answer))
    return Result(Code.OK, operation.path, stat=stat_of(answer) if isinstance(operation, SetData) else None)


def code_of(error: Exception) -> Code:
    """The seam's code for kazoo's exception."""
    number: int = getattr(error, "code", 0)
    if number in AS_CONNECTION_LOSS:
        return Code.CONNECTION_LOSS
    if number in AS_SESSION_EXPIRED:
        return Code.SESSION_EXPIRED
    try:
        return Code(number)
    except ValueError:
        log.error("ZooKeeper answered %r, which nothing here expects; taken as BAD_ARGUMENTS", error)
        return Code.BAD_ARGUMENTS


def stat_of(stat: Any) -> Stat:
    """The seam's stat."""
    return Stat(
        czxid=stat.czxid,
        mzxid=stat.mzxid,
        ctime_ms=stat.ctime,
        mtime_ms=stat.mtime,
        version=stat.version,
        cversion=stat.cversion,
        ephemeral_owner=stat.ephemeralOwner,
        data_length=stat.dataLength,
        num_children=stat.numChildren,
        pzxid=stat.pzxid,
        acl_version=stat.aversion,
    )
