"""Our tools as a user at a shell meets them: launchers, wrong addresses, Ctrl-C, closed pipes, a terminal; and the first lines of a beginner's notebook."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.edges.child_processes import free_ports, wait_until
from pykafka_classic.testing.cluster import LocalCluster

ROOT: Final = Path(__file__).resolve().parents[2]
TOLD_S: Final = 5.0  # beside what the start of a tool takes just now
AT_ONCE_S: Final = 6.0  # a fraction of a second where the machine has nothing else to do; what it must not wait for takes 30 s and more
CPU_S: Final = 0.4  # of a tool that lists topics; processor time, for how long it takes depends on what else the machine does

pytestmark = pytest.mark.skipif(not (ROOT / ".venv" / "bin" / "python").exists(), reason="the launchers use the checkout's .venv: run `make setup`")


def tool(name: str) -> str:
    """A launcher."""
    return str(ROOT / "tools" / f"{name}.sh")


def run(name: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a launcher to its end."""
    return subprocess.run([tool(name), *words], input=stdin, capture_output=True, text=True, timeout=60, check=False)


def timed(name: str, *words: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    """As `run`, and how many seconds it took."""
    began = time.monotonic()
    done = run(name, *words)
    return time.monotonic() - began, done


@contextmanager
def started(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A tool that goes on until it is stopped; killed at the end if nothing else has stopped it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(name: str, *words: str) -> str:
    """What it printed; it must succeed and say nothing on stderr."""
    done = run(name, *words)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def test_a_beginners_notebook(cluster: LocalCluster) -> None:
    zookeeper = ("--zookeeper", cluster.zookeeper.address)
    assert said("kafka-topics", *zookeeper, "--create", "--replication-factor", "3", "--partitions", "3", "--topic", "test") == "Created topic test.\n"
    row = r"\tTopic: test\tPartition: \d\tLeader: \d\tReplicas: \d,\d,\d\tIsr: \d,\d,\d\n"
    wanted = re.compile(rf"Topic: test\tTopicId: \S+\tPartitionCount: 3\tReplicationFactor: 3\tConfigs: \n({row}){{3}}")
    wait_until(lambda: wanted.fullmatch(said("kafka-topics", *zookeeper, "--describe", "--topic", "test")) is not None, seconds=30)
    assert said("kafka-topics", *zookeeper, "--alter", "--topic", "test", "--partitions", "5").endswith("Adding partitions succeeded!\n")
    fewer = run("kafka-topics", *zookeeper, "--alter", "--topic", "test", "--partitions", "2")
    assert fewer.returncode == 1
    assert "The number of partitions for a topic can only be increased. Topic test currently has 5 partitions, 2 would not be an increase." in fewer.stdout
    dotted = said("kafka-topics", *zookeeper, "--create", "--replication-factor", "1", "--partitions", "1", "--topic", "a.b", "--config", "retention.ms=60000")
    assert dotted.startswith("WARNING: Due to limitations in metric names") and dotted.endswith("Created topic a.b.\n")
    collision = run("kafka-topics", *zookeeper, "--create", "--replication-factor", "1", "--partitions", "1", "--topic", "a_b")
    assert (collision.returncode, collision.stdout.splitlines()[-1]) == (
        1,
        "Error while executing topic command : Topic 'a_b' collides with existing topics: a.b",
    )
    assert said("kafka-topics", *zookeeper, "--delete", "--topic", "test") == (
        "Topic test is marked for deletion.\nNote: This will have no impact if delete.topic.enable is not set to true.\n"
    )
    wait_until(lambda: said("kafka-topics", *zookeeper, "--list") == "a.b\n", seconds=30)


def test_records_in_a_beginners_notebook(cluster: LocalCluster) -> None:
    consumer = ("--bootstrap-server", cluster.bootstrap, "--topic", "notes")
    done = run("kafka-console-producer", "--broker-list", cluster.bootstrap, "--topic", "notes", stdin="1,zs,18\n2,ls,19\n3,ww,20\n4,zl,21\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def read(*words: str) -> tuple[int, str, str]:
        read_by = run("kafka-console-consumer", *consumer, *words)
        return read_by.returncode, read_by.stdout, read_by.stderr

    assert read("--from-beginning", "--max-messages", "4") == (0, "1,zs,18\n2,ls,19\n3,ww,20\n4,zl,21\n", "Processed a total of 4 messages\n")
    assert read("--offset", "3", "--partition", "0", "--max-messages", "1") == (0, "4,zl,21\n", "Processed a total of 1 messages\n")
    status, out, err = read("--offset", "3")
    assert (status, out, err.splitlines()[0]) == (1, "", "The partition is required when offset is specified.")
    assert read("--group", "g", "--from-beginning", "--max-messages", "2")[1] == "1,zs,18\n2,ls,19\n"
    assert read("--group", "g", "--max-messages", "2")[1] == "3,ww,20\n4,zl,21\n"  # stopped, and started again: it goes on


def test_a_consumer_that_is_stopped_with_ctrl_c_commits_and_tells_how_much_it_has_read(cluster: LocalCluster) -> None:
    run("kafka-console-producer", "--bootstrap-server", cluster.bootstrap, "--topic", "stopped", stdin="a\nb\n")
    command = [tool("kafka-console-consumer"), "--bootstrap-server", cluster.bootstrap, "--topic", "stopped", "--group", "stops", "--from-beginning"]
    with started(command) as reading:
        assert reading.stdout is not None and reading.stderr is not None
        assert [reading.stdout.readline() for _ in range(2)] == ["a\n", "b\n"]
        time_of_signal = time.monotonic()
        reading.send_signal(signal.SIGINT)
        assert reading.wait(30) == 130
        assert time.monotonic() - time_of_signal < AT_ONCE_S
        assert reading.stderr.read() == "Processed a total of 2 messages\n"
    run("kafka-console-producer", "--bootstrap-server", cluster.bootstrap, "--topic", "stopped", stdin="c\n")
    assert run(*("kafka-console-consumer", *command[1:], "--max-messages", "1")).stdout == "c\n"


def test_a_consumer_whose_reader_has_gone_stops_without_a_word(cluster: LocalCluster) -> None:
    run("kafka-console-producer", "--bootstrap-server", cluster.bootstrap, "--topic", "headed", stdin="a\nb\n")
    command = [tool("kafka-console-consumer"), "--bootstrap-server", cluster.bootstrap, "--topic", "headed", "--from-beginning"]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_replicas_are_compared_until_it_is_stopped(cluster: LocalCluster) -> None:
    said("kafka-topics", "--bootstrap-server", cluster.bootstrap, "--create", "--topic", "compared", "--partitions", "2", "--replication-factor", "3")
    run("kafka-console-producer", "--bootstrap-server", cluster.bootstrap, "--topic", "compared", "--request-required-acks", "all", stdin="a\nb\nc\n")
    words = ("--broker-list", cluster.bootstrap, "--topic-white-list", "compared", "--time", "-2", "--report-interval-ms", "200", "--max-wait-ms", "100")
    with started([tool("kafka-replica-verification"), *words]) as verifying:
        assert verifying.stdout is not None and verifying.stderr is not None
        date = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}"
        assert re.fullmatch(rf"{date}: verification process is started\.\n", verifying.stdout.readline())
        report = re.compile(rf"{date}: max lag is 0 for partition compared-\d at offset \d among 2 partitions\n")
        while report.fullmatch(verifying.stdout.readline()) is None:
            assert verifying.poll() is None
        verifying.send_signal(signal.SIGINT)
        assert verifying.wait(30) == 130
        assert verifying.stderr.read() == ""


def test_a_host_without_a_port_is_port_2181() -> None:
    done = run("kafka-topics", "--zookeeper", "no.such.host.invalid", "--list")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Cannot reach ZooKeeper at no.such.host.invalid:2181: ")


@pytest.mark.parametrize("server", ["broker", "zookeeper", "nobody"])
@pytest.mark.parametrize("option", ["--zookeeper", "--bootstrap-server"])
def test_a_wrong_address_is_told_in_one_sentence_within_five_seconds(cluster: LocalCluster, option: str, server: str) -> None:
    address = {"broker": f"127.0.0.1:{cluster.ports[0]}", "zookeeper": cluster.zookeeper.address, "nobody": f"127.0.0.1:{free_ports(1)[0]}"}[server]
    start_s, _ = timed("kafka-topics", "--help")
    took_s, done = timed("kafka-topics", option, address, "--list")
    if (option, server) in (("--zookeeper", "zookeeper"), ("--bootstrap-server", "broker")):
        assert done.returncode == 0
        return
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert took_s < TOLD_S + start_s
    expected = {"nobody": "Connection refused", "broker": "is a Kafka broker, not a ZooKeeper server", "zookeeper": "is a ZooKeeper server, not a broker"}
    assert address in done.stderr and expected[server] in done.stderr


def test_a_bug_in_the_address_is_told_too() -> None:
    assert run("kafka-topics", "--zookeeper", "host:port", "--list").stderr == (
        "'host:port' is no address of a ZooKeeper server: host:port is wanted, or host for port 2181.\n"
    )


def test_a_chroot_that_is_not_there_is_not_made(cluster: LocalCluster) -> None:
    assert said("kafka-topics", "--zookeeper", f"{cluster.zookeeper.address}/nowhere", "--list") == ""
    assert "nowhere" not in said("zookeeper-shell", cluster.zookeeper.address, "ls", "/")


def test_ctrl_c_leaves_at_once_with_status_130_and_without_a_word(cluster: LocalCluster) -> None:
    with started([tool("zookeeper-shell"), cluster.zookeeper.address, "watch", "/"]) as watching:
        assert watching.stdout is not None and watching.stderr is not None
        while "SyncConnected" not in watching.stdout.readline():
            assert watching.poll() is None
        time_of_signal = time.monotonic()
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 130
        assert time.monotonic() - time_of_signal < AT_ONCE_S
        assert watching.stderr.read() == ""


def test_ctrl_c_while_a_tool_still_looks_for_its_cluster_is_no_different() -> None:
    with started([tool("kafka-topics"), "--zookeeper", f"127.0.0.1:{free_ports(1)[0]}", "--list"]) as looking:
        assert looking.stderr is not None
        wait_until(lambda: _has_threads(looking.pid), seconds=30)  # kazoo's thread: it is connecting
        looking.send_signal(signal.SIGINT)
        assert looking.wait(30) == 130
        assert looking.stderr.read() == ""


def _has_threads(pid: int) -> bool:
    return len(list(Path("/proc", str(pid), "task").iterdir())) > 1


@pytest.mark.parametrize("command", [["zookeeper-shell", "ls", "-R", "/"], ["kafka-topics", "--describe"]])
def test_a_closed_pipe_is_silent(cluster: LocalCluster, command: list[str]) -> None:
    name, *words = command
    where = [cluster.zookeeper.address] if name == "zookeeper-shell" else ["--zookeeper", cluster.zookeeper.address]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([tool(name), *where, *words], stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_tool_answers_quickly(cluster: LocalCluster) -> None:
    for where in (("--zookeeper", cluster.zookeeper.address), ("--bootstrap-server", cluster.bootstrap)):
        assert min(_cpu_s([tool("kafka-topics"), *where, "--list"]) for _ in range(3)) < CPU_S


def _cpu_s(command: list[str]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # waited for below, with what it used
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


def test_tools_are_found_by_kafkas_classes_and_a_mistyped_one_gets_the_nearest(cluster: LocalCluster) -> None:
    assert said("kafka-run-class", "kafka.admin.TopicCommand", "--zookeeper", cluster.zookeeper.address, "--list", "--exclude-internal") is not None
    assert run("kafka-run-class", "kafka-topic").stderr == "There is no tool kafka-topic. Did you mean kafka-topics?\n"


class Terminal:
    """A shell of ZooKeeper's at a terminal of its own."""

    def __init__(self, connect: str, home: Path) -> None:
        self._end, other = pty.openpty()
        environment = {**os.environ, "HOME": str(home), "TERM": "dumb"}
        self.process = subprocess.Popen([tool("zookeeper-shell"), connect], stdin=other, stdout=other, stderr=other, env=environment)
        os.close(other)
        self.text = ""

    def expect(self, pattern: str) -> None:
        """Wait until this is on the screen."""
        deadline = time.monotonic() + 30
        while re.search(pattern, self.text) is None:
            assert time.monotonic() < deadline, self.text
            if select.select([self._end], [], [], 0.1)[0]:
                self.text += os.read(self._end, 4096).decode(errors="replace")

    def type(self, text: str) -> None:
        """Keys."""
        self.text = ""
        os.write(self._end, text.encode())

    def close(self) -> None:
        """Nothing is left."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._end)


@pytest.fixture
def terminal(cluster: LocalCluster, tmp_path: Path) -> Iterator[Terminal]:
    shell = Terminal(cluster.zookeeper.address, tmp_path)
    yield shell
    shell.close()


def test_the_shell_at_a_terminal_has_a_prompt_and_a_history_and_tells_of_watches(terminal: Terminal, cluster: LocalCluster, tmp_path: Path) -> None:
    terminal.expect(r"\[zk: \S+\(CONNECTED\) 0\] ")
    terminal.type("create /seen one\n")
    terminal.expect(r"Created /seen[\s\S]*CONNECTED\) 1\] ")
    terminal.type("get -w /seen\n")
    terminal.expect(r"\none[\s\S]*CONNECTED\) 2\] ")
    assert run("zookeeper-shell", cluster.zookeeper.address, "set", "/seen", "two").returncode == 0
    terminal.expect("WatchedEvent state:SyncConnected type:NodeDataChanged path:/seen")
    terminal.type("addauth digest me:secret\n")
    terminal.type("history\n")
    terminal.expect("1 - get -w /seen")
    terminal.type("delete /seen\nquit\n")
    assert terminal.process.wait(30) == 0
    kept = (tmp_path / ".pykafka_zookeeper_history").read_text().splitlines()
    assert kept[:2] == ["create /seen one", "get -w /seen"] and not any("secret" in line for line in kept)


def test_a_record_that_is_not_acknowledged_is_sent_again_and_stands_in_the_log_as_often_as_with_apaches_tool(tmp_path: Path) -> None:
    """Apache's producer of 2.8.2 on Apache's brokers: each record four times in the log, "The request timed out." for each, exit status 0."""
    patient = {"zookeeper.session.timeout.ms": "120000"}  # the dead follower counts as in sync until the test is over
    with LocalCluster(tmp_path, brokers=2, overrides=patient) as cluster:
        server = f"127.0.0.1:{cluster.ports[0]}"
        said("kafka-topics", "--bootstrap-server", cluster.bootstrap, "--create", "--topic", "test", "--replica-assignment", "0:1")
        cluster.brokers[1].kill()
        words = ("--bootstrap-server", server, "--topic", "test", "--request-required-acks", "all", "--request-timeout-ms", "500")
        done = run("kafka-console-producer", *words, stdin="a\nb\nc\n")
        assert (done.returncode, done.stdout) == (0, "")
        warnings, told = done.stderr.splitlines()[:3], done.stderr.splitlines()[3:]
        retried = "WARN Got error produce response on topic-partition test-0, retrying ({} attempts left). Error: REQUEST_TIMED_OUT"
        assert warnings == [retried.format(left) for left in (2, 1, 0)]
        assert len(told) == 3
        for line in told:
            assert line.startswith("Error when sending message to topic test with key: null, value: 1 bytes with error: The request timed out.")
        log = said("kafka-dump-log", "--print-data-log", "--files", str(cluster.brokers[0].directory / "data" / "test-0" / f"{0:020}.log"))
        assert re.findall(r"payload: (\w)", log) == ["a", "b", "c"] * 4
