"""Apache Kafka 2.8.2's administration tools print on our cluster what they print on Apache's: the same commands against both, line by line.

What differs by nature is made alike first: ports, folders, ids, sizes. Some lines come in the order of a Java hash set or of answers: lines are compared
sorted there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.apache import OURS, MixedCluster, class_path
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import Sent, eventually, send
from tests.integration.java_tools import JavaTools

BROKERS: Final = 3
APACHE: Final = "2.8.2"
OVERRIDES: Final = {"delete.topic.enable": "true", "auto.leader.rebalance.enable": "false", "log.retention.ms": "-1"}


class TwoDirs(MixedCluster):
    """Every broker has two log dirs."""

    def _properties(self, directory: Path, number: int, overrides: Mapping[str, str]) -> dict[str, str]:
        data = directory / f"broker-{number}"
        return {**super()._properties(directory, number, overrides), "log.dirs": f"{data / 'one'},{data / 'two'}"}


class Both:
    """Runs a command against our cluster and Apache's."""

    def __init__(self, ours: LocalCluster, apache: LocalCluster, tools: JavaTools) -> None:
        self.clusters = (ours, apache)
        self._tools = tools

    def run(self, main_class: str, *arguments: str, zookeeper: bool = False) -> tuple[str, str]:
        """What it printed (standard output, then standard error's complaints) on ours, on Apache's; made alike."""
        printed = []
        for cluster in self.clusters:
            where = ("--zookeeper", cluster.zookeeper.address) if zookeeper else ("--bootstrap-server", cluster.bootstrap)
            filled = [argument.replace("@DATA@", str(_folder(cluster))) for argument in arguments]
            status, out = self._tools.attempt(main_class, *where, *filled)
            printed.append(f"{_alike(out, cluster)}\nexit {status}")
        return printed[0], printed[1]

    def same(self, main_class: str, *arguments: str, zookeeper: bool = False, ordered: bool = True) -> str:
        """The same, which must be equal; what ours printed."""
        ours, theirs = self.run(main_class, *arguments, zookeeper=zookeeper)
        if ordered:
            assert ours == theirs
        else:
            assert sorted(ours.splitlines()) == sorted(theirs.splitlines())
        return ours


def _folder(cluster: LocalCluster) -> Path:
    return cluster.brokers[0].directory.parent


def _alike(text: str, cluster: LocalCluster) -> str:
    text = text.replace(str(_folder(cluster)), "@DATA@")
    for number, port in enumerate(cluster.ports):
        text = text.replace(str(port), f"@PORT{number}@")
    text = text.replace(str(cluster.zookeeper.port), "@ZK@")
    text = re.sub(r"TopicId: \S+", "TopicId: @ID@", text)
    # Stack traces tell the inside of the tool, equal by its version; thread names and line numbers of lambdas are not worth comparing.
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith(("\tat ", "log4j:", "SLF4J:")))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    tools = JavaTools(class_path(APACHE))
    ours = TwoDirs(tmp_path_factory.mktemp("ours"), [OURS] * BROKERS, overrides=OVERRIDES)
    apache = TwoDirs(tmp_path_factory.mktemp("apache"), [APACHE] * BROKERS, overrides=OVERRIDES)
    with ours, apache:
        yield Both(ours, apache, tools)
    assert_no_stack_traces(ours)


TOPICS: Final = "kafka.admin.TopicCommand"
CONFIGS: Final = "kafka.admin.ConfigCommand"
LOG_DIRS: Final = "kafka.admin.LogDirsCommand"
REASSIGN: Final = "kafka.admin.ReassignPartitionsCommand"
ELECT: Final = "kafka.admin.LeaderElectionCommand"
PREFERRED: Final = "kafka.admin.PreferredReplicaLeaderElectionCommand"


def make(both: Both, topic: str, assignment: str) -> None:
    both.same(TOPICS, "--create", "--topic", topic, "--replica-assignment", assignment)


