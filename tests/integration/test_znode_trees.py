"""What stands in ZooKeeper below a broker of ours, node by node, beside what stood below Apache Kafka 2.8.2 in the same short life.

Each life is one of the recordings tests/golden/data/znodes/versions and chroot-2.2: brokers of some inter.broker.protocol.version start in a chroot of their
own; a topic is made; of some, a broker hangs or a log dir is lost. Equal are paths, data, versions, which nodes are ephemeral, and the order of creation.
Volatile: times, ports, cluster and topic ids. A long life: test_znode_life.py; its controller's writes alone: tests/golden/test_controller_znodes.py.

Differs from Kafka: the recorded life `tokens` is not lived here, for a delegation token belongs to a user who has authenticated himself, and brokers here have
no SASL; how its nodes are written and read is tested with the others' (tests/golden/test_znodes.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kazoo.client import KazooClient

from pykafka_classic.edges.child_processes import free_ports
from pykafka_classic.edges.processes import BrokerProcess, ZooKeeperProcess
from pykafka_classic.testing.cluster import SMALL_CLUSTER
from tests.golden.znode_dumps import dumps, watch
from tests.integration.foreign import DEADLINE_S, eventually

VOLATILE: Final = {"timestamp": "some time", "topic_id": "some id", "id": "some id"}


Node = tuple[Any, int, bool]  # data, version, ephemeral


class Life(NamedTuple):
    """One cluster's settings; `path` is its chroot in the recording."""

    path: str
    settings: Mapping[str, str]
    topic_config: Mapping[str, str] | None
    brokers: int = 1
    assignment: Sequence[Sequence[int]] = ((0,),)
    log_dirs: int = 1
    folder: str = "versions"  # of the recording
    step: int = 0  # the dump of this cluster that shows it with its topic


class Lived(NamedTuple):
    """A cluster that runs."""

    life: Life
    client: KazooClient
    brokers: Mapping[int, BrokerProcess]
    directory: Path
    bootstrap: str

    @property
    def tree(self) -> dict[str, Node]:
        """All nodes."""
        return {path: node for path, (_, node) in tree(self.client, self.life.path).items()}

    def come_and_gone(self, folder: str) -> int:
        """How often a notification was created or removed."""
        return int(self.client.get(f"{self.life.path}/{folder}")[1].cversion)

    def becomes(self, step: int) -> None:
        """Wait for a recorded tree; if it does not come, show the difference."""
        expected = recorded_tree(self.life, self.life.step + step)
        with suppress(AssertionError):
            eventually(lambda: self.tree == expected, "the recorded tree")
        assert self.tree == expected


RETENTION: Final = {"retention.ms": "1000000"}


def at(protocol: str, **more: str) -> dict[str, str]:
    """Settings of a protocol version; in our names of keyword arguments a dot is an underscore."""
    return {"inter.broker.protocol.version": protocol, **{name.replace("_", "."): value for name, value in more.items()}}


LIVES: Final = (
    Life("/kafka/one", {"broker.id": "-1"}, None),
    Life("/ibp-0.9.0", at("0.9.0", log_message_format_version="0.9.0"), RETENTION),
    Life("/ibp-0.10.0", at("0.10.0", log_message_format_version="0.10.0", broker_rack="r1"), RETENTION),
    Life("/ibp-2.3", at("2.3"), RETENTION),
    Life("/listeners", {"broker.rack": "rack 1", "listeners": "two"}, RETENTION),
    Life("/ibp-2.6", at("2.6"), RETENTION, brokers=2, assignment=((0, 1),)),
    Life("/clusters/one", at("2.2"), {}, brokers=3, assignment=((0, 1, 2), (1, 2, 0)), folder="chroot-2.2", step=1),
    Life("/logdir", {}, RETENTION, log_dirs=2),
)


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperProcess]:
    server = ZooKeeperProcess(tmp_path_factory.mktemp("zookeeper"), {"tickTime": "1000"})
    server.start()
    server.wait_serving()
    yield server
    server.kill()


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.path.strip("/"))
def test_the_tree_of_a_short_life_is_kafkas(life: Life, zookeeper: ZooKeeperProcess, tmp_path: Path) -> None:
    brokers: dict[int, BrokerProcess] = {}
    client = KazooClient(zookeeper.address)
    client.start(timeout=DEADLINE_S)
    try:
        lived = Lived(life, client, brokers, tmp_path, live(life, zookeeper, tmp_path, brokers))
        lived.becomes(0)
        order = [path for path, _ in sorted(tree(client, life.path).items(), key=lambda item: item[1][0])]
        assert same_order(order) == same_order(recorded_order(life))
        if life.path in WHAT_FOLLOWS:
            WHAT_FOLLOWS[life.path](lived)
    finally:
        client.stop()
        client.close()
        for broker in brokers.values():
            broker.kill()


def the_controller_hangs_and_returns(lived: Lived) -> None:
    """Step 08: the follower, which is the controller, loses its session; when it is back, the leader writes the ISR itself and leaves a notification (IBP 2.6).

    The notification is gone with the next look of the controller: its parent has had one child created and one deleted.
    """
    state = f"{lived.life.path}/brokers/topics/t/partitions/0/state"
    lived.brokers[1].pause()
    eventually(lambda: json.loads(lived.client.get(state)[0])["isr"] == [0], "the follower is out of the ISR")
    lived.brokers[1].resume()
    eventually(lambda: lived.come_and_gone("isr_change_notification") == 2, "a notification came and went")
    lived.becomes(1)


