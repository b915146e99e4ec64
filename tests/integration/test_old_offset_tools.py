"""The offset tools of Kafka 0.8 print what 0.8.2.2's printed (tests/golden/data/cli/old-*.json), over a group with the same members, owners and offsets.

The group is written into ZooKeeper by hand, as 0.8.2.2's consumers left it: g_one with two streams, g_two with two.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.cli_recordings import recording, run, tool_named
from tests.integration.foreign import Sent, create_topic, send
from zk_schema import consumers
from zk_schema.consumers import STATIC, ConsumerIdZNode

# How many records each partition holds, how far the group has come, who reads it: as the recorded tables say.
ENDS: Final = {"orders": (16, 26, 26, 18, 14), "other": (8, 12)}
OFFSETS: Final = {"orders": (8, 13, 13, 18, 14), "other": (8, 12)}
OWNERS: Final = {"orders": ("g_one-0", "g_one-0", "g_one-1", "g_two-0", "g_two-1"), "other": ("g_one-0", "g_one-1")}
MEMBERS: Final = {"g_one": {"orders": 2, "other": 2}, "g_two": {"orders": 2}}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """One broker with the recorded topics."""
    with LocalCluster(tmp_path_factory.mktemp("old"), brokers=1) as cluster:
        for topic, ends in ENDS.items():
            create_topic(cluster.bootstrap, topic, partitions=len(ends), replicas=1)
            for partition, count in enumerate(ends):
                send(cluster.bootstrap, topic, [Sent(None, b"x")] * count, partition=partition)
        yield cluster


@pytest.fixture
def group(filled: LocalCluster) -> Iterator[ZooKeeperSession]:
    """The group, as its running members have written it; gone afterwards."""
    with ZooKeeperSession(filled.zookeeper.address) as zk:
        for member, subscription in MEMBERS.items():
            zk.set_or_create(consumers.id_path("g", member), consumers.encode_id(ConsumerIdZNode(subscription, STATIC, 1)))
        for topic, offsets in OFFSETS.items():
            for partition, offset in enumerate(offsets):
                zk.set_or_create(consumers.offset_path("g", topic, partition), consumers.encode_offset(offset))
                zk.set_or_create(consumers.owner_path("g", topic, partition), consumers.encode_owner(OWNERS[topic][partition]))
        yield zk
        run_ours("zookeeper-shell", filled.zookeeper.address, "deleteall", "/consumers/g")


def run_ours(name: str, *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout, stderr."""
    tool = tool_named(name)
    assert tool is not None
    return run(tool, arguments)


def recorded(name: str, index: int = 0) -> tuple[int, str]:
    """Exit status and stdout of 0.8.2.2."""
    case = recording(f"old-{name}")["cases"][index]
    return case["exit"], case["stdout"]


def test_checker_prints_the_recorded_table(filled: LocalCluster, group: ZooKeeperSession) -> None:
    zookeeper = ("--zookeeper", filled.zookeeper.address)
    assert run_ours("kafka-consumer-offset-checker", *zookeeper, "--group", "g")[:2] == recorded("ConsumerOffsetChecker", 0)
    status, out, _ = run_ours("kafka-consumer-offset-checker", *zookeeper, "--group", "g", "--topic", "orders", "--broker-info")
    assert (status, out.replace(str(filled.ports[0]), "19092")) == recorded("ConsumerOffsetChecker", 1)


def test_checker_tells_of_a_group_that_is_not_there_with_status_0(filled: LocalCluster) -> None:
    status, out, _ = run_ours("kafka-consumer-offset-checker", "--zookeeper", filled.zookeeper.address, "--group", "nobody")
    recorded_status, recorded_out = recorded("ConsumerOffsetChecker", 2)
    assert (status, out) == (recorded_status, recorded_out.replace("org.apache.zookeeper.KeeperException$NoNodeException: ", ""))


def test_checker_wants_a_group(filled: LocalCluster) -> None:
    status, _, err = run_ours("kafka-consumer-offset-checker", "--zookeeper", filled.zookeeper.address)
    assert (status, err.splitlines()[0]) == (1, 'Missing required argument "[group]"')


