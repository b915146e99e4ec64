"""Tools that no recording plays: ours print the same on Apache's broker and on ours, and Apache's print the same on ours as on Apache's own.

One broker of each kind, filled alike. What must differ is made alike first: addresses, times, ids, rates.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO, TextIOWrapper
from typing import Any, Final

import pytest

from pykafka_classic.cli.command import Console
from pykafka_classic.cli.pkc.main import execute as pkc
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.apache import OURS, MixedCluster
from tests.integration.cli_masks import alike
from tests.integration.cli_recordings import tool_named
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import Sent, send
from tests.integration.java_tools import JavaTools, tools_class_path
from tests.integration.test_ctrl_c import PKC as PKC_COMMAND
from tests.integration.test_ctrl_c import started, tool
from zk_schema import consumers
from zk_schema.consumers import STATIC, ConsumerIdZNode

APACHE: Final = "2.8.2"
OLD: Final = "0.8.2.2"
RECORDS: Final = 5
T0: Final = 1_500_000_000_000  # so long ago that it is not taken for the time of now
Both = tuple[LocalCluster, LocalCluster]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Ours, Apache's. Topic t: two partitions, 5 records in the second; topic two: one, empty. Group g stands at 2 of t-1."""
    ours, apache = (MixedCluster(tmp_path_factory.mktemp(kind), [kind], overrides=KEEP) for kind in (OURS, APACHE))
    with ours, apache:
        for cluster in (ours, apache):
            with Admin(cluster.bootstrap) as admin:
                admin.create_topics([NewTopic("t", 2, 1), NewTopic("two", 1, 1)]).check()
                wait_until(lambda admin=admin: not admin.describe_topics(["t", "two"]).errors(), seconds=20)  # type: ignore[misc]
                admin.alter_group_offsets("g", {TopicPartition("t", 1): 2}).check()
            records = [Sent(b"k%d" % number, b"v%d" % number, (("h", b"x"),), T0 + number) for number in range(RECORDS)]
            send(cluster.bootstrap, "t", records, partition=1, acks="all")
        yield ours, apache
    assert_no_stack_traces(ours)


def masked(text: str, cluster: LocalCluster) -> str:
    """Without what differs between any two clusters."""
    text = alike(text, {cluster.bootstrap: "@BROKER@", cluster.zookeeper.address: "@ZK@", str(cluster.ports[0]): "@PORT@"})
    text = re.sub(r"[\w-]{22}(?=\")", "@ID@", text)
    return re.sub(r" since \d\d:\d\d:\d\d", " since @TIME@", text)


def of_ours(main: Callable[[Sequence[str], Console], int], words: Sequence[str], stdin: str = "") -> tuple[int, str, str]:
    """Exit status, stdout, stderr of a tool of ours, in this process."""
    streams = [TextIOWrapper(BytesIO(text.encode()), encoding="utf-8", newline="\n") for text in (stdin, "", "")]
    status = main(words, Console(*streams))
    for stream in streams[1:]:
        stream.flush()
    _, output, errors = (stream.buffer.getvalue().decode() for stream in streams)
    return status, output, errors


def on_both(both: Both, main: Callable[[Sequence[str], Console], int], words: str, stdin: str = "") -> str:
    """What ours printed on either; it must succeed, and be equal."""
    outcomes = []
    for cluster in both:
        filled = words.replace("@BROKER@", cluster.bootstrap).replace("@ZK@", cluster.zookeeper.address).split()
        status, output, errors = of_ours(main, filled, stdin)
        assert status == 0, errors
        outcomes.append((masked(output, cluster), masked(errors, cluster)))
    assert outcomes[0] == outcomes[1]
    return outcomes[0][0]


# One after the other; each with a part of what it must print.
PKC: Final = (
    ("topics", "two"),
    ("topics t", " 1       0  0         0        0     5        5\n"),
    ("topics --json", '"topic":"t","partitions":2'),
    ("consume t -e -f %t/%p@%o,%k=%v,%h,%T", f"t/1@0,k0=v0,h=x,{T0}\n"),
    ("consume t -p 1 -o -1 -e", "v4\n"),
    (f"consume t -e -o @{T0 + 1}..@{T0 + 3} --json", '"offset":2'),
    ("consume t -g g -e -f %o", "2\n3\n4\n"),
    ("lag g --json", '"partition":1,"kafka":5'),
    ("offsets g --to zookeeper --execute", "carried from Kafka to ZooKeeper"),
    ("lag g", "g: no records behind"),
    ("groups", "zookeeper"),
    ("groups g", "MEMBER"),
    ("brokers --json", '"controller":true'),
    ("znodes /brokers/topics/two", '"adding_replicas"'),
    ("znodes /consumers", "5"),
    ("why t-1", "Broker 0 leads t-1"),
    ("why broker 0", "0"),
    ("why group g", "g"),
)


def test_pkc_tells_of_apaches_cluster_what_it_tells_of_ours(both: Both) -> None:
    for words, part in PKC:
        printed = on_both(both, pkc, f"{words} {'-z @ZK@' if words.startswith('znodes') else '-b @BROKER@'}")
        assert part in printed, words


def test_what_pkc_wrote_is_read_again(both: Both) -> None:
    on_both(both, pkc, "produce two --json --same-partition -b @BROKER@", '{"key":"a","value":"ä","timestamp":1500000000007,"headers":{"h":"x"}}\n')
    assert on_both(both, pkc, "consume two -e -f %k=%v@%T -b @BROKER@") == "a=ä@1500000000007\n"


def test_pkc_asks_in_sql(both: Both) -> None:
    for cluster in both:
        status, output, errors = of_ours(pkc, ["sql", "select count(*) from topic t", "--json", "-b", cluster.bootstrap])
        assert (status, list(json.loads(output).values())) == (0, [RECORDS]), errors