def a_follower_hangs_and_returns(lived: Lived) -> None:
    """Steps 03 and 04: it loses its session; the controller moves leaders and shrinks ISRs. Back again, the leaders write the ISRs and leave notifications."""
    lived.brokers[1].pause()
    lived.becomes(1)
    lived.brokers[1].resume()
    eventually(lambda: lived.come_and_gone("isr_change_notification") >= 2, "a notification came and went")
    lived.becomes(2)


def a_log_dir_is_lost(lived: Lived) -> None:
    """Step 10: the log dir of u-0 is renamed under the running broker, which leaves a notification; the controller takes u-0's leader away."""
    make_topic(lived.bootstrap, "u", ((0,), (0,)), {})
    eventually(lambda: len(list(lived.directory.glob("data-0-*/u-*"))) == 2, "both partitions are there")
    [lost] = [path.parent for path in lived.directory.glob("data-0-*/u-0")]
    lost.rename(lived.directory / "gone")
    eventually(lambda: lived.come_and_gone("log_dir_event_notification") == 2, "a notification came and went")
    lived.becomes(1)


WHAT_FOLLOWS: Final[Mapping[str, Callable[[Lived], None]]] = {
    "/ibp-2.6": the_controller_hangs_and_returns,
    "/clusters/one": a_follower_hangs_and_returns,
    "/logdir": a_log_dir_is_lost,
}


def live(life: Life, zookeeper: ZooKeeperProcess, directory: Path, brokers: dict[int, BrokerProcess]) -> str:
    """One broker starts after the other (each is added to `brokers`), and the topic is made; where clients find them."""
    ports = []
    for number in reversed(range(life.brokers)):  # the last one is the controller, as in the recording
        port, second = free_ports(2)
        ports.append(port)
        settings = {"broker.id": str(number), "listeners": f"PLAINTEXT://127.0.0.1:{port}", **SMALL_CLUSTER, **life.settings}
        if settings["listeners"] == "two":
            listeners = f"IN://127.0.0.1:{second},PLAINTEXT://127.0.0.1:{port}"
            settings |= {"listeners": listeners, "listener.security.protocol.map": "IN:PLAINTEXT,PLAINTEXT:PLAINTEXT", "inter.broker.listener.name": "IN"}
        log_dirs = ",".join(str(directory / f"data-{number}-{each}") for each in range(life.log_dirs))
        settings |= {"zookeeper.connect": f"{zookeeper.address}{life.path}", "log.dirs": log_dirs}
        brokers[number] = BrokerProcess(directory / f"broker-{number}", settings)
        brokers[number].start()
        brokers[number].wait_started()
    bootstrap = ",".join(f"127.0.0.1:{port}" for port in ports)
    if life.topic_config is not None:
        eventually(lambda: knows_all(bootstrap, life.brokers), "all brokers and a controller are known")
        make_topic(bootstrap, "t", life.assignment, life.topic_config)
    return bootstrap


def make_topic(bootstrap: str, name: str, assignment: Sequence[Sequence[int]], config: Mapping[str, str]) -> None:
    """No more than that: a consumer's look at it would bring other topics into being."""
    wanted = NewTopic(name, len(assignment), replica_assignment=[list(each) for each in assignment], config=dict(config))
    admin = AdminClient({"bootstrap.servers": bootstrap})
    [answer] = admin.create_topics([wanted], operation_timeout=DEADLINE_S).values()
    answer.result(DEADLINE_S)


def knows_all(bootstrap: str, brokers: int) -> bool:
    """What a new client is told: a broker that has just started knows nobody until the controller has spoken."""
    told = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=DEADLINE_S)
    return len(told.brokers) == brokers and told.controller_id >= 0


def recorded_tree(life: Life, step: int) -> dict[str, Node]:
    """A dump of a running broker, counted from the first."""
    alive = [dump for dump in dumps(life.folder) if any(node["path"] == f"{life.path}/controller" for node in dump["nodes"])]
    below = [node for node in alive[step]["nodes"] if node["path"].startswith(f"{life.path}/")]
    return {node["path"]: (normal(node["path"], node["data"]), node["version"], node["ephemeral"]) for node in below}


def tree(client: KazooClient, root: str) -> dict[str, tuple[int, Node]]:
    """All nodes below `root`, with the transaction that created each."""
    found = {}
    for child in client.get_children(root):
        path = f"{root}/{child}"
        data, stat = client.get(path)
        text = None if data is None else data.decode()
        found[path] = (stat.czxid, (normal(path, text), stat.version, stat.ephemeralOwner != 0))
        found |= tree(client, path)
    return found


def normal(path: str, data: str | None) -> Any:
    """Comparable: parsed, and without what is volatile."""
    if data is None or not data.startswith("{"):
        return data
    parsed = json.loads(data)
    for key in VOLATILE.keys() & parsed.keys():
        parsed[key] = VOLATILE[key]
    if "/brokers/ids/" in path:
        parsed["port"] = parsed["port"] > 0
        parsed["endpoints"] = [endpoint.rpartition(":")[0] for endpoint in parsed["endpoints"]]
    if path.endswith(("/controller", "/latest_producer_id_block")):
        parsed = {key: value for key, value in parsed.items() if key not in ("broker", "brokerid")}  # who was faster
    return parsed


def recorded_order(life: Life) -> list[str]:
    """The paths in the order in which Kafka created them."""
    paths = recorded_tree(life, life.step)
    created = [event["path"] for event in watch(life.folder) if event.get("event") == "create" and event["path"].startswith(f"{life.path}/")]
    return [path for path in dict.fromkeys(created) if path in paths]


def same_order(paths: list[str]) -> list[str]:
    """Of several brokers, which start beside each other, only the first counts."""
    return list(dict.fromkeys("/brokers/ids/N" if "/brokers/ids/" in path else path for path in paths))
