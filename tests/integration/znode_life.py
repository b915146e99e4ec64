"""Our cluster, led through the steps of a recorded life: see test_znode_life.py, which compares."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.protocol.messages import (
    alter_client_quotas,
    alter_partition_reassignments,
    alter_user_scram_credentials,
    create_partitions,
    create_topics,
    delete_topics,
    elect_leaders,
    find_coordinator,
    incremental_alter_configs,
    metadata,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.foreign import Sent, send
from tests.integration.recorded_life import ENTRIES, STEPS, Entry, Tree, assignment_of, known, normal, recorded_tree
from zk_schema import config_changes, topics

OPTIONS: Final = {
    "replica.lag.time.max.ms": "30000",  # replicas leave the ISR with their sessions, as they did: not because a test is slow
    "default.replication.factor": "2",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "auto.leader.rebalance.enable": "false",
    "log.retention.check.interval.ms": "600000",
    "replica.fetch.max.bytes": "65536",  # throttles let a whole fetch through: small ones, so that a move of a megabyte lasts
    "replica.fetch.response.max.bytes": "65536",
}
INTERNAL: Final = "__transaction_state"
SESSION_MS: Final = ("4000", "4000", "20000")  # brokers 0 and 1 will die; broker 2 is held back meanwhile, lest it becomes the controller
WITHIN_S: Final = 20.0
AFTER_A_DIFFERENCE_S: Final = 2.0  # later steps will differ too: the first one is what counts


class ThreeBrokers(LocalCluster):
    """Each with a session time-out of its own."""

    def _properties(self, directory: Path, number: int, overrides: Mapping[str, str]) -> dict[str, str]:
        return {**super()._properties(directory, number, overrides), "zookeeper.session.timeout.ms": SESSION_MS[number]}


class Life:
    """Our cluster, led through the recorded steps."""

    def __init__(self, cluster: LocalCluster, client: KazooClient) -> None:
        self.cluster = cluster
        self.client = client
        self.trees: dict[str, Tree] = {}
        self.marks: dict[str, int] = {}  # step: the last zxid of it
        self.differs = False

    def run(self) -> None:
        """All steps."""
        for step in ENTRIES:
            self._perform(step)
            if step in STEPS:
                self._look(step)

    def _look(self, step: str) -> None:
        expected = recorded_tree(step)

        def equal() -> bool:
            with suppress(NoNodeError):  # gone while the tree was read: it is read again
                self.trees[step] = known(step, self.tree())
            return self.trees.get(step) == expected

        try:
            wait_until(equal, seconds=AFTER_A_DIFFERENCE_S if self.differs else WITHIN_S)
        except TimeoutError:
            self.differs = True
        self.client.sync("/")
        self.marks[step] = self.client.last_zxid

    def tree(self) -> Tree:
        """All nodes but ZooKeeper's own."""
        found: Tree = {}
        waiting = ["/"]
        while waiting:
            parent = waiting.pop()
            for child in self.client.get_children(parent):
                path = f"{parent.rstrip('/')}/{child}"
                if path != "/zookeeper":
                    data, stat = self.client.get(path)
                    found[path] = normal(path, None if data is None else data.decode(), stat.version, stat.ephemeralOwner != 0)
                    waiting.append(path)
        return found

    # Doing what was done

    def ask(self, request: Message, broker: int | None = None) -> Message:
        """Of the controller, or of a broker; nothing in the answer may be an error."""
        if broker is None:
            broker = json.loads(self.client.get("/controller")[0])["brokerid"]
        with BlockingClient("127.0.0.1", self.cluster.ports[broker], timeout_ms=60_000) as client:
            answer = client.send(request)
        assert not re.search(r"error_code=(?!0\b)", repr(answer)), f"{request} was answered {answer}"
        return answer

    def tools_write(self, step: str) -> None:
        """What was written by others than brokers, as they wrote it."""
        for entry in ENTRIES[step]:
            if "by" not in entry:
                self.write(entry)

    def write(self, entry: Entry) -> None:
        path, data = entry["path"], None if entry.get("data") is None else entry["data"].encode()
        match entry["event"]:
            case "delete":
                self.client.delete(path)
            case "change":
                self.client.set(path, self._with_own_id(path, data))
            case _ if path.startswith(config_changes.CREATE_PATH):
                self.client.create(config_changes.CREATE_PATH, data, sequence=True)
            case _:
                self.client.create(path, data)

    def _with_own_id(self, path: str, data: bytes | None) -> bytes | None:
        """The tool that writes a topic's node anew keeps the topic's id, which here is another."""
        if topics.topic_of(path) is None or data is None:
            return data
        return topics.encode(replace(topics.decode(data), topic_id=topics.decode(self.client.get(path)[0]).topic_id))

    def create(self, topic: str, step: str, **config: str) -> None:
        chosen = [create_topics.CreatableReplicaAssignment(partition, replicas) for partition, replicas in sorted(assignment_of(topic, step).items())]
        settings = [create_topics.CreateableTopicConfig(name=name.replace("_", "."), value=value) for name, value in config.items()]
        wanted = create_topics.CreatableTopic(name=topic, num_partitions=-1, replication_factor=-1, assignments=chosen, configs=settings)
        self.ask(create_topics.CreateTopicsRequest(topics=[wanted], timeout_ms=30_000))

    def configure(self, kind: int, name: str, broker: int | None = None, /, **changes: str | None) -> None:
        """None deletes a key."""
        edits = [
            incremental_alter_configs.AlterableConfig(name=key.replace("_", "."), config_operation=1 if value is None else 0, value=value)
            for key, value in changes.items()
        ]
        resource = incremental_alter_configs.AlterConfigsResource(resource_type=kind, resource_name=name, configs=edits)
        self.ask(incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[resource]), broker)

    def quota(self, entity: Mapping[str, str | None], **changes: float | None) -> None:
        parts = [alter_client_quotas.AlterClientQuotasRequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
        ops = [alter_client_quotas.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in changes.items()]
        entry = alter_client_quotas.AlterClientQuotasRequestEntryData(entity=parts, ops=ops)
        self.ask(alter_client_quotas.AlterClientQuotasRequest(entries=[entry]))

    def move(self, topic: str, wanted: Mapping[int, list[int] | None]) -> None:
        partitions = [alter_partition_reassignments.ReassignablePartition(partition_index=index, replicas=replicas) for index, replicas in wanted.items()]
        request = alter_partition_reassignments.ReassignableTopic(name=topic, partitions=partitions)
        self.ask(alter_partition_reassignments.AlterPartitionReassignmentsRequest(topics=[request], timeout_ms=30_000))

    def throttle(self, rate: str | None, brokers: Sequence[int], leaders: str | None, followers: str | None) -> None:
        """As kafka-reassign-partitions sets (topic first) and removes (brokers first) it."""

        def of_topic() -> None:
            self.configure(TOPIC, "moving", leader_replication_throttled_replicas=leaders, follower_replication_throttled_replicas=followers)

        if rate is not None:
            of_topic()
        for broker in brokers:
            self.configure(BROKER, str(broker), broker, leader_replication_throttled_rate=rate, follower_replication_throttled_rate=rate)
        if rate is None:
            of_topic()

    def _perform(self, step: str) -> None:
        done = PERFORMED.get(step.partition("-")[0])
        if done is None:
            self.tools_write(step)
        else:
            done(self)

    def until(self, condition: Callable[[], bool]) -> None:
        wait_until(condition, seconds=WITHIN_S)

    def moved(self) -> bool:
        znode = topics.decode(self.client.get(topics.path("moving"))[0])
        return not any(each.adding_replicas or each.removing_replicas for each in znode.assignment.values())

    def kill(self, broker: int) -> None:
        self.cluster.brokers[broker].kill()

    def session_ends(self, broker: int) -> None:
        self.until(lambda: not self.client.exists(f"/brokers/ids/{broker}"))


TOPIC: Final = 2
BROKER: Final = 4


def start(life: Life) -> None:
    """One after the other: broker 0 is the controller, as it was."""
    for broker in life.cluster.brokers:
        broker.start()
        broker.wait_started()
    life.cluster.wait_ready()


def topic_configs(life: Life) -> None:
    life.create("with-configs", "04-topic-configs", retention_ms="3600000", cleanup_policy="compact,delete")
    life.tools_write("04-topic-configs")


def topic_assignment(life: Life) -> None:
    life.create("assigned", "05-topic-assignment")
    life.tools_write("05-topic-assignment")


def more_partitions(life: Life) -> None:
    """Where the new one goes, the broker decides: as Kafka's did."""
    life.ask(
        create_partitions.CreatePartitionsRequest(
            topics=[create_partitions.CreatePartitionsTopic(name="by-broker", count=4, assignments=None)], timeout_ms=30_000
        )
    )


def quotas_of_users_clients(life: Life) -> None:
    life.quota({"user": "CN=bob,O=x y", "client-id": "c1"}, producer_byte_rate=5)
    life.quota({"user": "alice", "client-id": None}, producer_byte_rate=6)


def quotas_of_addresses(life: Life) -> None:
    life.quota({"ip": "10.1.2.3"}, connection_creation_rate=9)
    life.quota({"ip": None}, connection_creation_rate=99)


def scram(life: Life) -> None:
    wanted = alter_user_scram_credentials.ScramCredentialUpsertion(name="alice", mechanism=1, iterations=8192, salt=b"salt", salted_password=b"x" * 32)
    life.ask(alter_user_scram_credentials.AlterUserScramCredentialsRequest(upsertions=[wanted]))


def offsets_topic(life: Life) -> None:
    """Somebody asks for the coordinator of a group: until the topic is there he is told to ask again."""
    with BlockingClient("127.0.0.1", life.cluster.ports[2]) as client:
        client.send(find_coordinator.FindCoordinatorRequest(key="g1"))


def transaction_topic(life: Life) -> None:
    for entry in ENTRIES["31-transaction"]:
        if entry["path"].endswith(f"/topics/{INTERNAL}"):
            life.write(entry)


def auto_created(life: Life) -> None:
    with BlockingClient("127.0.0.1", life.cluster.ports[2]) as client:
        client.send(metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name="auto-created")], allow_auto_topic_creation=True))