def test_topics(both: Both) -> None:
    create = ("--create", "--topic", "planned", "--replica-assignment", "0:1,1:2,2:0", "--config", "retention.ms=7200000", "--config", "cleanup.policy=compact")
    both.same(TOPICS, *create)
    both.same(TOPICS, "--describe", "--topic", "planned")
    both.same(TOPICS, "--create", "--topic", "planned", "--partitions", "1", "--replication-factor", "1")
    both.same(TOPICS, "--create", "--topic", "bad name", "--partitions", "1", "--replication-factor", "1")
    both.same(TOPICS, "--create", "--topic", "too-wide", "--partitions", "1", "--replication-factor", "4")
    both.same(TOPICS, "--create", "--topic", "bad-config", "--partitions", "1", "--replication-factor", "1", "--config", "retention.ms=soon")
    both.same(TOPICS, "--alter", "--topic", "planned", "--partitions", "4", "--replica-assignment", "0:1,1:2,2:0,2:1")
    both.same(TOPICS, "--alter", "--topic", "planned", "--partitions", "2")
    both.same(TOPICS, "--describe", "--topic", "planned")
    both.same(TOPICS, "--describe", "--topic", "planned", zookeeper=True)
    both.same(TOPICS, "--delete", "--topic", "planned")
    both.same(TOPICS, "--delete", "--topic", "never-was")


def test_configs_of_topics(both: Both) -> None:
    make(both, "configured", "0:1:2")
    entity = ("--entity-type", "topics", "--entity-name", "configured")
    both.same(CONFIGS, "--alter", *entity, "--add-config", "retention.ms=5000,cleanup.policy=[compact,delete]")
    both.same(CONFIGS, "--describe", *entity)
    both.same(CONFIGS, "--describe", *entity, "--all", ordered=False)
    both.same(CONFIGS, "--alter", *entity, "--add-config", "retention.ms=soon")
    both.same(CONFIGS, "--alter", *entity, "--add-config", "unknown.key=1")
    both.same(CONFIGS, "--alter", *entity, "--delete-config", "retention.ms")
    both.same(CONFIGS, "--describe", *entity)
    both.same(CONFIGS, "--alter", *entity, "--add-config", "segment.bytes=1048576", zookeeper=True)
    both.same(CONFIGS, "--describe", *entity, zookeeper=True)


def test_configs_of_brokers(both: Both) -> None:
    one, all_of_them = ("--entity-type", "brokers", "--entity-name", "1"), ("--entity-type", "brokers", "--entity-default")
    both.same(CONFIGS, "--alter", *all_of_them, "--add-config", "log.segment.bytes=5000000,log.retention.bytes=1000000000")
    both.same(CONFIGS, "--alter", *one, "--add-config", "log.segment.bytes=6000000,leader.replication.throttled.rate=1000000000,num.io.threads=10")

    def told(entity: tuple[str, ...]) -> bool:
        ours, theirs = both.run(CONFIGS, "--describe", *entity)
        return ours == theirs and "log.segment.bytes" in ours

    eventually(lambda: told(one) and told(all_of_them), "the same is told of broker 1, and of all")
    for refused in ("zookeeper.connect=x:1", "num.io.threads=1000", "num.io.threads=1", "log.segment.bytes=many", "log.segment.bytes=1"):
        both.same(CONFIGS, "--alter", *one, "--add-config", refused)
    both.same(CONFIGS, "--alter", *all_of_them, "--add-config", "advertised.listeners=PLAINTEXT://x:1")
    both.same(CONFIGS, "--alter", *one, "--delete-config", "log.segment.bytes,leader.replication.throttled.rate,num.io.threads")
    both.same(CONFIGS, "--alter", *all_of_them, "--delete-config", "log.segment.bytes,log.retention.bytes")
    eventually(lambda: "segment" not in "".join(both.run(CONFIGS, "--describe", *one)), "they are gone")
    both.same(CONFIGS, "--describe", *all_of_them)


