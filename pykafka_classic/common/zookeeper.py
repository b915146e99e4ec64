"""The seam to ZooKeeper: requests and answers as values, watches and session changes as events.

The deciders (controller, partition, group) never see a ZooKeeper client. They `submit` a list of requests, which the adapter pipelines (at most
`zookeeper.max.in.flight.requests` at a time), and get the list of answers in the same order. Real: `edges/zookeeper.py` over kazoo. In tests: a fake with
sessions, ephemerals, one-shot watches and versions.

Rules of the seam (Kafka's ZooKeeperClient; facts/coordination.md 1.3):
* CONNECTION_LOSS never reaches a decider: the adapter waits until it is connected and sends the lost requests again. So a write may have been done twice, or
  done and then answered NODE_EXISTS or BAD_VERSION: whoever writes re-reads and compares before it believes in a failure.
* SESSION_EXPIRED answers every request of the dead session, those not sent yet too.
* A watch is one-shot. It is set by `GetData`/`Exists` (node watch) and `GetChildren` (child watch) with `watch=True`; watches die with their session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final, Protocol, TypeAlias

from pykafka_classic.common.promise import Promise

ANY_VERSION: Final = -1


class Code(IntEnum):
    """ZooKeeper's answer codes (its own numbers)."""

    OK = 0
    CONNECTION_LOSS = -4
    UNIMPLEMENTED = -6
    BAD_ARGUMENTS = -8
    NEW_CONFIG_NO_QUORUM = -13
    RECONFIG_IN_PROGRESS = -14
    NO_NODE = -101
    NO_AUTH = -102
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112
    INVALID_ACL = -114
    AUTH_FAILED = -115
    NO_WATCHER = -121
    RECONFIG_DISABLED = -123
    RUNTIME_INCONSISTENCY = -2  # an operation of a multi that was not tried because another one failed


@dataclass(frozen=True, slots=True)
class Stat:
    """What ZooKeeper keeps beside a node's data. Times in ms."""

    czxid: int
    mzxid: int
    ctime_ms: int
    mtime_ms: int
    version: int  # number of changes of the data: the expected version of a conditional write
    cversion: int
    ephemeral_owner: int  # session id, 0 for a persistent node
    data_length: int
    num_children: int
    pzxid: int = 0  # transaction of the last change among the children
    acl_version: int = 0


def session_name(session_id: int) -> str:
    """A session's id as ZooKeeper's own tools write it (0x100000abc, without a sign); empty for 0, which is none."""
    return f"0x{session_id & 0xFFFFFFFFFFFFFFFF:x}" if session_id else ""


@dataclass(frozen=True, slots=True)
class GetData:
    """Read data and stat; NO_NODE where absent (a watch is then NOT set: use Exists)."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """Read the stat; NO_NODE where absent, and then a watch waits for the creation."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class GetChildren:
    """Read the children's names, in no order."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    """Create a node; `data=None` is ZooKeeper's null, which is not b"". The answer's `path` has the sequence number, where asked for."""

    path: str
    data: bytes | None = None
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class SetData:
    """Replace the data if the node has this version."""

    path: str
    data: bytes | None
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a node without children if it has this version."""

    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Check:
    """Only inside a Multi: fail it unless the node has this version."""

    path: str
    version: int


@dataclass(frozen=True, slots=True)
class Multi:
    """All or nothing. The answer's `results` has one entry an operation; its `code` is that of the operation that failed, else OK."""

    operations: tuple[Create | SetData | Delete | Check, ...]


Request: TypeAlias = GetData | Exists | GetChildren | Create | SetData | Delete | Multi


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one request; fields that do not belong to its kind are None or empty."""

    code: Code
    path: str = ""
    data: bytes | None = None
    stat: Stat | None = None
    children: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()

    @property
    def ok(self) -> bool:
        """True for code OK."""
        return self.code is Code.OK


class WatchKind(Enum):
    """What a one-shot watch saw."""

    CREATED = "created"
    DELETED = "deleted"
    CHANGED = "changed"
    CHILDREN = "children"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """A watch fired: something happened at `path`. Only a hint: read again."""

    kind: WatchKind
    path: str


class SessionEvent(Enum):
    """How the session fares. DISCONNECTED is not EXPIRED: ephemerals live on until the ensemble says so."""

    CONNECTED = "connected"  # a connection stands again, same session
    DISCONNECTED = "disconnected"
    EXPIRED = "expired"  # the ensemble has dropped the session and its ephemerals
    RENEWED = "renewed"  # a new session stands after EXPIRED


class SessionExpired(Exception):
    """Raised by those who turn SESSION_EXPIRED answers into an exception."""


class ZooKeeper(Protocol):
    """One session, renewed for ever by the adapter after an expiry."""

    @property
    def session_id(self) -> int:
        """The id of the current session; 0 while there is none."""
        ...

    def submit(self, requests: Sequence[Request]) -> Promise[list[Result]]:
        """Send all, pipelined; answers in the order of the requests. Never fails but by a bug: errors are codes."""
        ...

    def add_watch_listener(self, listener: Callable[[WatchEvent], None]) -> None:
        """Tell of every watch that fires, in ZooKeeper's order."""
        ...

    def add_session_listener(self, listener: Callable[[SessionEvent], None]) -> None:
        """Tell of session changes."""
        ...
