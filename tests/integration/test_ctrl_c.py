"""Ctrl-C, SIGTERM: every tool that waits leaves at once, with 130 or 143 and without a trace, also where the brokers do not answer any more."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.child_processes import free_ports, wait_until
from pykafka_classic.testing.cluster import LocalCluster

ROOT: Final = Path(__file__).resolve().parents[2]
PKC: Final = (sys.executable, "-m", "pykafka_classic.cli.pkc.main")
AT_ONCE_S: Final = 6.0  # 1.5 s at the most, on a busy machine; what it would wait for without that limit takes 30 s and more
IDLE_S: Final = 0.6
CLOCK_TICKS: Final = 4  # in IDLE_S, of a client that only polls
ENDLESS: Final = "100000000"

pytestmark = [
    pytest.mark.skipif(not (ROOT / ".venv" / "bin" / "python").exists(), reason="the launchers use the checkout's .venv: run `make setup`"),
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc here, which shows what a process does"),
]


def tool(name: str, *words: str) -> list[str]:
    """How a launcher is called."""
    return [str(ROOT / "tools" / f"{name}.sh"), *words]


def waiting_tools(cluster: LocalCluster) -> list[list[str]]:
    """One command of each that goes on until it is stopped."""
    broker, zookeeper = cluster.bootstrap, cluster.zookeeper.address
    b = ("--bootstrap-server", broker, "--topic", "t")
    return [
        [*PKC, "produce", "t", "-b", broker],
        [*PKC, "consume", "t", "-b", broker],
        [*PKC, "consume", "t", "-g", "pkc", "-b", broker],
        [*PKC, "follow", "-b", broker],
        [*PKC, "znodes", "--watch", "-z", zookeeper],
        [*PKC, "lag", "g", "--watch", "-i", "1", "-b", broker],
        tool("kafka-console-producer", *b),
        tool("kafka-console-consumer", *b),
        tool("kafka-console-consumer", *b, "--partition", "0"),
        tool("kafka-console-consumer", *b, "--partition", "7"),
        tool("kafka-consumer-perf-test", *b, "--messages", ENDLESS, "--timeout", ENDLESS),
        tool(
            "kafka-producer-perf-test", *f"--topic t --num-records {ENDLESS} --record-size 9 --throughput 1 --producer-props bootstrap.servers={broker}".split()
        ),
        tool("kafka-verifiable-consumer", *b, "--group-id", "verifiable"),
        tool("kafka-verifiable-producer", *b, "--throughput", "1"),
        tool("kafka-replica-verification", "--broker-list", broker),
        tool("zookeeper-shell", zookeeper),
        tool("zookeeper-shell", zookeeper, "watch", "/"),
    ]


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """It has a standard input that says nothing; whatever becomes of it, it is gone in the end."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/")
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def used(pid: int) -> int:
    """Clock ticks of processor time so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def wait_until_it_waits(process: subprocess.Popen[bytes]) -> None:
    """It has begun, and does nothing any more; on a machine that is too busy to tell: half a minute has gone by."""
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        before = used(process.pid)
        time.sleep(IDLE_S)  # nothing tells that a process waits
        if process.poll() is None and 10 < before >= used(process.pid) - CLOCK_TICKS:
            return


def send_to_another_thread(process: subprocess.Popen[bytes], number: int) -> None:
    """As the kernel may do; to the process where no other thread takes it."""
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        blocked = next(line for line in (task / "status").read_text().splitlines() if line.startswith("SigBlk:")).split()[1]
        if task.name != str(process.pid) and not int(blocked, 16) >> (number - 1) & 1:
            os.kill(int(task.name), number)
            return
    process.send_signal(number)


@pytest.fixture(scope="module")
def topic(single_broker: LocalCluster) -> LocalCluster:
    """Topic t; a group g that has committed."""
    with Admin(single_broker.bootstrap) as admin:
        admin.create_topics([NewTopic("t", 1, 1)]).check()
        wait_until(lambda: not admin.describe_topics(["t"]).errors(), seconds=20)
    subprocess.run([*PKC, "produce", "t", "-b", single_broker.bootstrap], input=b"one\n", check=True, timeout=60)
    subprocess.run([*PKC, "consume", "t", "-g", "g", "-e", "-b", single_broker.bootstrap], stdout=subprocess.DEVNULL, check=True, timeout=60)
    return single_broker


def test_what_waits_leaves_at_once_also_where_nobody_answers_any_more(topic: LocalCluster) -> None:
    def interrupt(command: list[str]) -> None:
        with started(command) as process:
            wait_until_it_waits(process)
            ready.wait(120)
            answers_no_more.wait(120)
            began = time.monotonic()
            send_to_another_thread(process, signal.SIGINT)
            try:
                process.wait(AT_ONCE_S * 3)
            except subprocess.TimeoutExpired:
                ends.append((command, None, b"does not end", 0.0))
                return
            assert process.stderr is not None
            ends.append((command, process.returncode, process.stderr.read(), time.monotonic() - began))

    commands = waiting_tools(topic)
    ready, answers_no_more, ends = threading.Barrier(len(commands) + 1), threading.Event(), []  # type: ignore[var-annotated]
    threads = [threading.Thread(target=interrupt, args=(command,)) for command in commands]
    for thread in threads:
        thread.start()
    ready.wait(120)
    topic.brokers[0].pause()
    try:
        answers_no_more.set()
        for thread in threads:
            thread.join()
    finally:
        topic.brokers[0].resume()
    assert len(ends) == len(commands)
    assert [end for end in ends if end[1] != 130 or b"Traceback" in end[2] or end[3] > AT_ONCE_S] == []


FAILS_WHILE_IT_LEAVES: Final = """
import signal
from pykafka_classic.cli.command import run_program

def main(arguments, console):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        console.complain("The group cannot be left.")
        return 1

run_program(main)
"""


def test_what_fails_while_it_leaves_does_not_change_the_status() -> None:
    done = subprocess.run([sys.executable, "-c", FAILS_WHILE_IT_LEAVES], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, "The group cannot be left.\n")


def test_a_reader_of_stdout_that_does_not_read_holds_nothing_up(topic: LocalCluster) -> None:
    with started(tool("kafka-verifiable-producer", "--bootstrap-server", topic.bootstrap, "--topic", "t", "--max-messages", ENDLESS)) as process:
        wait_until_it_waits(process)  # the pipe is full
        process.send_signal(signal.SIGINT)
        assert process.wait(AT_ONCE_S) == 130


@pytest.mark.parametrize("command", [tool("kafka-console-consumer", "--from-beginning", "--topic", "t", "--bootstrap-server"), [*PKC, "consume", "t", "-b"]])
def test_a_reader_that_has_seen_enough_ends_a_consumer_that_nothing_more_comes_to(topic: LocalCluster, command: list[str]) -> None:
    """`| head -1`: without a look at the pipe it would go on until the next record."""
    with started([*command, topic.bootstrap]) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"one\n"
        process.stdout.close()
        process.stdout = None
        assert process.wait(30) == 0
        assert process.stderr.read() == b""


def test_a_tool_that_is_terminated_leaves_its_group_and_says_so(topic: LocalCluster) -> None:
    """As with Apache's 2.8.2, whose tools do it in a shutdown hook of the JVM: partitions_revoked, shutdown_complete, 143."""
    command = tool("kafka-verifiable-consumer", "--bootstrap-server", topic.bootstrap, "--topic", "t", "--group-id", "ended")
    with started(command) as process, Admin(topic.bootstrap) as admin:
        assert process.stdout is not None and process.stderr is not None
        while json.loads(process.stdout.readline())["name"] != "offsets_committed":
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
        assert [json.loads(line)["name"] for line in process.stdout] == ["partitions_revoked", "shutdown_complete"]
        assert process.stderr.read() == b""
        assert admin.describe_groups(["ended"]).check()["ended"].members == ()


def test_a_console_consumer_that_is_terminated_commits_and_tells_its_sum(topic: LocalCluster) -> None:
    command = tool("kafka-console-consumer", "--bootstrap-server", topic.bootstrap, "--topic", "t", "--group", "told", "--from-beginning")
    with started(command) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"one\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
        assert process.stderr.read().startswith(b"Processed a total of ")


@pytest.mark.skipif(
    subprocess.run(["env", "--block-signal=INT", "true"], capture_output=True, check=False).returncode != 0, reason="`env` cannot hold signals back"
)
@pytest.mark.parametrize("command", [tool("kafka-topics", "--list", "--zookeeper"), [str(ROOT / ".venv" / "bin" / "pkc"), "znodes", "-z"]])
def test_ctrl_c_while_a_tool_starts_is_silent(command: list[str]) -> None:
    """The first fifth of a second, in which Python loads itself and the tool."""
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    for hundredths in range(2, 22, 4):
        with started([*command, nobody]) as process:
            time.sleep(hundredths / 100)  # what is to be hit are moments that nothing tells of
            process.send_signal(signal.SIGINT)
            assert process.wait(30) in (130, -signal.SIGINT)  # the second: it hit the shell that launches it
            assert process.stderr is not None
            assert process.stderr.read() == b""