def test_a_topics_default_follows_the_brokers_dynamic_config(both: Both) -> None:
    make(both, "follows", "0")
    all_of_them = ("--entity-type", "brokers", "--entity-default")
    both.same(CONFIGS, "--alter", *all_of_them, "--add-config", "log.roll.ms=12345678")

    def told() -> bool:
        ours, theirs = both.run(CONFIGS, "--describe", "--all", "--entity-type", "topics", "--entity-name", "follows")
        lines = [line for line in ours.splitlines() if "segment.ms=" in line]
        return lines == [line for line in theirs.splitlines() if "segment.ms=" in line] and "segment.ms=12345678 " in lines[0]

    eventually(told, "the topic's segment.ms is the brokers' log.roll.ms")
    both.same(CONFIGS, "--alter", *all_of_them, "--delete-config", "log.roll.ms")


def test_quotas(both: Both) -> None:
    alice, bobs = ("--entity-type", "users", "--entity-name", "alice"), ("--entity-type", "users", "--entity-name", "bob", "--entity-type", "clients")
    both.same(CONFIGS, "--alter", *alice, "--add-config", "producer_byte_rate=1024,request_percentage=200")
    both.same(CONFIGS, "--alter", *bobs, "--entity-default", "--add-config", "consumer_byte_rate=2048")
    both.same(CONFIGS, "--alter", "--entity-type", "clients", "--entity-default", "--add-config", "controller_mutation_rate=10")
    both.same(CONFIGS, "--alter", "--entity-type", "ips", "--entity-name", "127.0.0.1", "--add-config", "connection_creation_rate=100")
    both.same(CONFIGS, "--alter", *alice, "--add-config", "connection_creation_rate=1")
    for entity in (alice, ("--entity-type", "users"), (*bobs,), ("--entity-type", "clients"), ("--entity-type", "ips")):
        both.same(CONFIGS, "--describe", *entity, ordered=False)
    both.same(CONFIGS, "--describe", *alice, zookeeper=True)
    both.same(CONFIGS, "--alter", *alice, "--delete-config", "producer_byte_rate,request_percentage")
    both.same(CONFIGS, "--describe", *alice)


def test_leaders_are_elected(both: Both) -> None:
    make(both, "elected", "0:1,1:2")
    where = ("--topic", "elected", "--partition", "0")
    both.same(ELECT, "--election-type", "preferred", *where)
    both.same(ELECT, "--election-type", "unclean", *where)
    both.same(ELECT, "--election-type", "preferred", "--topic", "elected", "--partition", "7")
    both.same(PREFERRED, "--path-to-json-file", _file(both, {"partitions": [{"topic": "elected", "partition": 0}]}))
    both.same(PREFERRED, "--path-to-json-file", _file(both, {"partitions": [{"topic": "elected", "partition": 1}]}), zookeeper=True)


def _file(both: Both, content: object) -> str:
    path = _folder(both.clusters[0]) / "request.json"
    path.write_text(json.dumps(content))
    return str(path)


def _move(topic: str, partitions: Mapping[int, list[int]], log_dirs: Mapping[int, list[str]] | None = None) -> dict[str, object]:
    dirs = log_dirs or {}
    return {
        "version": 1,
        "partitions": [
            {"topic": topic, "partition": number, "replicas": replicas, "log_dirs": dirs.get(number, ["any"] * len(replicas))}
            for number, replicas in partitions.items()
        ],
    }


def _fill(both: Both, topic: str, count: int, *, partitions: int) -> None:
    """So many records of 5 kB in each partition: the client left alone would put them where it likes."""
    for cluster in both.clusters:
        for partition in range(partitions):
            send(cluster.bootstrap, topic, [Sent(None, bytes(5000))] * count, partition=partition, acks="all")