def test_an_offset_committed_to_kafka_counts_before_the_one_in_zookeeper(filled: LocalCluster, group: ZooKeeperSession) -> None:
    group.set_or_create("/consumers/h/owners/other", None)
    group.set_or_create("/consumers/h/offsets/other/1", b"3")
    assert (
        run_ours(
            "kafka-consumer-groups",
            *("--bootstrap-server", filled.bootstrap, "--group", "h", "--reset-offsets", "--to-offset", "5", "--topic", "other:0", "--execute"),
        )[0]
        == 0
    )
    _, out, _ = run_ours("kafka-consumer-offset-checker", "--zookeeper", filled.zookeeper.address, "--group", "h")
    rows = [line.split() for line in out.splitlines()[1:]]
    assert rows == [["h", "other", "0", "5", "8", "3", "none"], ["h", "other", "1", "3", "12", "9", "none"]]


def test_offsets_are_exported_as_recorded_and_imported_again(filled: LocalCluster, group: ZooKeeperSession, tmp_path: Path) -> None:
    file = tmp_path / "offsets.txt"
    arguments = ("--zkconnect", filled.zookeeper.address, "--group", "g", "--output-file", str(file))
    assert run_ours("kafka.tools.ExportZkOffsets", *arguments)[:2] == recorded("ExportZkOffsets")
    assert file.read_text() == recording("old-ExportZkOffsets")["cases"][0]["file"]
    group.set_or_create(consumers.offset_path("g", "orders", 3), b"1")
    run_ours("zookeeper-shell", filled.zookeeper.address, "delete", consumers.offset_path("g", "other", 0))
    assert run_ours("kafka.tools.ImportZkOffsets", "--zkconnect", filled.zookeeper.address, "--input-file", str(file))[:2] == recorded("ImportZkOffsets")
    assert [group.data(consumers.offset_path("g", *where)) for where in (("orders", 3), ("other", 0))] == [b"18", b"8"]


def test_a_file_with_a_line_that_is_none_is_not_imported_at_all(filled: LocalCluster, group: ZooKeeperSession, tmp_path: Path) -> None:
    file = tmp_path / "offsets.txt"
    file.write_text("/consumers/g/offsets/orders/0:1\n/brokers/topics/orders:1\n")
    status, _, err = run_ours("kafka.tools.ImportZkOffsets", "--zkconnect", filled.zookeeper.address, "--input-file", str(file))
    assert (status, err) == (1, "Line 2 is not /consumers/GROUP/offsets/TOPIC/PARTITION:OFFSET: /brokers/topics/orders:1\n")
    assert group.data(consumers.offset_path("g", "orders", 0)) == b"8"


def test_a_group_is_set_to_the_first_records(filled: LocalCluster, group: ZooKeeperSession, tmp_path: Path) -> None:
    file = tmp_path / "consumer.properties"
    file.write_text(f"zookeeper.connect={filled.zookeeper.address}\ngroup.id=g\n")
    assert run_ours("kafka.tools.UpdateOffsetsInZK", "earliest", str(file), "orders")[:2] == recorded("UpdateOffsetsInZK")
    assert group.data(consumers.offset_path("g", "orders", 4)) == b"0"
    assert "with new offset: 26" in run_ours("kafka.tools.UpdateOffsetsInZK", "latest", str(file), "orders")[1]
    assert group.data(consumers.offset_path("g", "orders", 1)) == b"26"


def test_a_rebalance_has_succeeded_when_every_partition_has_an_owner_that_is_a_member(filled: LocalCluster, group: ZooKeeperSession) -> None:
    arguments = ("--zookeeper.connect", filled.zookeeper.address, "--group", "g")
    assert run_ours("kafka.tools.VerifyConsumerRebalance", *arguments)[:2] == recorded("VerifyConsumerRebalance", 1)
    group.set_or_create(consumers.owner_path("g", "orders", 1), b"g_gone-0")
    status, out, err = run_ours("kafka.tools.VerifyConsumerRebalance", *arguments)
    assert (status, out) == recorded("VerifyConsumerRebalance", 0)
    assert err == "Owner g_gone-0 for partition orders-1 is not a valid member of consumer group g\n"
