"""`pkc` as a user at a shell meets it, against a real cluster: reading and writing, both sides found from either, wrong addresses, Ctrl-C, closed pipes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Final

import pytest
from click.shell_completion import ShellComplete

from pykafka_classic.cli.command import Console
from pykafka_classic.cli.pkc.main import COMPLETE, NAME, execute, pkc
from pykafka_classic.cli.pkc.progress import GONE
from pykafka_classic.client.admin.configs import ConfigChange, ConfigResource
from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Create
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.child_processes import free_ports, wait_until
from pykafka_classic.protocol.config_numbers import AlterOp
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration import shells
from zk_schema import consumers

PKC: Final = [sys.executable, "-m", "pykafka_classic.cli.pkc.main"]
TOLD_S: Final = 5.0
AT_ONCE_S: Final = 6.0  # a fraction of a second where the machine has nothing else to do; what it must not wait for takes 30 s and more
CPU_S: Final = 0.4  # of processor time, for how long it takes depends on what else the machine does
ENVIRONMENT: Final = {name: value for name, value in os.environ.items() if not name.startswith(("PKC_", "_PKC_"))}


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


def run(*words: str, stdin: bytes = b"") -> Done:
    """Run a command to its end, in this process: a process of its own would cost half a second each."""
    streams = [TextIOWrapper(BytesIO(data), encoding="utf-8", errors="surrogateescape", newline="\n") for data in (stdin, b"", b"")]
    status = execute(words, Console(*streams))
    printed = []
    for stream in streams[1:]:
        stream.flush()
        assert isinstance(stream.buffer, BytesIO)
        printed.append(stream.buffer.getvalue())
    return Done(status, *printed)


def said(*words: str, stdin: bytes = b"") -> str:
    """What it printed; it must succeed and say nothing on stderr."""
    done = run(*words, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b""), done
    return done.stdout.decode()


def run_process(*words: str, stdout: int = subprocess.PIPE, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end as a user does."""
    environment = ENVIRONMENT | variables
    return subprocess.run([*PKC, *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=False, env=environment)


def objects(*words: str) -> list[dict[str, Any]]:
    """What it printed with --json."""
    return [json.loads(line) for line in said(*words, "--json").splitlines()]


@pytest.fixture(scope="module")
def topics(cluster: LocalCluster) -> None:
    """`flights` of three partitions, others of one; `radio`, a group of the brokers', and `old`, one of ZooKeeper's. No test needs another."""
    with Admin(cluster.bootstrap) as admin:
        admin.create_topics([NewTopic("flights", 3, 3), NewTopic("one", 1, 2), NewTopic("copy", 1, 1), NewTopic("empty", 1, 1)]).check()
        wait_until(lambda: not admin.describe_topics(["flights", "one", "copy", "empty"]).errors(), seconds=30)
        admin.alter_group_offsets("radio", {TopicPartition("one", 0): 1}).check()
    with BlockingZooKeeper(cluster.zookeeper.address) as zk:
        path = consumers.offset_path("old", "one", 0)
        steps = path.split("/")[1:]
        for depth in range(1, len(steps)):
            zk.one(Create("/" + "/".join(steps[:depth])))
        assert zk.one(Create(path, consumers.encode_offset(1))).ok
    b = ("-b", cluster.bootstrap)
    said("produce", "one", "-K", ":", "--null", "NULL", "-H", "source=tower", *b, stdin=b"a:first\nb:NULL\nc:\xff\xfe\n")
    said("produce", "flights", "--json", "--same-partition", *b, stdin=b'{"value":"x","partition":0}\n{"value":"y","partition":2,"timestamp":1700000000000}\n')


@pytest.mark.usefixtures("topics")
class TestReadingAndWriting:
    """Records."""

    def test_records_are_printed_in_a_format(self, cluster: LocalCluster) -> None:
        assert run("consume", "one", "-e", "-b", cluster.bootstrap).stdout == b"first\n\n\xff\xfe\n"
        assert said("consume", "one", "-e", "-f", "%t/%p@%o %k=%v %h", "--hex", "--null", "none", "-b", cluster.bootstrap).splitlines() == [
            "one/0@0 61=6669727374 source=746f776572",
            "one/0@1 62=none source=746f776572",
            "one/0@2 63=fffe source=746f776572",
        ]

    @pytest.mark.parametrize(
        ("words", "offsets"),
        [
            (["-e"], [0, 1, 2]),
            (["-e", "-o", "1"], [1, 2]),
            (["-e", "-o", "-2"], [1, 2]),
            (["-o", "1..2"], [1]),
            (["-o", "..-1"], [0, 1]),
            (["-e", "-o", "latest"], []),
            (["-e", "-o", "100"], []),
            (["-e", "-o", "@2001-01-01"], [0, 1, 2]),
            (["-o", "@1000..@2001-01-01"], []),
            (["-n", "2"], [0, 1]),
            (["-p", "0", "-o", "2", "-n", "1"], [2]),
        ],
    )
    def test_reading_goes_from_a_start_to_an_end(self, cluster: LocalCluster, words: list[str], offsets: list[int]) -> None:
        assert [record["offset"] for record in objects("consume", "one", *words, "-b", cluster.bootstrap)] == offsets

    def test_what_was_printed_as_json_is_the_same_when_written_again(self, cluster: LocalCluster) -> None:
        lines = run("consume", "one", "-e", "--json", "-b", cluster.bootstrap).stdout
        said("produce", "copy", "--json", "-b", cluster.bootstrap, stdin=lines)
        copied = objects("consume", "copy", "-e", "-b", cluster.bootstrap)
        assert [record | {"topic": "one"} for record in copied] == [json.loads(line) for line in lines.splitlines()]

    def test_several_topics_and_partitions(self, cluster: LocalCluster) -> None:
        found = objects("consume", "flights", "one", "-e", "-b", cluster.bootstrap)
        assert sorted((record["topic"], record["partition"], record["value"]) for record in found if record["topic"] == "flights") == [
            ("flights", 0, "x"),
            ("flights", 2, "y"),
        ]
        assert len(found) == 5
        assert said("consume", "flights", "-e", "-p", "1-2", "-f", "%T %v", "-b", cluster.bootstrap) == "1700000000000 y\n"

    def test_a_group_goes_on_where_it_stopped_and_lag_tells_how_far_it_is(self, cluster: LocalCluster) -> None:
        b = ("-b", cluster.bootstrap)
        assert said("consume", "one", "-g", "radar", "-n", "2", "-f", "%o", *b) == "0\n1\n"
        row = objects("lag", "radar", *b)[0]
        assert (row["kafka"], row["zookeeper"], row["next"], row["lag"]) == (2, None, 3, 1)
        assert said("consume", "one", "-g", "radar", "-e", "-f", "%o", *b) == "2\n"
        assert said("consume", "one", "-g", "radar", "-e", "-f", "%o", *b) == ""
        assert said("consume", "one", "-g", "radar", "-o", "0..2", "-f", "%o", *b) == "0\n1\n"
        assert objects("lag", "radar", *b)[0]["lag"] in (0, 1)

    def test_files_are_read_and_one_can_be_one_record(self, cluster: LocalCluster, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"1\n2\n")
        (tmp_path / "b").write_bytes(b"3")
        where = str(tmp_path / "a"), str(tmp_path / "b")
        said("produce", "empty", *where, "-b", cluster.bootstrap)
        said("produce", "empty", "--whole", *where, "-k", "file", "-b", cluster.bootstrap)
        assert [(each["key"], each["value"]) for each in objects("consume", "empty", "-e", "-b", cluster.bootstrap)] == [
            (None, "1"),
            (None, "2"),
            (None, "3"),
            ("file", "1\n2\n"),
            ("file", "3"),
        ]

    def test_a_line_that_is_no_record_is_told_and_those_before_it_are_written(self, cluster: LocalCluster) -> None:
        before = len(objects("consume", "copy", "-e", "-b", cluster.bootstrap))
        done = run("produce", "copy", "--json", "-b", cluster.bootstrap, stdin=b'{"value":"good"}\nbad\n{"value":"never"}\n')
        assert (done.returncode, done.stderr.decode()) == (1, "stdin, line 2: no JSON: 'bad'. The lines before it were written.\n")
        assert [each["value"] for each in objects("consume", "copy", "-e", "-o", str(before), "-b", cluster.bootstrap)] == ["good"]

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["consume", "flight"], "There is no topic 'flight'. Did you mean flights?"),
            (["produce", "flight"], "There is no topic 'flight'. Did you mean flights?"),
            (["consume", "one", "-p", "0,5"], "There is no partition 5: the last one is 0."),
            (["produce", "one", "-p", "5"], "There is no partition 5 of one: the last one is 0."),
            (["lag", "nobody-of-this-name"], "There is no group 'nobody-of-this-name'."),
            (["consume", "one", "-X", "fetch.min.byte=1"], "There is no setting 'fetch_min_byte'; is 'fetch_min_bytes' meant?"),
            (["produce", "one", "-X", "acks=7"], "Acks is 7, not 0, 1 or all."),
        ],
    )
    def test_what_is_not_there_is_told_in_a_sentence(self, cluster: LocalCluster, words: list[str], told: str) -> None:
        done = run(*words, "-b", cluster.bootstrap)
        assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", f"{told}\n")


