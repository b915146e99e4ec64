"""Requests to ZooKeeper that only zookeeper-shell makes: access lists, credentials, container and TTL nodes, watches taken back, the ensemble's configuration.

They go the way of the seam's requests (`common/zookeeper.py`) without being part of it: no decider makes them, so no fake has to answer them.
What kazoo has no structure for is written here; wire formats: ZooKeeper 3.5's zookeeper.jute.

| request | type | body |
|---|---|---|
| createContainer | 19 | as create |
| createTTL | 21 | as create, then i64 ttl in ms |
| removeWatches | 18 | string path, i32 kind: 1 child watches, 2 data watches, 3 both |
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, assert_never

from kazoo.protocol import serialization
from kazoo.security import ACL, Id

from pykafka_classic.common.zookeeper import Code, Request, Result
from pykafka_classic.edges import kazoo_requests
from pykafka_classic.edges.kazoo_requests import EPHEMERAL, SEQUENTIAL, KazooAnswer, KazooRequest, prefixed, stat_of, unprefixed

CONFIG_PATH: Final = "/zookeeper/config"

_CONTAINER: Final = 4
_TTL: Final = 5  # with a sequence number: 6
_CHILD_WATCHES: Final = 1
_DATA_WATCHES: Final = 2
_INT: Final = struct.Struct(">i")
_LONG: Final = struct.Struct(">q")


@dataclass(frozen=True, slots=True)
class Acl:
    """One entry of an access list. `permissions`: the bits of `PERMISSIONS`; `scheme` and `id` say whose they are."""

    permissions: int
    scheme: str
    id: str


OPEN_ACL: Final = (Acl(31, "world", "anyone"),)
PERMISSIONS: Final = {"c": 4, "d": 8, "r": 1, "w": 2, "a": 16}
"""ZooKeeper's bits (ZooDefs.Perms) by letter, in the order in which they are printed."""


@dataclass(frozen=True, slots=True)
class AclResult(Result):
    """A node's access list, beside its stat."""

    acl: tuple[Acl, ...] = ()


@dataclass(frozen=True, slots=True)
class RemovedWatches(Result):
    """Which watches there were."""

    data_watch: bool = False
    child_watch: bool = False


@dataclass(frozen=True, slots=True)
class GetAcl:
    """Read the access list and the stat."""

    path: str


@dataclass(frozen=True, slots=True)
class SetAcl:
    """Replace the access list if it has this version; ZooKeeper refuses an empty one with INVALID_ACL."""

    path: str
    acl: tuple[Acl, ...]
    version: int


@dataclass(frozen=True, slots=True)
class CreateNode:
    """Create a node of any kind, with an access list. `ttl_ms`: None for a node that stays; a container vanishes some time after its last child."""

    path: str
    data: bytes | None
    acl: tuple[Acl, ...] = OPEN_ACL
    ephemeral: bool = False
    sequential: bool = False
    container: bool = False
    ttl_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Sync:
    """Let the server that is asked catch up with the leader; there need not be such a node."""

    path: str


@dataclass(frozen=True, slots=True)
class AddAuth:
    """Say who this session is. AUTH_FAILED is the end of the session."""

    scheme: str
    auth: str
    path: str = "/"


@dataclass(frozen=True, slots=True)
class RemoveWatches:
    """Take back this session's watches of a node: those of its data and existence, those of its children, or both. NO_WATCHER where there is none."""

    path: str
    of_data: bool = True
    of_children: bool = True


@dataclass(frozen=True, slots=True)
class GetConfig:
    """Read the ensemble's configuration, which stands outside every chroot."""

    watch: bool = False
    path: str = CONFIG_PATH


@dataclass(frozen=True, slots=True)
class Reconfigure:
    """Change the ensemble: by what joins and leaves, or to `members`. `config_id`: the version that must be in force; -1 for any."""

    joining: str | None
    leaving: str | None
    members: str | None
    config_id: int
    path: str = CONFIG_PATH


ShellRequest: TypeAlias = GetAcl | SetAcl | CreateNode | Sync | AddAuth | RemoveWatches | GetConfig | Reconfigure
AnyRequest: TypeAlias = Request | ShellRequest