def before_reassignment(life: Life) -> None:
    life.create("moving", "33-before-reassignment", segment_bytes="4194304")
    for partition in (0, 1):
        send(life.cluster.bootstrap, "moving", [Sent(None, bytes(1000))] * 2500, partition=partition, acks="all")


def move_by_broker(life: Life) -> None:
    life.throttle("600000", [0, 2, 1], "0:0,0:1,1:1,1:2", "0:2,1:0")
    life.move("moving", {0: [2, 0], 1: [0, 2]})


def verify_by_broker(life: Life) -> None:
    # As recorded: broker 1's notification came before broker 2's config.
    life.throttle(None, [0, 1, 2], None, None)


def verify_by_zookeeper(life: Life) -> None:
    life.until(lambda: not life.client.exists("/admin/reassign_partitions"))
    life.tools_write("38-reassigned-zookeeper-verified")


def move_to_cancel(life: Life) -> None:
    life.throttle("300000", [0, 2, 1], "0:0,0:1", "0:2")
    life.move("moving", {0: [2, 0]})


def cancel(life: Life) -> None:
    life.move("moving", {0: None})
    life.throttle(None, [1, 0, 2], None, None)


def before_kill(life: Life) -> None:
    for topic in ("failing", "alone", "doomed"):
        life.create(topic, "41-before-kill")