def test_pkc_follows_what_happens(both: Both) -> None:
    for cluster in both:
        with started([*PKC_COMMAND, "follow", "-b", cluster.bootstrap]) as process, Admin(cluster.bootstrap) as admin:
            assert process.stderr is not None
            assert process.stderr.readline().startswith(b"Following ZooKeeper")
            admin.create_topics([NewTopic("told", 1, 1)]).check()
            first_line(process, "Topic told was created: 1 partition, 1 replica")


def first_line(process: subprocess.Popen[bytes], part: str) -> str:
    """The first line of its output that has this in it."""
    assert process.stdout is not None
    for line in process.stdout:
        if part in line.decode():
            return line.decode()
    raise AssertionError(f"it ended without {part!r}: {process.wait(10)}")


def test_replicas_are_compared(both: Both) -> None:
    """By our tool on Apache's brokers, by Apache's on ours; which of two partitions without a lag is named is a matter of a hash table there."""
    ours, apache = both
    words = ("--topic-white-list", "t", "--time", "-2", "--report-interval-ms", "100", "--max-wait-ms", "100", "--broker-list")
    javas = JavaTools(tools_class_path(APACHE)).command("kafka.tools.ReplicaVerificationTool", *words, ours.bootstrap)
    for command in (tool("kafka-replica-verification", *words, apache.bootstrap), javas):
        with started(command) as process:
            line = first_line(process, "max lag is ")
            assert re.search(r",\d{3}: max lag is 0 for partition t-(0 at offset 0|1 at offset 5) among 2 partitions$", line), line


def test_verifiable_consumer_and_producer(both: Both) -> None:
    ours, apache = both
    javas = JavaTools(tools_class_path(APACHE))
    read, write = "--topic t --group-id verify --max-messages 5 --verbose", "--topic verified --max-messages 2 --value-prefix 7 --acks -1"
    told = []
    for cluster, verify in ((apache, _verify_by_ours), (ours, functools.partial(_verify_by_javas, javas))):
        with Admin(cluster.bootstrap) as admin:
            admin.create_topics([NewTopic("verified", 1, 1)]).check()
            wait_until(lambda admin=admin: not admin.describe_topics(["verified"]).errors(), seconds=20)  # type: ignore[misc]
        events = [verify(name, f"--bootstrap-server {cluster.bootstrap} {words}".split()) for name, words in (("Consumer", read), ("Producer", write))]
        told.append(events)
    assert told[0] == told[1]
    consumed, produced = told[0]
    assert [each["value"] for each in consumed if each["name"] == "record_data"] == ["v0", "v1", "v2", "v3", "v4"]
    assert [each["offset"] for each in produced if each["name"] == "producer_send_success"] == [0, 1]


def _verify_by_ours(name: str, words: Sequence[str]) -> list[dict[str, Any]]:
    program = tool_named(f"kafka-verifiable-{name.lower()}")
    assert program is not None
    status, output, errors = of_ours(program, words)
    assert status == 0, errors
    return _events(output)


def _verify_by_javas(javas: JavaTools, name: str, words: Sequence[str]) -> list[dict[str, Any]]:
    return _events(javas.run(f"org.apache.kafka.tools.Verifiable{name}", *words))


def _events(output: str) -> list[dict[str, Any]]:
    """Without when, and how fast; partitions in one order: Java's is that of a hash set."""
    found = []
    for line in output.splitlines():
        event = {key: value for key, value in json.loads(line).items() if key not in ("timestamp", "avg_throughput")}
        found.append(event | ({"partitions": sorted(event["partitions"], key=repr)} if "partitions" in event else {}))
    return found


def test_apaches_tools_without_a_recording_on_our_brokers(both: Both) -> None:
    ours, _ = both
    javas = JavaTools(tools_class_path(APACHE))
    assert javas.run("kafka.tools.GetOffsetShell", "--broker-list", ours.bootstrap, "--topic", "t").splitlines() == ["t:0:0", "t:1:5"]
    printed = javas.run("kafka.tools.ConsumerPerformance", "--bootstrap-server", ours.bootstrap, "--topic", "t", "--messages", "5")
    assert printed.splitlines()[1].split(", ")[4] == "5"
    assert re.fullmatch(r"Cluster ID: [\w-]{22}\n", javas.run("kafka.tools.ClusterTool", "cluster-id", "--bootstrap-server", ours.bootstrap))


def test_both_offset_checkers_on_both_brokers(both: Both) -> None:
    """0.8.2.2's own and ours, over a group of ZooKeeper's."""
    checker = JavaTools(tools_class_path(OLD))
    printed = set()
    for cluster in both:
        with ZooKeeperSession(cluster.zookeeper.address) as zk:
            zk.set_or_create(consumers.id_path("old", "old_1"), consumers.encode_id(ConsumerIdZNode({"t": 1}, STATIC, 1)))
            for partition, offset in enumerate((0, 3)):
                zk.set_or_create(consumers.offset_path("old", "t", partition), consumers.encode_offset(offset))
                zk.set_or_create(consumers.owner_path("old", "t", partition), consumers.encode_owner("old_1-0"))
        words = ("--zookeeper", cluster.zookeeper.address, "--group", "old", "--topic", "t")
        program = tool_named("kafka-consumer-offset-checker")
        assert program is not None
        printed |= {of_ours(program, words)[1], checker.run("kafka.tools.ConsumerOffsetChecker", *words)}
    (table,) = printed
    assert [line.split() for line in table.splitlines()[1:]] == [["old", "t", "0", "0", "0", "0", "old_1-0"], ["old", "t", "1", "3", "5", "2", "old_1-0"]]
