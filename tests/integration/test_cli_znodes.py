"""Our tools with --zookeeper write the znodes that Apache's write: the same commands below two chroots of one ZooKeeper, then both trees are compared.

No broker runs: what stands there is the tools' alone. Two brokers are registered by hand, as far as the tools look at them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.zookeeper import Create, GetChildren, GetData
from pykafka_classic.edges.child_processes import free_ports
from pykafka_classic.edges.processes import ZooKeeperProcess
from tests.integration.apache import class_path
from tests.integration.cli_recordings import run, tool_named
from tests.integration.java_tools import JavaTools

OURS: Final = "/ours"
APACHES: Final = "/apaches"
BROKER: Final = (
    b'{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://127.0.0.1:1"],"jmx_port":-1,'
    b'"port":1,"host":"127.0.0.1","version":5,"timestamp":"1"}'
)
CLASSES: Final = {
    "kafka-topics": "kafka.admin.TopicCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-reassign-partitions": "kafka.admin.ReassignPartitionsCommand",
    "kafka-preferred-replica-election": "kafka.admin.PreferredReplicaLeaderElectionCommand",
}
CONFIGS: Final = "retention.ms=1000,cleanup.policy=[compact,delete],flush.messages=7,segment.bytes=1048576,max.message.bytes=5,min.insync.replicas=2"

# One after the other; {DIR} holds plan.json.
COMMANDS: Final = (
    "kafka-topics --create --topic t --replica-assignment 0:1,1:0,0:1 --config retention.ms=1000 --config cleanup.policy=compact --config flush.ms=5",
    "kafka-topics --create --topic plain --replica-assignment 1",
    "kafka-topics --create --topic placed --partitions 3 --replication-factor 2 --disable-rack-aware --if-not-exists",
    "kafka-topics --alter --topic t --config segment.bytes=1048576 --delete-config flush.ms",
    "kafka-topics --alter --topic plain --partitions 3",
    "kafka-topics --alter --topic t --partitions 5 --replica-assignment 0:1,1:0,0:1,1:0,0:1",
    f"kafka-configs --alter --entity-type topics --entity-name plain --add-config {CONFIGS}",
    "kafka-configs --alter --entity-type topics --entity-name plain --delete-config flush.messages",
    "kafka-configs --alter --entity-type brokers --entity-name 7 --add-config log.cleaner.threads=2,log.retention.ms=5",
    "kafka-configs --alter --entity-type clients --entity-name a/b~c* --add-config producer_byte_rate=1,consumer_byte_rate=2,request_percentage=3",
    "kafka-configs --alter --entity-type clients --entity-default --add-config producer_byte_rate=1",
    "kafka-configs --alter --entity-type users --entity-name Jörg --entity-type clients --entity-default --add-config consumer_byte_rate=9",
    "kafka-configs --alter --entity-type ips --entity-name 127.0.0.1 --add-config connection_creation_rate=9",
    "kafka-reassign-partitions --execute --reassignment-json-file {DIR}/plan.json --throttle 12345",
    "kafka-preferred-replica-election --path-to-json-file {DIR}/elect.json",
    "kafka-topics --delete --topic plain",
)
BY_LOT: Final = "/brokers/topics/placed"


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A ZooKeeper's address; below both chroots what a cluster's first broker would have made."""
    process = ZooKeeperProcess(tmp_path_factory.mktemp("zookeeper"), {"clientPort": str(free_ports(1)[0]), "tickTime": "1000"})
    process.start()
    process.wait_serving()
    with ZooKeeperSession(process.address) as zk:
        for root in (OURS, APACHES):
            for path in ("/brokers/ids", "/brokers/topics", "/config/changes", "/admin/delete_topics"):
                zk.create_parents(f"{root}{path}/x")
            for broker in (0, 1):
                zk.one(Create(f"{root}/brokers/ids/{broker}", BROKER))
    yield process.address
    process.stop()


def tree(zk: ZooKeeperSession, root: str) -> dict[str, bytes | None]:
    """Data by path below a chroot."""
    found: dict[str, bytes | None] = {}
    level = [root]
    while level:
        answers = zip(level, zk.submit(*map(GetData, level)), zk.submit(*map(GetChildren, level)), strict=True)
        level = []
        for path, data, children in answers:
            found[path.removeprefix(root)] = data.data
            level += [f"{path}/{child}" for child in sorted(children.children)]
    return found


def test_tools_write_what_apaches_write(zookeeper: str, tmp_path: Path) -> None:
    plan = [{"topic": "t", "partition": number, "replicas": replicas} for number, replicas in ((0, [1, 0]), (1, [1]))]
    (tmp_path / "plan.json").write_text(json.dumps({"version": 1, "partitions": plan}))
    (tmp_path / "elect.json").write_text(json.dumps({"partitions": [{"topic": "t", "partition": 2}, {"topic": "t", "partition": 1}]}))
    apaches = JavaTools(class_path("2.8.2"))
    with ZooKeeperSession(zookeeper) as zk:
        for command in COMMANDS:
            name, *words = command.replace("{DIR}", str(tmp_path)).split()
            status, said = apaches.attempt(CLASSES[name], "--zookeeper", zookeeper + APACHES, *words)
            assert status == 0, said
            tool = tool_named(name)
            assert tool is not None
            assert run(tool, ["--zookeeper", zookeeper + OURS, *words])[0] == 0, command
            ours, theirs = tree(zk, OURS), tree(zk, APACHES)
            placed = ours.pop(BY_LOT, None), theirs.pop(BY_LOT, None)  # compared below, as far as lot does not decide
            assert ours == theirs, command
    first, second = (json.loads(each or b"") for each in placed)
    assert {**first, "partitions": None} == {**second, "partitions": None}
    assert [[sorted(ids) for ids in each["partitions"].values()] for each in (first, second)] == [[[0, 1]] * 3] * 2
