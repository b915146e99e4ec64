"""The launchers, as an operator uses them: from another folder, through a link, in the background, with overrides; started, seen and stopped."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykafka_classic.cli import broker_health
from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.edges.child_processes import free_ports, wait_until
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataResponse
from pykafka_classic.protocol.network import Disconnected

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv" / "bin" / "python"

pytestmark = pytest.mark.skipif(not ENVIRONMENT.exists(), reason="the launchers use the checkout's .venv: run `make setup`")


class Operator:
    """Somebody with a shell in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.zookeeper_port, self.port = free_ports(2)

    def run(self, tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a launcher through a symbolic link."""
        link = self.folder / tool
        if not link.is_symlink():
            link.symlink_to(ROOT / "tools" / tool)
        environment = {**os.environ, "LOG_DIR": str(self.logs)}
        return subprocess.run([str(link), *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60, check=False)

    def broker_arguments(self) -> list[str]:
        """The sample, moved to free ports and to this folder."""
        overrides = {
            "zookeeper.connect": f"127.0.0.1:{self.zookeeper_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "log.dirs": str(self.folder / "data"),
            "no.such.key": "1",
        }
        return [str(ROOT / "config" / "server.properties"), *(part for key, value in overrides.items() for part in ("--override", f"{key}={value}"))]

    def brokers_known(self) -> int:
        """How many brokers the broker tells of; 0 where it does not answer."""
        try:
            with BlockingClient("127.0.0.1", self.port, timeout_ms=5_000) as client:
                told = client.send(MetadataRequest())
        except Disconnected:
            return 0
        assert isinstance(told, MetadataResponse)
        return len(told.brokers)

    def written(self) -> str:
        """What the broker wrote."""
        return (self.logs / "kafkaServer.out").read_text()


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    """An operator; whatever they left running is stopped."""
    someone = Operator(tmp_path)
    yield someone
    os.environ.pop("SIGNAL", None)
    someone.run("kafka-server-stop.sh")
    someone.run("zookeeper-server-stop.sh")


def test_zookeeper_and_a_broker_are_started_and_stopped_in_the_background(operator: Operator) -> None:
    properties = operator.folder / "zookeeper.properties"
    properties.write_text(f"dataDir={operator.folder / 'zookeeper'}\nclientPort={operator.zookeeper_port}\nadmin.enableServer=false\n")
    assert operator.run("zookeeper-server-start.sh", "-daemon", str(properties)).returncode == 0
    assert operator.run("kafka-server-start.sh", "-daemon", *operator.broker_arguments()).returncode == 0
    wait_until(lambda: broker_health.main([f"127.0.0.1:{operator.port}"]) == 0, seconds=60)
    assert operator.brokers_known() == 1
    assert "WARN The configuration 'no.such.key' was supplied but isn't a known config" in operator.written()
    assert "INFO [KafkaServer id=0] started (kafka.server.KafkaServer)" in operator.written()
    assert "[KafkaServer id=0] started" in (operator.logs / "server.log").read_text()

    for name in ("server.log", "controller.log", "kafkaServer.out"):  # as logrotate does
        (operator.logs / name).rename(operator.logs / f"{name}.1")
    os.environ["SIGNAL"] = "HUP"
    assert operator.run("kafka-server-stop.sh").returncode == 0
    assert operator.run("zookeeper-server-stop.sh").returncode == 0  # to ZooKeeper it means nothing
    del os.environ["SIGNAL"]
    wait_until(lambda: all((operator.logs / name).exists() for name in ("server.log", "controller.log", "kafkaServer.out")), seconds=60)
    assert operator.brokers_known() == 1

    assert operator.run("kafka-server-stop.sh").returncode == 0
    wait_until(lambda: "[KafkaServer id=0] shut down completed" in operator.written(), seconds=60)
    told = (operator.logs / "server.log").read_text()  # the new files have what came after SIGHUP, and only that
    assert "[KafkaServer id=0] Starting controlled shutdown" in told
    assert "[KafkaServer id=0] started" not in told + operator.written()
    wait_until(lambda: operator.run("kafka-server-stop.sh").returncode == 1, seconds=60)
    assert broker_health.main([f"127.0.0.1:{operator.port}"]) == 1
    assert operator.run("zookeeper-server-stop.sh").returncode == 0
    wait_until(lambda: not list(operator.logs.glob("*.pid")) or operator.run("zookeeper-server-stop.sh").returncode == 1, seconds=60)


def test_broker_whose_terminal_goes_stops_cleanly(operator: Operator) -> None:
    properties = operator.folder / "zookeeper.properties"
    properties.write_text(f"dataDir={operator.folder / 'zookeeper'}\nclientPort={operator.zookeeper_port}\nadmin.enableServer=false\n")
    assert operator.run("zookeeper-server-start.sh", "-daemon", str(properties)).returncode == 0
    files_only = operator.folder / "log4j.properties"  # nobody reads the terminal here, and one that is full would stop the broker
    files_only.write_text((ROOT / "config" / "log4j.properties").read_text().replace("INFO, stdout, ", "INFO, "))
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["LOG_DIR"] = str(operator.logs)
        os.environ["KAFKA_LOG4J_OPTS"] = f"-Dlog4j.configuration=file:{files_only}"
        os.execv(ROOT / "tools" / "kafka-server-start.sh", ["kafka-server-start.sh", *operator.broker_arguments()])
    wait_until(lambda: operator.brokers_known() == 1, seconds=60)
    os.close(terminal)
    wait_until(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid, seconds=60)
    told = (operator.logs / "server.log").read_text()
    assert "[KafkaServer id=0] Starting controlled shutdown" in told
    assert told.endswith("[KafkaServer id=0] shut down completed (kafka.server.KafkaServer)\n")


@pytest.mark.parametrize(("tool", "said"), [("kafka-server-stop.sh", "No kafka server to stop"), ("zookeeper-server-stop.sh", "No zookeeper server to stop")])
def test_stopping_nothing_is_status_1(operator: Operator, tool: str, said: str) -> None:
    outcome = operator.run(tool)
    assert (outcome.returncode, outcome.stdout) == (1, f"{said}\n")


@pytest.mark.parametrize("tool", ["kafka-server-start.sh", "zookeeper-server-start.sh"])
def test_starting_without_a_file_prints_the_usage(operator: Operator, tool: str) -> None:
    outcome = operator.run(tool)
    assert outcome.returncode == 1
    assert outcome.stderr.startswith(f"USAGE: {tool} [-daemon]")


def test_bad_value_ends_with_status_1_and_says_what_is_allowed(operator: Operator) -> None:
    outcome = operator.run("kafka-server-start.sh", *operator.broker_arguments(), "--override", "num.io.threads=0")
    assert outcome.returncode == 1
    assert outcome.stderr == "Invalid value 0 for configuration num.io.threads: Value must be at least 1\nnum.io.threads takes an INT in [1,...]\n"


@pytest.mark.parametrize("tool", [["kafka-server-start.sh"], ["kafka-server-start.sh", "-daemon"]])
def test_log_directory_that_takes_no_files_is_told(operator: Operator, tool: list[str]) -> None:
    operator.logs.write_text("a file where a folder should be\n")
    outcome = operator.run(*tool, *operator.broker_arguments())
    operator.logs.unlink()
    assert outcome.returncode == 1
    assert outcome.stderr == f"Cannot write to the log directory {operator.logs}: File exists. Set LOG_DIR to another one.\n"


def test_log_file_that_cannot_be_is_told_before_anything_starts(operator: Operator) -> None:
    (operator.logs / "server.log").mkdir(parents=True)
    outcome = operator.run("kafka-server-start.sh", *operator.broker_arguments())
    assert outcome.returncode == 1
    assert outcome.stderr == f"Cannot set up the logs: [Errno 21] Is a directory: '{operator.logs / 'server.log'}'\n"


def test_launcher_without_an_environment_says_what_to_do(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("kafka-run-class.sh", "kafka-server-start.sh"):
        (tools / name).write_bytes((ROOT / "tools" / name).read_bytes())
        (tools / name).chmod(0o755)
    outcome = subprocess.run([str(tools / "kafka-server-start.sh")], capture_output=True, text=True, check=False)
    assert outcome.returncode == 1
    assert "run 'make setup'" in outcome.stderr