def any_to_kazoo(request: AnyRequest, chroot: str, watcher: Callable[[Any], None]) -> KazooRequest:
    """kazoo's request tuple, or what has the same three members."""
    return to_kazoo(request, chroot, watcher) if isinstance(request, ShellRequest) else kazoo_requests.to_kazoo(request, chroot, watcher)


def any_from_kazoo(request: AnyRequest, answer: KazooAnswer, chroot: str) -> Result:
    """The answer to a request that ZooKeeper carried out."""
    return from_kazoo(request, answer, chroot) if isinstance(request, ShellRequest) else kazoo_requests.from_kazoo(request, answer, chroot)


def to_kazoo(request: ShellRequest, chroot: str, watcher: Callable[[Any], None]) -> KazooRequest:
    """For those of the shell."""
    path = prefixed(chroot, request.path)
    match request:
        case GetAcl():
            return serialization.GetACL(path)
        case SetAcl():
            return serialization.SetACL(path, _kazoo_acl(request.acl), request.version)
        case CreateNode():
            return _kazoo_create(request, path)
        case Sync():
            return serialization.Sync(path)
        case AddAuth():
            return serialization.Auth(0, request.scheme, request.auth)
        case RemoveWatches():
            return _RemoveWatches(path, (_CHILD_WATCHES if request.of_children else 0) | (_DATA_WATCHES if request.of_data else 0))
        case GetConfig():
            return serialization.GetData(request.path, watcher if request.watch else None)
        case Reconfigure():
            return serialization.Reconfig(request.joining, request.leaving, request.members, request.config_id)
        case _:
            assert_never(request)


def from_kazoo(request: ShellRequest, answer: KazooAnswer, chroot: str) -> Result:
    """For those of the shell. Which watches `RemoveWatches` found, its session knows."""
    match request:
        case GetAcl(path):
            entries, stat = answer
            return AclResult(Code.OK, path, stat=stat_of(stat), acl=tuple(Acl(each.perms, each.id.scheme, each.id.id) for each in entries))
        case SetAcl(path):
            return Result(Code.OK, path, stat=stat_of(answer))
        case CreateNode():
            return Result(Code.OK, unprefixed(chroot, answer[0]))
        case GetConfig() | Reconfigure():
            data, stat = answer
            return Result(Code.OK, request.path, data=data, stat=stat_of(stat))
        case Sync() | AddAuth() | RemoveWatches():
            return Result(Code.OK, request.path)
        case _:
            assert_never(request)


def _kazoo_create(request: CreateNode, path: str) -> KazooRequest:
    # Three requests, by the kind of node; the answers of all have a path and a stat.
    flags = (EPHEMERAL if request.ephemeral else 0) | (SEQUENTIAL if request.sequential else 0)
    if request.container:
        flags = _CONTAINER
    elif request.ttl_ms is not None:
        flags = _TTL + request.sequential
    create = serialization.Create2(path, request.data, _kazoo_acl(request.acl), flags)
    if request.container:
        return _OtherCreate(create, 19, b"")
    return create if request.ttl_ms is None else _OtherCreate(create, 21, _LONG.pack(request.ttl_ms))


def _kazoo_acl(entries: tuple[Acl, ...]) -> list[Any]:
    return [ACL(each.permissions, Id(each.scheme, each.id)) for each in entries]


@dataclass(frozen=True, slots=True)
class _OtherCreate:
    """A create of another type, with more behind its body. What kazoo asks of a request: type, serialize, deserialize."""

    create: Any
    type: int
    tail: bytes

    def serialize(self) -> bytes:
        return bytes(self.create.serialize()) + self.tail

    def deserialize(self, buffer: bytes, offset: int) -> Any:
        return self.create.deserialize(buffer, offset)


@dataclass(frozen=True, slots=True)
class _RemoveWatches:
    path: str
    kind: int

    type = 18

    def serialize(self) -> bytes:
        encoded = self.path.encode()
        return _INT.pack(len(encoded)) + encoded + _INT.pack(self.kind)

    @staticmethod
    def deserialize(_buffer: bytes, _offset: int) -> bool:
        return True