@pytest.mark.usefixtures("topics")
class TestTheCluster:
    """Tables, and both sides found from either."""

    def test_topics_brokers_and_groups_from_the_brokers_or_from_zookeeper(self, cluster: LocalCluster) -> None:
        for where in (("-b", cluster.bootstrap), ("-z", cluster.zookeeper.address)):
            found = {row["topic"]: row for row in objects("topics", *where)}
            assert (found["flights"]["partitions"], found["flights"]["replicas"], found["flights"]["without_leader"]) == (3, 3, 0)
            assert [row["records"] for row in objects("topics", "flights", *where)] == [1, 0, 1]
            brokers = objects("brokers", *where)
            assert [row["broker"] for row in brokers] == [0, 1, 2] and sum(row["controller"] for row in brokers) == 1
            assert objects("znodes", "/controller", *where)[0]["ephemeral"] is True

    def test_variables_stand_for_options(self, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PKC_BROKERS", cluster.bootstrap)
        told = said("topics")
        monkeypatch.delenv("PKC_BROKERS")
        monkeypatch.setenv("PKC_ZOOKEEPER", cluster.zookeeper.address)
        assert said("topics") == told

    def test_groups_of_both_stores(self, cluster: LocalCluster) -> None:
        found = {(row["group"], row["store"]): row for row in objects("groups", "-b", cluster.bootstrap)}
        assert found["old", "zookeeper"]["state"] == "Empty"
        row = objects("lag", "old", "-b", cluster.bootstrap)[0]  # ZooKeeper's address is the brokers' to tell
        assert (row["kafka"], row["zookeeper"], row["lag"]) == (None, 1, 2)
        assert said("lag", "old", "-b", cluster.bootstrap).splitlines()[-1] == "old: 2 records behind, 1 partition, no members"

    def test_a_groups_offsets_are_carried_from_one_store_to_the_other_only_when_that_is_said(self, cluster: LocalCluster) -> None:
        b = ("-b", cluster.bootstrap)
        with BlockingZooKeeper(cluster.zookeeper.address) as zk:
            path = consumers.offset_path("mover", "flights", 0)
            steps = path.strip("/").split("/")
            zk.submit(*(Create("/" + "/".join(steps[: depth + 1])) for depth in range(len(steps) - 1)), Create(path, b"2"))

        def kept() -> tuple[int | None, int | None]:
            (row,) = objects("lag", "mover", *b)
            return row["kafka"], row["zookeeper"]

        preview = said("offsets", "mover", "--to", "kafka", *b)
        assert preview.splitlines()[-1] == "mover: 1 offset would be carried from ZooKeeper to Kafka; --execute does it"
        assert kept() == (None, 2)
        (row,) = objects("offsets", "mover", "--to", "kafka", "--execute", *b)
        assert (row["action"], row["from_offset"], row["to_offset"], row["dry_run"]) == ("copied", 2, None, False)
        assert kept() == (2, 2)
        again = said("offsets", "mover", "--to", "kafka", "--execute", *b).splitlines()
        assert "skip    both stores have this offset" in again[1]
        assert again[-1] == "mover: no offsets carried from ZooKeeper to Kafka"
        assert said("offsets", "radio", "--to", "kafka", *b) == "radio: ZooKeeper holds no offset of it\n"
        assert run("offsets", "movr", "--to", "kafka", *b).stderr == b"There is no group 'movr'. Did you mean mover?\n"

    @pytest.mark.parametrize(
        ("line", "proposed"),
        [
            ("pkc con", ["consume"]),
            ("pkc consume fl", ["flights"]),
            ("pkc produce --comp", ["--compression"]),
            ("pkc lag -z ZOOKEEPER o", ["old"]),
            ("pkc groups other radi", ["radio"]),
            ("pkc topics -b NOBODY fl", []),
        ],
    )
    def test_the_shell_completes_commands_options_topics_and_groups(
        self, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, line: str, proposed: list[str]
    ) -> None:
        monkeypatch.setenv("PKC_BROKERS", cluster.bootstrap)
        line = line.replace("ZOOKEEPER", cluster.zookeeper.address).replace("NOBODY", f"127.0.0.1:{free_ports(1)[0]}")
        *before, incomplete = line.split(" ")[1:]
        assert [item.value for item in ShellComplete(pkc, {}, NAME, COMPLETE).get_completions(before, incomplete)] == proposed


@pytest.mark.usefixtures("topics")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_tab_completes_at_a_real_shell(cluster: LocalCluster, tmp_path: Path, shell: str) -> None:
    if not shells.is_there(shell):
        pytest.skip(f"{shell} is not installed")
    with shells.Shell(shell, tmp_path, Path(sys.executable).parent, {"PKC_BROKERS": cluster.bootstrap}) as typing:
        for typed, completed in (("pkc con", "pkc consume"), ("pkc consume fl", "pkc consume flights"), ("pkc lag radi", "pkc lag radio")):
            assert typing.completed(typed) == completed
        assert typing.completed("pkc znodes --wat") == "pkc znodes --watch"


def test_the_shells_script_asks_by_a_variable(cluster: LocalCluster) -> None:
    done = run_process(_PKC_COMPLETE="bash_complete", COMP_WORDS="pkc znodes --w", COMP_CWORD="2")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"plain,--watch\n", b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    assert f"_PKC_COMPLETE={shell}_complete" in said("completion", shell)


COMMANDS: Final = (["produce", "one"], ["consume", "one", "-e"], ["lag", "g"], ["topics"], ["groups"], ["brokers"], ["znodes"], ["follow"])


def test_wrong_addresses_are_told_in_one_sentence_within_five_seconds(cluster: LocalCluster) -> None:
    broker, zookeeper, nobody = f"127.0.0.1:{cluster.ports[0]}", cluster.zookeeper.address, f"127.0.0.1:{free_ports(1)[0]}"
    cases = [
        ("-b", zookeeper, f"{zookeeper} is a ZooKeeper server, not a broker"),
        ("-z", broker, f"{broker} is a Kafka broker, not a ZooKeeper server"),
        ("-b", nobody, f"{nobody}: Connection refused"),
        ("-z", nobody, f"{nobody} (Connection refused)"),
        ("-b", "host:port", "'host:port' is no address"),
    ]

    def told(words: list[str], option: str, address: str) -> tuple[Done, float]:
        began = time.monotonic()
        return run(*words, option, address), time.monotonic() - began

    with ThreadPoolExecutor(len(COMMANDS)) as threads:
        outcomes = [(threads.submit(told, words, option, address), words, expected) for option, address, expected in cases for words in COMMANDS]
        for outcome, words, expected in outcomes:
            done, took_s = outcome.result()
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1), (words, done)
            assert expected in done.stderr.decode(), words
            assert took_s < TOLD_S, (words, expected)


