"""The adapter without a reactor, as tools use it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from pykafka_classic.common.zookeeper import Code, Create, Exists, GetChildren, GetData, SetData, WatchEvent, WatchKind
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper, QueueLoop
from pykafka_classic.edges.child_processes import free_ports
from pykafka_classic.edges.processes import ZooKeeperProcess
from pykafka_classic.edges.zookeeper import ZooKeeperUnavailable


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperProcess]:
    process = ZooKeeperProcess(tmp_path_factory.mktemp("zookeeper"), {"tickTime": "200"})
    process.start()
    process.wait_serving()
    yield process
    process.kill()


def test_requests_are_answered_and_watches_told(server: ZooKeeperProcess) -> None:
    with BlockingZooKeeper(f"{server.address}/tool") as zk:
        assert [each.code for each in zk.submit(*(Create(f"/{number}", b"x") for number in range(200)))] == [Code.OK] * 200
        assert len(zk.one(GetChildren("/")).children) == 200
        assert zk.one(GetData("/7", watch=True)).data == b"x"
        assert zk.next_event(seconds=0.01) is None
        zk.one(SetData("/7", b"y"))
        assert zk.next_event(seconds=10) == WatchEvent(WatchKind.CHANGED, "/7")


def test_session_ends_with_the_context(server: ZooKeeperProcess) -> None:
    with BlockingZooKeeper(server.address) as first:
        first.one(Create("/e", ephemeral=True))
    with BlockingZooKeeper(server.address) as second:
        assert second.one(Exists("/e")).code is Code.NO_NODE


class _InterruptedOnce:
    """The end of kazoo's pipe by which its thread is woken; Ctrl-C comes just while that is written to."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self.interrupted = False

    def send(self, data: bytes) -> int:
        if not self.interrupted:
            self.interrupted = True
            signal.raise_signal(signal.SIGINT)
        sent: int = self._pipe.send(data)
        return sent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipe, name)


def test_ctrl_c_is_never_taken_for_a_lost_connection(server: ZooKeeperProcess) -> None:
    with BlockingZooKeeper(server.address) as zk:
        assert zk.zk._session is not None
        connection = zk.zk._session._client._connection
        connection._write_sock = pipe = _InterruptedOnce(connection._write_sock)
        with pytest.raises(KeyboardInterrupt):
            zk.one(Exists("/"))
        assert pipe.interrupted
        assert zk.one(Exists("/")).ok


def test_unreachable_zookeeper_is_told() -> None:
    with pytest.raises(ZooKeeperUnavailable, match=r"no answer from ZooKeeper at 127\.0\.0\.1"):
        BlockingZooKeeper(f"127.0.0.1:{free_ports(1)[0]}", connection_timeout_ms=200)


def test_timers_run_in_order_and_not_when_cancelled() -> None:
    loop = QueueLoop()
    ran: list[str] = []
    loop.callLater(0.02, ran.append, "second")
    loop.callLater(0.01, ran.append, "cancelled").cancel()
    loop.callLater(0.01, ran.append, "first")
    assert loop.run_until(lambda: len(ran) == 2, seconds=10)
    assert ran == ["first", "second"]
    assert not loop.run_until(lambda: False, seconds=0.01)
