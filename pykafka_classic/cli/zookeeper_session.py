"""ZooKeeper as tools use it: one session, each answer waited for, and what a user can get wrong told in a sentence within five seconds.

Nobody listens at the address, a broker listens there, the name is unknown: `reach` finds out which, but only when the first second brought no session.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.common.zookeeper import Code, Create, Delete, Exists, GetChildren, GetData, Result, SetData
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.shell_requests import AnyRequest
from pykafka_classic.edges.zookeeper import ZooKeeperUnavailable
from zk_schema import config_changes, configs
from zk_schema.configs import ConfigEntity

DEFAULT_PORT: Final = 2181
FIRST_PATIENCE_MS: Final = 1_000  # then it is looked who listens there
SECOND_PATIENCE_MS: Final = 2_500
PROBE_S: Final = 0.5  # for each step of a look; at most PROBED_MAX servers are looked at
PROBED_MAX: Final = 3
ANSWER_S: Final = 30.0


def with_ports(connect: str) -> str:
    """A connection string in which every server has its port. CommandFailed for what is none."""
    servers, slash, chroot = connect.strip().partition("/")
    named = [server.strip() for server in servers.split(",") if server.strip()]
    for server in named:
        _, colon, port = server.rpartition(":")
        if colon and not server.endswith("]") and not port.isdecimal():
            raise CommandFailed(f"{server!r} is no address of a ZooKeeper server: host:port is wanted, or host for port {DEFAULT_PORT}.")
    if not named:
        raise CommandFailed(f"{connect!r} names no ZooKeeper server: host:port[,host:port...][/chroot] is wanted.")
    return ",".join(server if _has_port(server) else f"{server}:{DEFAULT_PORT}" for server in named) + slash + chroot


def _has_port(server: str) -> bool:
    return ":" in server.rpartition("]")[2]


class ZooKeeperSession:
    """One session of a tool. Also a context manager. CommandFailed where ZooKeeper cannot be reached, or does not answer."""

    def __init__(self, connect: str) -> None:
        logging.getLogger().addHandler(logging.NullHandler())  # a tool tells what went wrong by itself
        self.connect = with_ports(connect)
        self._zk = reach(self.connect)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None or issubclass(kind, Exception):
            self.close()

    @property
    def adapter(self) -> BlockingZooKeeper:
        """For those who want watches, or the seam itself."""
        return self._zk

    def close(self) -> None:
        """End the session."""
        self._zk.close()

    def submit(self, *requests: AnyRequest) -> list[Result]:
        """All answers, in order; the requests are pipelined. Other codes than OK are the caller's to look at, but for a lost session."""
        try:
            results = self._zk.wait(self._zk.zk.submit(requests), seconds=ANSWER_S)
        except TimeoutError as error:
            raise CommandFailed(f"ZooKeeper at {self.connect} has not answered for {ANSWER_S:g} s.") from error
        if any(result.code is Code.SESSION_EXPIRED for result in results):
            raise CommandFailed(f"The session with ZooKeeper at {self.connect} has ended before it answered.")
        return results

    def one(self, request: AnyRequest, *accepted: Code) -> Result:
        """One answer, of code OK or accepted; CommandFailed for any other."""
        return _checked(self.submit(request)[0], accepted)

    def exists(self, path: str) -> bool:
        """True where there is such a node."""
        return self.one(Exists(path), Code.NO_NODE).ok

    def children(self, path: str) -> tuple[str, ...]:
        """The children's names; none where there is no such node."""
        return self.one(GetChildren(path), Code.NO_NODE).children

    def data(self, path: str) -> bytes | None:
        """A node's data; None where there is no such node, or it has none."""
        return self.one(GetData(path), Code.NO_NODE).data

    def data_of(self, paths: Iterable[str]) -> list[Result]:
        """As `data` for many at once; a missing one's answer is not `ok`."""
        return [_checked(result, (Code.NO_NODE,)) for result in self.submit(*map(GetData, paths))]

    def set_or_create(self, path: str, data: bytes | None) -> None:
        """Write a node whatever it holds; create it, with its parents, where it is missing."""
        if self.one(SetData(path, data), Code.NO_NODE).ok:
            return
        self.create_parents(path)
        if self.one(Create(path, data), Code.NODE_EXISTS).code is Code.NODE_EXISTS:  # somebody was faster; the last writer wins
            self.one(SetData(path, data))

    def create_parents(self, path: str) -> None:
        """Make the nodes above this one, without data, where they are missing."""
        steps = path.strip("/").split("/")[:-1]
        if steps:
            for result in self.submit(*(Create("/" + "/".join(steps[: depth + 1])) for depth in range(len(steps)))):
                _checked(result, (Code.NODE_EXISTS,))

    def delete(self, path: str) -> None:
        """Remove a node if it is there."""
        self.one(Delete(path), Code.NO_NODE)

    def entity_config(self, entity: ConfigEntity) -> dict[str, str]:
        """What is configured for an entity; nothing where there is no node."""
        return configs.decode(self.data(entity.path))

    def change_config(self, entity: ConfigEntity, wanted: dict[str, str]) -> None:
        """Store what an entity is configured with, then tell all brokers to read it again."""
        self.set_or_create(entity.path, configs.encode(wanted))
        self.create_parents(config_changes.CREATE_PATH)
        self.one(Create(config_changes.CREATE_PATH, config_changes.encode(config_changes.change_of(entity)), sequential=True))


def _checked(result: Result, accepted: Sequence[Code]) -> Result:
    if result.ok or result.code in accepted:
        return result
    raise CommandFailed(f"ZooKeeper answered {result.code.name} for {result.path}.")


def reach(connect: str) -> BlockingZooKeeper:
    """A session. CommandFailed says what was tried, and who listens there instead."""
    with suppress(ZooKeeperUnavailable):
        return BlockingZooKeeper(connect, connection_timeout_ms=FIRST_PATIENCE_MS, creates_chroot=False)
    found = [_look(server) for server in connect.partition("/")[0].split(",")[:PROBED_MAX]]
    if all(complaint is not None for complaint in found):
        raise CommandFailed(f"Cannot reach ZooKeeper at {connect}: {'; '.join(each for each in found if each is not None)}.")
    try:
        return BlockingZooKeeper(connect, connection_timeout_ms=SECOND_PATIENCE_MS, creates_chroot=False)
    except ZooKeeperUnavailable as error:
        patience_s = (FIRST_PATIENCE_MS + SECOND_PATIENCE_MS) / 1000
        raise CommandFailed(f"ZooKeeper at {connect} does not open a session within {patience_s:g} s: it may have no quorum.") from error


def _look(server: str) -> str | None:
    """Why there is no ZooKeeper at an address; None where there seems to be one."""
    host, _, port = server.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=PROBE_S) as probe:
            probe.settimeout(PROBE_S)
            probe.sendall(b"srvr")
            answer = probe.recv(4096)
    except TimeoutError:
        return f"{server} does not answer"
    except OSError as error:
        return f"nobody listens at {server} ({error.strerror or error})"
    if b"Zookeeper version" in answer or b"srvr" in answer or b"not currently serving" in answer:
        return None
    return _broker_or_else(server, host.strip("[]"), int(port))


def _broker_or_else(server: str, host: str, port: int) -> str:
    from pykafka_classic.edges.blocking_client import BlockingClient, NoBroker

    try:
        BlockingClient(host, port, timeout_ms=PROBE_S * 1000).close()
    except NoBroker:
        return f"what listens at {server} is no ZooKeeper server"
    return f"{server} is a Kafka broker, not a ZooKeeper server, which usually listens on port {DEFAULT_PORT}"
