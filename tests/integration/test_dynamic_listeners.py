"""Listeners and limits that change while brokers run (KIP-226), as an operator changes them with kafka-configs: clients find the new, the old is closed.

No restart, and the broker keeps its epoch: it is not taken for one that came back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import pytest
from kazoo.client import KazooClient

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.edges.blocking_client import BlockingClient, NoBroker
from pykafka_classic.edges.child_processes import free_ports
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest
from pykafka_classic.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataResponse
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import DEADLINE_S, Sent, create_topic, eventually, read_all, send

BROKER: Final = 4
SET, DELETE = 0, 1
MAP: Final = "PLAINTEXT:PLAINTEXT,OUTSIDE:PLAINTEXT"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path_factory.mktemp("listeners"), brokers=2) as running:
        yield running
    assert_no_stack_traces(running)


def change(cluster: LocalCluster, broker: int, **wanted: str | None) -> tuple[int, str | None]:
    """Ask a broker to change its own keys (None: delete); error and message."""
    edits = [AlterableConfig(name=key.replace("_", "."), config_operation=DELETE if value is None else SET, value=value) for key, value in wanted.items()]
    resource = AlterConfigsResource(resource_type=BROKER, resource_name=str(broker), configs=edits)
    with BlockingClient("127.0.0.1", cluster.ports[broker]) as client:
        answer = client.send(IncrementalAlterConfigsRequest(resources=[resource]))
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    return answer.responses[0].error_code, answer.responses[0].error_message


def told(port: int) -> dict[int, int]:
    """Ports by broker, as a client on this port is told; none where nobody listens."""
    try:
        with BlockingClient("127.0.0.1", port) as client:
            answer = client.send(MetadataRequest(topics=[]))
    except NoBroker:
        return {}
    assert isinstance(answer, MetadataResponse)
    return {broker.node_id: broker.port for broker in answer.brokers}


def is_closed(client: BlockingClient) -> bool:
    try:
        client.send(HeartbeatRequest())
    except Disconnected:
        return True
    return False


def test_a_listener_is_added_and_removed_while_clients_use_the_others(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "t", partitions=2, replicas=2)
    ports = free_ports(2)
    zookeeper = KazooClient(cluster.zookeeper.address)
    zookeeper.start(timeout=DEADLINE_S)
    born = [zookeeper.get(f"/brokers/ids/{broker}")[1].czxid for broker in (0, 1)]
    for broker, (old, new) in enumerate(zip(cluster.ports, ports, strict=True)):
        listeners = f"PLAINTEXT://127.0.0.1:{old},OUTSIDE://127.0.0.1:{new}"
        assert change(cluster, broker, listeners=listeners, listener_security_protocol_map=MAP) == (ErrorCode.NONE, None)
    eventually(lambda: all(told(port) == dict(enumerate(ports)) for port in ports), "who comes from outside is told of the listeners for outside")
    assert told(cluster.ports[0]) == dict(enumerate(cluster.ports))
    outside = ",".join(f"127.0.0.1:{port}" for port in ports)
    send(outside, "t", [Sent(None, b"from outside")], acks="all")
    assert [stored.record.value for each in read_all(cluster.bootstrap, "t").values() for stored in each] == [b"from outside"]

    with BlockingClient("127.0.0.1", ports[0]) as guest:
        for broker in (0, 1):
            assert change(cluster, broker, listeners=None, listener_security_protocol_map=None) == (ErrorCode.NONE, None)
        eventually(lambda: is_closed(guest), "the guest's connection is closed")
    with pytest.raises(NoBroker):
        BlockingClient("127.0.0.1", ports[0])
    for broker, port in enumerate(cluster.ports):
        eventually(lambda: json.loads(zookeeper.get(f"/brokers/ids/{broker}")[0])["endpoints"] == [f"PLAINTEXT://127.0.0.1:{port}"], "as before")  # noqa: B023
    assert [zookeeper.get(f"/brokers/ids/{broker}")[1].czxid for broker in (0, 1)] == born
    zookeeper.stop()
    zookeeper.close()


def test_a_broker_comes_back_with_the_listeners_that_were_added(cluster: LocalCluster) -> None:
    [port] = free_ports(1)
    listeners = f"PLAINTEXT://127.0.0.1:{cluster.ports[0]},OUTSIDE://127.0.0.1:{port}"
    assert change(cluster, 0, listeners=listeners, listener_security_protocol_map=MAP) == (ErrorCode.NONE, None)
    eventually(lambda: 0 in told(port), "it listens")
    cluster.brokers[0].stop()
    cluster.restart(0)
    eventually(lambda: told(port).get(0) == port, "it listens again")


def test_a_port_that_is_taken_is_told_in_the_log_and_nothing_else_suffers(cluster: LocalCluster) -> None:
    listeners = f"PLAINTEXT://127.0.0.1:{cluster.ports[1]},OUTSIDE://127.0.0.1:{cluster.zookeeper.port}"
    assert change(cluster, 1, listeners=listeners, listener_security_protocol_map=MAP) == (ErrorCode.NONE, None)
    eventually(lambda: "Listener OUTSIDE is not added" in cluster.brokers[1].output(), "the log says so")
    assert told(cluster.ports[1])[1] == cluster.ports[1]
    assert change(cluster, 1, listeners=None, listener_security_protocol_map=None) == (ErrorCode.NONE, None)


def test_what_others_are_told_changes_alone(cluster: LocalCluster) -> None:
    assert change(cluster, 1, advertised_listeners=f"PLAINTEXT://localhost:{cluster.ports[1]}") == (ErrorCode.NONE, None)

    def hosts() -> set[str]:
        answer = cluster.metadata(1)
        return set() if answer is None else {broker.host for broker in answer.brokers if broker.node_id == 1}

    eventually(lambda: hosts() == {"localhost"}, "the new name is told")
    assert change(cluster, 1, advertised_listeners=None) == (ErrorCode.NONE, None)
    eventually(lambda: hosts() == {"127.0.0.1"}, "the old name is told again")


def test_a_limit_on_connections_counts_at_once(cluster: LocalCluster) -> None:
    """127.0.0.1 is everybody here: the other broker's connections are open already, and stay."""
    assert change(cluster, 1, max_connections_per_ip="1") == (ErrorCode.NONE, None)

    def refused() -> bool:
        try:
            with BlockingClient("127.0.0.1", cluster.ports[1]):
                return False
        except NoBroker:
            return True

    eventually(refused, "a new connection is refused")
    zookeeper = KazooClient(cluster.zookeeper.address)
    zookeeper.start(timeout=DEADLINE_S)
    zookeeper.set("/config/brokers/1", b'{"version":1,"config":{}}')  # kafka-configs --zookeeper: the broker itself takes nobody
    zookeeper.create("/config/changes/config_change_", b'{"version":2,"entity_path":"brokers/1"}', sequence=True)
    zookeeper.stop()
    zookeeper.close()
    eventually(lambda: not refused(), "it is taken again")