def test_no_cluster_at_all_is_told_as_a_process_tells_it() -> None:
    done = run_process("topics", "-b", f"127.0.0.1:{free_ports(1)[0]}")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"Cannot reach the cluster at 127.0.0.1:") and done.stderr.count(b"\n") == 1


def reading(process: subprocess.Popen[bytes], *, until: bytes) -> bytes:
    """stdout, as soon as this is in it."""
    assert process.stdout is not None
    text, deadline = b"", time.monotonic() + 30
    while until not in text:
        assert time.monotonic() < deadline, text
        if select.select([process.stdout], [], [], 0.5)[0]:
            found = os.read(process.stdout.fileno(), 65536)
            assert found, text
            text += found
    return text


@pytest.fixture
def started() -> Iterator[Any]:
    """Starts commands; none is left."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*words: str, **options: Any) -> subprocess.Popen[bytes]:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        process: subprocess.Popen[bytes] = subprocess.Popen([*PKC, *words], env=ENVIRONMENT | {"TERM": "xterm"}, **pipes)
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C: at once, with 130, without a word."""
    assert process.stderr is not None
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert time.monotonic() - began < AT_ONCE_S
    assert b"Traceback" not in process.stderr.read()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc here, which shows the threads of a process")
@pytest.mark.parametrize("words", [["znodes", "--watch"], ["follow"], ["consume", "flights"], ["produce", "flights"]], ids=lambda words: words[0])
@pytest.mark.usefixtures("topics")
def test_ctrl_c_never_reaches_a_thread_that_cannot_hear_it(cluster: LocalCluster, started: Any, words: list[str]) -> None:
    """A signal that the kernel gives to another thread than the main one is lost while that waits (the watch was seen to hang so, under load)."""
    process = started(*words, "-b", cluster.bootstrap)

    def others() -> list[str]:
        status = [path.read_text() for path in Path(f"/proc/{process.pid}/task").glob("*/status") if path.parent.name != str(process.pid)]
        return [line.split()[1] for text in status for line in text.splitlines() if line.startswith("SigBlk:")]

    wait_until(lambda: len(others()) > 0, seconds=30)
    assert all(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in others())


