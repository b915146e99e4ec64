"""Real child processes: their start, their end, and what is said when something is in the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pykafka_classic.edges import processes
from pykafka_classic.edges.child_processes import ChildProcess, StartFailed, free_ports, port_taken, wait_until
from pykafka_classic.edges.processes import JavaMissing, ZooKeeperEnsemble, ZooKeeperProcess

FAST = {"tickTime": "200"}

# A parent that starts a child which never ends, tells its pid, and waits to be killed.
PARENT = """
import sys, time
from pathlib import Path
from pykafka_classic.edges.child_processes import ChildProcess
child = ChildProcess([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"], log_path=Path(sys.argv[1]))
child.start()
child.wait_ready(lambda: "up" in child.output())
print(child.pid, flush=True)
sys.stdin.read()
"""


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is Linux's")
def test_children_die_with_a_killed_parent(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "log")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert alive(child)
        parent.kill()
    wait_until(lambda: not alive(child), seconds=10)


def test_children_die_at_the_normal_end_of_the_parent(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "log")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdin is not None and parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.stdin.close()
        assert parent.wait(10) == 0
    wait_until(lambda: not alive(child), seconds=10)


def test_child_that_ends_before_it_is_ready_says_why(tmp_path: Path) -> None:
    child = ChildProcess([sys.executable, "-c", "print('no such disk'); raise SystemExit(3)"], log_path=tmp_path / "log")
    child.start()
    with pytest.raises(StartFailed, match=r"(?s)ended with code 3.*no such disk"):
        child.wait_ready(lambda: False)


def test_stop_is_terminate_and_then_kill(tmp_path: Path) -> None:
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
    child = ChildProcess([sys.executable, "-c", stubborn], log_path=tmp_path / "log")
    child.start()
    child.wait_ready(lambda: "up" in child.output())
    assert child.stop(seconds=0.1) == -signal.SIGKILL


def test_paused_child_can_be_stopped(tmp_path: Path) -> None:
    child = ChildProcess([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"], log_path=tmp_path / "log")
    child.start()
    child.wait_ready(lambda: "up" in child.output())
    child.pause()
    assert child.stop() == -signal.SIGTERM


def test_taken_port_is_told_with_its_holder() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert f"Port {port} of 127.0.0.1 is taken by " in (port_taken(port) or "")
        assert f"process {os.getpid()}" in (port_taken(port) or "")
    assert len(set(free_ports(20))) == 20


def test_missing_java_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    processes.require_java.cache_clear()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissing, match=r"ZooKeeper needs Java 8 or newer, and there is no `java` in JAVA_HOME"):
        processes.require_java()
    processes.require_java.cache_clear()


def test_old_java_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    processes.require_java.cache_clear()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'java version \"1.7.0_80\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissing, match="is version 7"):
        processes.require_java()
    processes.require_java.cache_clear()


def test_zookeeper_finds_its_data_again_on_the_same_directory(tmp_path: Path) -> None:
    server = ZooKeeperProcess(tmp_path, FAST)
    for life in range(2):
        server.start()
        server.wait_serving()
        assert server.mode() == "standalone"
        if life == 0:
            server.kill()
    assert server.stop() != 0  # the JVM's 143
    assert server.mode() == ""


def test_zookeeper_on_a_taken_port_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        server = ZooKeeperProcess(tmp_path, {**FAST, "clientPort": str(holder.getsockname()[1])})
        with pytest.raises(OSError, match="is taken by"):
            server.start()


def test_ensemble_elects_another_leader(tmp_path: Path) -> None:
    ensemble = ZooKeeperEnsemble(tmp_path, {**FAST, "syncLimit": "10"})
    ensemble.start()
    ensemble.wait_serving()
    first = ensemble.leader()
    first.kill()
    wait_until(lambda: any(server.mode() == "leader" for server in ensemble.servers if server is not first), seconds=30)
    ensemble.stop()
