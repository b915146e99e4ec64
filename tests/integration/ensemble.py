"""Brokers on a real ensemble of three ZooKeepers, and a line to ZooKeeper that a test can cut."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final

from pykafka_classic.edges.child_processes import ChildProcess, free_ports
from pykafka_classic.edges.processes import ZooKeeperEnsemble, ZooKeeperProcess
from pykafka_classic.testing.cluster import LocalCluster

# A tick of half a second: sessions end, and leaders are elected, in time for a test.
SERVERS: Final = {"tickTime": "500", "initLimit": "20", "syncLimit": "10", "4lw.commands.whitelist": "*"}
CHUNK: Final = 65536
OPEN, SILENT, REFUSING = "open", "silent", "refusing"


class EnsembleCluster(LocalCluster):
    """Three brokers on three ZooKeepers."""

    def __init__(self, directory: Path, *, overrides: Mapping[str, str]) -> None:
        self.ensemble = ZooKeeperEnsemble(directory, SERVERS)
        super().__init__(directory, brokers=3, overrides={**overrides, "zookeeper.connect": self.ensemble.address})

    @property
    def processes(self) -> list[ChildProcess]:
        """ZooKeepers first."""
        return [*self.ensemble.servers, *self.brokers]

    def start_zookeeper(self) -> None:
        """Start those that do not run, and wait until all serve."""
        for server in self.ensemble.servers:
            if not server.running:
                server.start()
        self.ensemble.wait_serving()

    def followers(self) -> list[ZooKeeperProcess]:
        """The ZooKeepers that do not lead now."""
        leader = self.ensemble.leader()
        return [server for server in self.ensemble.servers if server is not leader]


class Line:
    """A TCP proxy before a ZooKeeper: the only way for one broker, until a test cuts it.

    `cut()`: connections stay, and no byte passes (a firewall that drops packets). `cut(refuse=True)`: connections are closed, and so is every new one.
    """

    def __init__(self, target: int) -> None:
        self._target = ("127.0.0.1", target)
        self._listener = socket.create_server(("127.0.0.1", free_ports(1)[0]))
        self.address = "{}:{}".format(*self._listener.getsockname())  # for `zookeeper.connect`
        self._peers: dict[socket.socket, socket.socket] = {}
        self._mode = OPEN
        self._ending = False
        self._wakeup, self._waker = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for each in (self._listener, self._wakeup):
            self._selector.register(each, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="line")

    @contextlib.contextmanager
    def cut(self, *, refuse: bool = False) -> Iterator[None]:
        """No byte passes any more, until `mend` or the end of the block."""
        self._change(REFUSING if refuse else SILENT)
        try:
            yield
        finally:
            self.mend()

    def mend(self) -> None:
        """Connections of the time before are closed; new ones pass."""
        self._change(OPEN)

    def _change(self, mode: str) -> None:
        self._mode = mode
        self._waker.send(b"!")

    def __enter__(self) -> Line:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ending = True
        self._change(REFUSING)
        self._thread.join()
        for each in (self._listener, self._wakeup, self._waker, self._selector):
            each.close()

    def _run(self) -> None:
        while not self._ending:
            for key, _ in self._selector.select():
                assert isinstance(key.fileobj, socket.socket)
                self._serve(key.fileobj)

    def _serve(self, ready: socket.socket) -> None:
        if ready is self._wakeup:
            ready.recv(CHUNK)
            if self._mode != SILENT:
                for each in list(self._peers):
                    self._drop(each)
        elif ready is self._listener:
            self._accept(ready.accept()[0])
        elif ready in self._peers:
            self._pass_on(ready)

    def _accept(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(self._target, timeout=5.0)
        except OSError:  # ZooKeeper itself is away
            near.close()
            return
        for one, other in ((near, far), (far, near)):
            self._peers[one] = other
            self._selector.register(one, selectors.EVENT_READ)
        if self._mode == REFUSING:
            self._drop(near)

    def _pass_on(self, ready: socket.socket) -> None:
        try:
            data = ready.recv(CHUNK)
            if data and self._mode == OPEN:
                self._peers[ready].sendall(data)
        except OSError:
            data = b""
        if not data:
            self._drop(ready)

    def _drop(self, one: socket.socket) -> None:
        other = self._peers.pop(one, None)
        if other is not None:
            del self._peers[other]
            for each in (one, other):
                self._selector.unregister(each)
                each.close()


class CutOffCluster(LocalCluster):
    """Three brokers; broker 0 reaches ZooKeeper by a line of its own. Open `line` before the cluster."""

    def __init__(self, directory: Path, *, overrides: Mapping[str, str]) -> None:
        [port] = free_ports(1)
        self.line = Line(port)
        super().__init__(directory, brokers=3, zookeeper_port=port, overrides=overrides)

    def _properties(self, directory: Path, number: int, overrides: Mapping[str, str]) -> dict[str, str]:
        properties = super()._properties(directory, number, overrides)
        return {**properties, "zookeeper.connect": self.line.address} if number == 0 else properties
