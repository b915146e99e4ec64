"""What stands in ZooKeeper below a broker of ours, node by node, beside what stood below Apache Kafka 2.8.2 in the same short life.

Each life is a step of the recording tests/golden/data/znodes/versions: brokers of some inter.broker.protocol.version start in a chroot of their own; a topic
is made. Equal are paths, data, versions, which nodes are ephemeral, and the order of creation. Volatile: times, ports, cluster and topic ids.
The controller's writes in longer lives: tests/golden/test_controller_znodes.py.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from confluent_kafka.admin import AdminClient
from kazoo.client import KazooClient

from pykafka_classic.edges.child_processes import free_ports
from pykafka_classic.edges.processes import BrokerProcess, ZooKeeperProcess
from pykafka_classic.testing.cluster import SMALL_CLUSTER
from tests.golden.znode_dumps import dumps, watch
from tests.integration.foreign import DEADLINE_S, create_topic, eventually

VOLATILE: Final = {"timestamp": "some time", "topic_id": "some id", "id": "some id"}


class Life(NamedTuple):
    """One cluster's settings; `path` is its chroot in the recording."""

    path: str
    settings: Mapping[str, str]
    topic_config: Mapping[str, str] | None
    brokers: int = 1


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
    Life("/ibp-2.6", at("2.6"), RETENTION, brokers=2),
)


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperProcess]:
    server = ZooKeeperProcess(tmp_path_factory.mktemp("zookeeper"), {"tickTime": "1000"})
    server.start()
    server.wait_serving()
    yield server
    server.kill()


Node = tuple[Any, int, bool]  # data, version, ephemeral


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.path.strip("/"))
def test_the_tree_of_a_short_life_is_kafkas(life: Life, zookeeper: ZooKeeperProcess, tmp_path: Path) -> None:
    expected = recorded_tree(life.path)
    brokers: list[BrokerProcess] = []
    client = KazooClient(zookeeper.address)
    client.start(timeout=DEADLINE_S)
    try:
        live(life, zookeeper, tmp_path, brokers)
        eventually(lambda: tree(client, life.path).keys() == expected.keys(), f"the same paths below {life.path}")
        ours = tree(client, life.path)
        assert {path: node for path, (_, node) in ours.items()} == expected
        order = [path for path, _ in sorted(ours.items(), key=lambda item: item[1][0])]
        assert same_order(order) == same_order(recorded_order(life.path, expected.keys()))
        if life.brokers == 2:
            the_follower_hangs_and_returns(client, life.path, brokers[0])
    finally:
        client.stop()
        client.close()
        for broker in brokers:
            broker.kill()


def the_follower_hangs_and_returns(client: KazooClient, chroot: str, follower: BrokerProcess) -> None:
    """Step 08: the follower, which is the controller, loses its session; when it is back, the leader writes the ISR itself and leaves a notification (IBP 2.6).

    The notification is gone with the next look of the controller: its parent has had one child created and one deleted.
    """
    state = f"{chroot}/brokers/topics/t/partitions/0/state"
    follower.pause()
    eventually(lambda: json.loads(client.get(state)[0])["isr"] == [0], "the follower is out of the ISR")
    follower.resume()
    eventually(lambda: client.get(f"{chroot}/isr_change_notification")[1].cversion == 2, "a notification came and went")
    assert {path: node for path, (_, node) in tree(client, chroot).items()} == recorded_tree(chroot, step=1)


def live(life: Life, zookeeper: ZooKeeperProcess, directory: Path, brokers: list[BrokerProcess]) -> None:
    """One broker starts after the other (each is added to `brokers`), and the topic is made."""
    ports = []
    for number in reversed(range(life.brokers)):  # the last one is the controller, as in the recording
        port, second = free_ports(2)
        ports.append(port)
        settings = {"broker.id": str(number), "listeners": f"PLAINTEXT://127.0.0.1:{port}", **SMALL_CLUSTER, **life.settings}
        if settings["listeners"] == "two":
            listeners = f"IN://127.0.0.1:{second},PLAINTEXT://127.0.0.1:{port}"
            settings |= {"listeners": listeners, "listener.security.protocol.map": "IN:PLAINTEXT,PLAINTEXT:PLAINTEXT", "inter.broker.listener.name": "IN"}
        settings |= {"zookeeper.connect": f"{zookeeper.address}{life.path}", "log.dirs": str(directory / f"data-{number}")}
        brokers.append(BrokerProcess(directory / f"broker-{number}", settings))
        brokers[-1].start()
        brokers[-1].wait_started()
    if life.topic_config is not None:
        bootstrap = ",".join(f"127.0.0.1:{port}" for port in ports)
        eventually(lambda: knows_all(bootstrap, life.brokers), "all brokers and a controller are known")
        create_topic(bootstrap, "t", assignment=[list(range(life.brokers))], config=life.topic_config)


def knows_all(bootstrap: str, brokers: int) -> bool:
    """What a new client is told: a broker that has just started knows nobody until the controller has spoken."""
    told = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=DEADLINE_S)
    return len(told.brokers) == brokers and told.controller_id >= 0


def recorded_tree(chroot: str, step: int = 0) -> dict[str, Node]:
    """A dump of a running broker, by default the first."""
    alive = [dump for dump in dumps("versions") if any(node["path"] == f"{chroot}/controller" for node in dump["nodes"])]
    below = [node for node in alive[step]["nodes"] if node["path"].startswith(f"{chroot}/")]
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


def recorded_order(chroot: str, paths: Collection[str]) -> list[str]:
    """The paths in the order in which Kafka created them."""
    created = [event["path"] for event in watch("versions") if event.get("event") == "create" and event["path"].startswith(f"{chroot}/")]
    return [path for path in dict.fromkeys(created) if path in paths]


def same_order(paths: list[str]) -> list[str]:
    """Of several brokers, which start beside each other, only the first counts."""
    return list(dict.fromkeys("/brokers/ids/N" if "/brokers/ids/" in path else path for path in paths))