def delete(topic: str) -> Callable[[Life], None]:
    def ask(life: Life) -> None:
        request = delete_topics.DeleteTopicsRequest(topics=[delete_topics.DeleteTopicState(name=topic)], topic_names=[topic], timeout_ms=30_000)
        life.ask(request)

    return ask


def controller_moves(life: Life) -> None:
    """To broker 1, as it did."""
    life.cluster.brokers[2].pause()
    life.session_ends(0)
    life.until(lambda: bool(life.client.exists("/controller")))
    life.cluster.brokers[2].resume()


def follower_hangs(life: Life) -> None:
    life.cluster.brokers[0].pause()
    life.session_ends(0)


def follower_returns(life: Life) -> None:
    life.cluster.brokers[0].resume()
    life.until(lambda: bool(life.client.exists("/brokers/ids/0")))
    waiting = [topics.path(topic) for topic in life.client.get_children(topics.PATH)]

    def whole() -> bool:
        for path in waiting:
            for partition, each in topics.decode(life.client.get(path)[0]).assignment.items():
                if len(json.loads(life.client.get(f"{path}/partitions/{partition}/state")[0])["isr"]) < len(each.replicas):
                    return False
        return True

    life.until(whole)


def stop(*brokers: int) -> Callable[[Life], None]:
    def each(life: Life) -> None:
        for broker in brokers:
            life.cluster.brokers[broker].stop()

    return each


def elect_all(life: Life) -> None:
    life.ask(elect_leaders.ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=30_000))


# By the number of the step; in the others only tools did something, or nothing but waiting.
PERFORMED: Final[Mapping[str, Callable[[Life], None]]] = {
    "01": start,
    "03": lambda life: life.create("by-broker", "03-topic-bootstrap"),
    "04": topic_configs,
    "05": topic_assignment,
    "07": more_partitions,
    "08": lambda life: life.configure(TOPIC, "by-broker", retention_ms="7200000", max_message_bytes="65536"),
    "11": lambda life: life.configure(TOPIC, "by-broker", max_message_bytes=None),
    "12": lambda life: life.configure(BROKER, "1", 1, log_cleaner_threads="2"),
    "13": lambda life: life.configure(BROKER, "", log_retention_ms="86400000"),
    "14": lambda life: life.quota({"client-id": "client a*b+c/d"}, producer_byte_rate=1_000_000, consumer_byte_rate=2_000_000),
    "15": lambda life: life.quota({"client-id": None}, request_percentage=200),
    "16": lambda life: life.quota({"user": "alice"}, producer_byte_rate=1_048_576, controller_mutation_rate=10),
    "17": lambda life: life.quota({"user": None}, consumer_byte_rate=1_000_000),
    "18": quotas_of_users_clients,
    "20": quotas_of_addresses,
    "22": scram,
    "24": lambda life: life.quota({"client-id": "client a*b+c/d"}, producer_byte_rate=None, consumer_byte_rate=None),
    "29": offsets_topic,
    "31": transaction_topic,
    "32": auto_created,
    "33": before_reassignment,
    "34": move_by_broker,
    "35": lambda life: life.until(life.moved),
    "36": verify_by_broker,
    "38": verify_by_zookeeper,
    "39": move_to_cancel,
    "40": cancel,
    "41": before_kill,
    "42": lambda life: life.kill(1),
    "43": lambda life: life.session_ends(1),
    "44": delete("doomed"),
    "45": lambda life: life.cluster.restart(1),
    "48": delete("with-configs"),
    "49": lambda life: life.kill(0),
    "50": controller_moves,
    "51": lambda life: life.cluster.restart(0),
    "52": elect_all,
    "53": follower_hangs,
    "54": follower_returns,
    "55": stop(0),
    "56": stop(1, 2),
}