def on_a_terminal(*words: str, stdout: int = subprocess.DEVNULL) -> tuple[bytes, int]:
    """What a command shows on a terminal that is its stderr, to its end; and its exit status."""
    end, other = pty.openpty()
    try:
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        process = subprocess.Popen([*PKC, *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=other, env=ENVIRONMENT | {"TERM": "xterm"})
        os.close(other)
        shown, deadline = b"", time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                shown += os.read(end, 65536)
            except OSError:  # the terminal's other side is closed: the command has ended
                break
        return shown, process.wait(10)
    finally:
        os.close(end)


@pytest.mark.usefixtures("topics")
class TestWhatGoesOn:
    """Commands that last until Ctrl-C."""

    def test_records_come_as_they_are_written_until_ctrl_c(self, cluster: LocalCluster, started: Any) -> None:
        b = ("-b", cluster.bootstrap)
        consuming, producing = started("consume", "flights", "-p", "1", *b), started("produce", "flights", "-p", "1", *b)
        for word in (b"hello", b"again"):
            producing.stdin.write(word + b"\n")
            producing.stdin.flush()
            reading(consuming, until=word + b"\n")
        interrupt(consuming)
        interrupt(producing)

    def test_what_a_member_printed_is_committed_at_ctrl_c(self, cluster: LocalCluster, started: Any) -> None:
        consuming = started("consume", "one", "-g", "tower", "-f", "%o", "-b", cluster.bootstrap)
        reading(consuming, until=b"2\n")
        interrupt(consuming)
        assert objects("lag", "tower", "-b", cluster.bootstrap)[0]["kafka"] == 3

    def test_lag_is_watched(self, cluster: LocalCluster, started: Any) -> None:
        said("consume", "one", "-g", "watched", "-n", "1", "-b", cluster.bootstrap)
        watching = started("lag", "watched", "--watch", "-i", "0.1", "--json", "-b", cluster.bootstrap)
        assert json.loads(reading(watching, until=b"\n").splitlines()[0])["kafka"] == 1
        said("consume", "one", "-g", "watched", "-n", "1", "-b", cluster.bootstrap)
        reading(watching, until=b'"kafka":2')
        interrupt(watching)

    def test_changes_of_the_tree_are_drawn_with_marks(self, cluster: LocalCluster, started: Any) -> None:
        watching = started("znodes", "/config", "--watch", "-z", cluster.zookeeper.address)
        reading(watching, until=b"one")
        with Admin(cluster.bootstrap) as admin:
            admin.incremental_alter_configs({ConfigResource.topic("one"): [ConfigChange("retention.ms", "-1", AlterOp.SET)]}).check()
        text = reading(watching, until=b"(was {").decode()
        assert [line for line in text.splitlines() if line.startswith("~ ") and 'one  {"version":1,"config":{"retention.ms":"-1"}}' in line]
        interrupt(watching)

    def test_what_happens_in_the_cluster_is_told_in_sentences(self, cluster: LocalCluster, started: Any) -> None:
        following = started("follow", "--json", "-b", cluster.bootstrap)
        assert following.stderr is not None
        assert following.stderr.readline().startswith(f"Following ZooKeeper at {cluster.zookeeper.address}: 3 brokers, ".encode())
        with Admin(cluster.bootstrap) as admin:
            admin.create_topics([NewTopic("told", assignment={0: [2, 0]}, configs={"retention.ms": "-1"})]).check()
            reading(following, until=b'"sentence":"Topic told was created: 1 partition, 2 replicas of each"')
            wait_until(lambda: admin.describe_topics(["told"]).check()["told"].partitions[0].leader == 2, seconds=30)
        cluster.brokers[2].stop()
        text = reading(following, until=b'"sentence":"Broker 2 left"')
        for sentence in ("Leader of told-0 moved from broker 2 to broker 0", "ISR of told-0 shrunk to broker 0: broker 2 fell out"):
            if sentence.encode() not in text:
                text += reading(following, until=sentence.encode())
        cluster.restart(2)
        text = reading(following, until=b"ISR of told-0 expanded to brokers 0, 2: broker 2 came in")
        assert f"Broker 2 joined, at 127.0.0.1:{cluster.ports[2]}".encode() in text
        interrupt(following)

    def test_long_work_has_a_bar_on_a_terminal_that_is_gone_at_the_end(self, cluster: LocalCluster, tmp_path: Path) -> None:
        (tmp_path / "lines").write_bytes(b"".join(b"line %d\n" % number for number in range(2_000)))
        shown, status = on_a_terminal("produce", "barred", str(tmp_path / "lines"), "--create", "-b", cluster.bootstrap)
        assert status == 0
        assert b"barred  [####" in shown and b"100%" in shown
        left = shown.rpartition(GONE.encode())[2]
        assert left.strip() == b"2000 records written to barred"  # what is said at the end stands where the bar was

        shown, status = on_a_terminal("consume", "barred", "-e", "-b", cluster.bootstrap)
        assert (status, b"100%" in shown, shown.endswith(GONE.encode())) == (0, True, True)

    def test_there_is_no_bar_with_json_or_where_records_are_read_by_a_person(self, cluster: LocalCluster) -> None:
        assert on_a_terminal("consume", "one", "-e", "--json", "-b", cluster.bootstrap) == (b"", 0)
        end, other = pty.openpty()
        shown, status = on_a_terminal("consume", "one", "-e", "-b", cluster.bootstrap, stdout=other)
        os.close(other)
        os.close(end)
        assert (shown, status) == (b"", 0)

    def test_a_terminal_gets_colours_and_a_pipe_none(self, cluster: LocalCluster, started: Any) -> None:
        end, other = pty.openpty()
        try:
            process = started("topics", "-b", cluster.bootstrap, stdout=other)
            assert process.wait(30) == 0
            text = os.read(end, 65536)
        finally:
            os.close(end)
            os.close(other)
        assert b"\x1b[1mTOPIC" in text
        assert b"\x1b" not in run("topics", "-b", cluster.bootstrap).stdout


@pytest.mark.usefixtures("topics")
@pytest.mark.parametrize("words", [["topics"], ["consume", "one", "-e"], ["znodes"]], ids=lambda words: words[0])
def test_a_closed_pipe_is_silent(cluster: LocalCluster, words: list[str]) -> None:
    end, other = os.pipe()
    os.close(end)
    done = subprocess.run(
        [*PKC, *words, "-b", cluster.bootstrap], stdin=subprocess.DEVNULL, stdout=other, stderr=subprocess.PIPE, timeout=60, check=False, env=ENVIRONMENT
    )
    os.close(other)
    assert (done.returncode, done.stderr) == (0, b"")


def test_help_and_topics_answer_quickly(cluster: LocalCluster) -> None:
    for words in (["--help"], ["topics", "-b", cluster.bootstrap]):
        assert min(_cpu_s([*PKC, *words]) for _ in range(3)) < CPU_S


def _cpu_s(command: list[str]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=ENVIRONMENT)  # waited for below, with what it used
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime
