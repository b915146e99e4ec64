"""The fake ZooKeeper answers as the real one does: the same random requests to both, through the same seam.

Two clients take turns. Answers, stats (zxids and times aside), and the watch events of each client must be equal. A failing case prints its seed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pykafka_classic.common.zookeeper import (
    ANY_VERSION,
    Check,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Request,
    Result,
    SessionEvent,
    SetData,
    WatchEvent,
)
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.edges.processes import ZooKeeperProcess
from pykafka_classic.edges.zookeeper import ZooKeeperSettings
from tests.edges.reactor_thread import ReactorThread
from tests.edges.zookeeper_client import Client
from tests.fakes.clock import SeededRandom
from tests.fakes.zookeeper import FakeZooKeeper, FakeZooKeeperServer

ROUNDS = 60
NAMES = ("a", "b")
DATA = (None, b"", b"1", b"\xff")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperProcess]:
    process = ZooKeeperProcess(tmp_path_factory.mktemp("zookeeper"), {"tickTime": "200"})
    process.start()
    process.wait_serving()
    yield process
    process.kill()


class _Requests:
    """Random requests about a small tree, so that they meet."""

    def __init__(self, seed: int) -> None:
        self._random = SeededRandom(seed)

    def _one_of(self, *choices: int) -> int:
        return choices[self._random.randrange(len(choices))]

    def _path(self) -> str:
        return "/" + "/".join(NAMES[self._random.randrange(2)] for _ in range(self._random.randrange(3) + 1))

    def _write(self) -> Create | SetData | Delete:
        path, data = self._path(), DATA[self._random.randrange(len(DATA))]
        version = self._one_of(ANY_VERSION, ANY_VERSION, 0, 1)
        match self._random.randrange(4):
            case 0 | 1:
                return Create(path, data, ephemeral=self._random.randrange(4) == 0, sequential=self._random.randrange(4) == 0)
            case 2:
                return SetData(path, data, version)
            case _:
                return Delete(path, version)

    def next(self) -> Request:
        """A read or a write."""
        watch = bool(self._random.randrange(2))
        match self._random.randrange(8):
            case 0:
                return GetData(self._path(), watch)
            case 1:
                return Exists(self._path(), watch)
            case 2:
                return GetChildren(self._path(), watch)
            case 3:
                checks = (Check(self._path(), self._one_of(0, 1)),) if self._random.randrange(3) == 0 else ()
                return Multi(tuple(self._write() for _ in range(self._random.randrange(3) + 1)) + checks)
            case _:
                return self._write()


def _comparable(result: Result) -> tuple[object, ...]:
    """All of an answer but zxids and times."""
    stat = result.stat
    facts = None if stat is None else (stat.version, stat.cversion, bool(stat.ephemeral_owner), stat.data_length, stat.num_children)
    return result.code, result.path, result.data, facts, tuple(sorted(result.children)), tuple(_comparable(each) for each in result.results)


class _Pair:
    """The same client, real and fake."""

    def __init__(self, thread: ReactorThread, address: str, fake: FakeZooKeeperServer) -> None:
        self.real = Client(thread, ZooKeeperSettings(address, session_timeout_ms=3000)).connect()
        self.fake: FakeZooKeeper = fake.connect()
        self.fake_told: list[WatchEvent | SessionEvent] = []
        self.fake.add_watch_listener(self.fake_told.append)

    def ask_both(self, request: Request) -> None:
        real, fake = self.real.one(request), self.fake.submit([request]).result()[0]
        assert _comparable(real) == _comparable(fake), request

    def compare_events(self) -> None:
        wait_until(lambda: len(self.real.told) >= len(self.fake_told), seconds=10)
        assert self.real.told == self.fake_told


@pytest.mark.parametrize("seed", range(12))
def test_random_requests_are_answered_alike(server: ZooKeeperProcess, reactor_thread: ReactorThread, seed: int) -> None:
    fake = FakeZooKeeperServer()
    pairs = [_Pair(reactor_thread, f"{server.address}/alike-{seed}", fake) for _ in range(2)]
    requests, turns = _Requests(seed), SeededRandom(seed)
    for _ in range(ROUNDS):
        pairs[turns.randrange(2)].ask_both(requests.next())
    for pair in pairs:
        pair.compare_events()
    pairs[0].real.close()
    pairs[0].fake.close()
    for path in sorted(fake.tree()):
        pairs[1].ask_both(GetData(path))
        pairs[1].ask_both(GetChildren(path))
    pairs[1].ask_both(GetChildren("/"))
    pairs[1].compare_events()
    pairs[1].real.close()