def test_replicas_are_moved_between_brokers_throttled_and_the_move_cancelled(both: Both) -> None:
    make(both, "moved", "0:1,1:2")
    _fill(both, "moved", 2000, partitions=2)  # a fetch is let through whole before the throttle holds: it must not be all
    file = _file(both, _move("moved", {0: [0, 2], 1: [1, 0]}))
    both.same(REASSIGN, "--execute", "--reassignment-json-file", file, "--throttle", "50000")
    both.same(REASSIGN, "--list")
    both.same(REASSIGN, "--verify", "--reassignment-json-file", file)
    both.same(CONFIGS, "--describe", "--entity-type", "topics", "--entity-name", "moved", ordered=False)
    both.same(REASSIGN, "--execute", "--reassignment-json-file", file)
    both.same(REASSIGN, "--cancel", "--reassignment-json-file", file)
    both.same(REASSIGN, "--list")
    both.same(REASSIGN, "--execute", "--reassignment-json-file", file)
    eventually(lambda: all("no partition reassign" in text.lower() for text in both.run(REASSIGN, "--list")), "the moves are done", seconds=60)
    both.same(REASSIGN, "--verify", "--reassignment-json-file", file)
    both.same(TOPICS, "--describe", "--topic", "moved")


def test_replicas_are_moved_through_zookeeper(both: Both) -> None:
    make(both, "moved-zk", "0:1")
    file = _file(both, _move("moved-zk", {0: [2, 1]}))
    both.same(REASSIGN, "--execute", "--reassignment-json-file", file, zookeeper=True)
    done = "is complete"
    eventually(lambda: all(done in text for text in both.run(REASSIGN, "--verify", "--reassignment-json-file", file, zookeeper=True)), "moved", seconds=60)
    both.same(TOPICS, "--describe", "--topic", "moved-zk", zookeeper=True)


def _where(text: str) -> dict[str, tuple[str, bool]]:
    """`partition-broker` -> its log dir and whether it is on its way there, from what kafka-log-dirs printed."""
    told = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
    return {
        f"{each['partition']}-{broker['broker']}": (log_dir["logDir"], each["isFuture"])
        for broker in told["brokers"]
        for log_dir in broker["logDirs"]
        for each in log_dir["partitions"]
    }


def test_replicas_are_moved_between_log_dirs(both: Both) -> None:
    make(both, "shelved", "0:1")
    _fill(both, "shelved", 400, partitions=1)
    here = _where(both.run(LOG_DIRS, "--describe", "--topic-list", "shelved")[0])
    assert {replica: moving for replica, (_, moving) in here.items()} == {"shelved-0-0": False, "shelved-0-1": False}
    for target in ("one", "two"):
        dirs = [f"@DATA@/broker-{number}/{target}" for number in (0, 1)]
        for cluster in both.clusters:
            filled = [name.replace("@DATA@", str(_folder(cluster))) for name in dirs]
            (_folder(cluster) / "move.json").write_text(json.dumps(_move("shelved", {0: [0, 1]}, {0: filled})))
        file = ("--reassignment-json-file", "@DATA@/move.json")
        ours, theirs = both.run(REASSIGN, "--execute", *file)
        assert [line for line in ours.splitlines() if "log_dirs" not in line] == [line for line in theirs.splitlines() if "log_dirs" not in line]
        wanted = {f"shelved-0-{number}": (dirs[number], False) for number in (0, 1)}
        eventually(lambda wanted=wanted: _arrived(both, wanted), f"both replicas lie in {target}", seconds=60)  # type: ignore[misc]
        both.same(REASSIGN, "--verify", *file, ordered=False)
    for number in (0, 1):  # what was moved is all there
        sizes = [sum(file.stat().st_size for file in (both.clusters[0].brokers[number].directory / "two" / "shelved-0").glob("*.log"))]
        assert sizes[0] >= 400 * 5000


def _arrived(both: Both, wanted: Mapping[str, tuple[str, bool]]) -> bool:
    return all(_where(text) == wanted for text in both.run(LOG_DIRS, "--describe", "--topic-list", "shelved"))
