"""A real broker as a child process."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykafka_classic.common.zookeeper import Exists
from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.child_processes import StartFailed, free_ports, wait_until
from pykafka_classic.edges.processes import BrokerProcess, ZooKeeperProcess
from pykafka_classic.protocol.api_keys import ApiKey
from tests.edges.reactor_thread import DEADLINE_S

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperProcess]:
    process = ZooKeeperProcess(tmp_path_factory.mktemp("zookeeper"), {"tickTime": "200"})
    process.start()
    process.wait_serving()
    yield process
    process.kill()


def properties(server: ZooKeeperProcess, directory: Path, port: int) -> dict[str, str]:
    return {
        "broker.id": "7",
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "zookeeper.connect": server.address,
        "zookeeper.session.timeout.ms": "1000",
        "log.dirs": str(directory / "data"),
    }


def test_broker_serves_when_started_and_leaves_when_stopped(server: ZooKeeperProcess, tmp_path: Path) -> None:
    port = free_ports(1)[0]
    broker = BrokerProcess(tmp_path, properties(server, tmp_path, port))
    broker.start()
    broker.wait_started()
    with BlockingClient("127.0.0.1", port) as client, BlockingZooKeeper(server.address) as zk:
        assert ApiKey.PRODUCE in client.versions
        assert zk.one(Exists("/brokers/ids/7")).ok
        assert broker.stop() == 0
        assert not zk.one(Exists("/brokers/ids/7")).ok


def test_a_service_manager_is_told_when_it_serves_and_when_it_stops(server: ZooKeeperProcess, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(DEADLINE_S)
        broker = BrokerProcess(tmp_path, properties(server, tmp_path, free_ports(1)[0]), environment={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")})
        broker.start()
        assert manager.recv(200) == b"READY=1\nSTATUS=serving\n"  # sd_notify(3)
        with BlockingZooKeeper(server.address) as zk:
            assert zk.one(Exists("/brokers/ids/7")).ok
        assert broker.stop() == 0
        assert manager.recv(200) == b"STOPPING=1\nSTATUS=stopping\n"


def test_killed_broker_starts_again_with_an_override(server: ZooKeeperProcess, tmp_path: Path) -> None:
    ports = free_ports(2)
    broker = BrokerProcess(tmp_path, properties(server, tmp_path, ports[0]), overrides={"listeners": f"PLAINTEXT://127.0.0.1:{ports[1]}"})
    broker.start()
    broker.wait_started()
    broker.kill()
    assert broker.wait() == -signal.SIGKILL
    with BlockingZooKeeper(server.address) as zk:
        wait_until(lambda: not zk.one(Exists("/brokers/ids/7")).ok, seconds=DEADLINE_S)
    broker.start()
    broker.wait_started()
    BlockingClient("127.0.0.1", ports[1]).close()
    broker.stop()


def test_broker_that_cannot_start_says_why(server: ZooKeeperProcess, tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path, properties(server, tmp_path, 0) | {"broker.id": "seven"})
    broker.start()
    with pytest.raises(StartFailed, match=r"(?s)ended with code 1.*broker\.id"):
        broker.wait_started()
