"""What the controller costs, as clients see it: failover, its own start, many partitions, rolling restarts. Ours beside Apache Kafka's, in the same run.

    python tools/bench/controller.py                                            ours alone
    python tools/bench/controller.py --peer 2.8.2                               beside Apache Kafka 2.8.2
    python tools/bench/controller.py --partitions 100 --only failover,start

| measure | from | to |
|---|---|---|
| create | CreateTopics is sent | every broker's Metadata has a leader and a full ISR for every partition, and the topic's configs were described |
| failover | /brokers/ids/N is gone (as after a session's expiry) | Metadata of the surviving brokers names no partition led by N |
| start | /controller is deleted | a new controller has created a topic, and its leader is known |
| shutdown | SIGTERM to a broker | its process has ended; a producer with acks=all goes on meanwhile |

All topics have three replicas on three brokers. Nothing here knows whose brokers they are: it speaks Kafka's protocol, and ZooKeeper's.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from clusters import BenchCluster
from comparison.sides import OURS
from load import SteadyProducer

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.zookeeper import Delete
from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.protocol.messages.create_topics import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from pykafka_classic.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseTopic

BROKERS = 3
LIMIT_S = 180.0
POLL_S = 0.01
TOPIC = "bench"


class Cluster:
    """A cluster as a client sees it: one connection to each broker."""

    def __init__(self, ports: list[int], zookeeper: str) -> None:
        self.ports = ports
        self.zookeeper = BlockingZooKeeper(zookeeper)
        self._clients: dict[int, BlockingClient] = {}

    def client(self, number: int) -> BlockingClient:
        """A connection to one broker."""
        if number not in self._clients:
            self._clients[number] = BlockingClient("127.0.0.1", self.ports[number], client_id="bench", timeout_ms=LIMIT_S * 1000)
        return self._clients[number]

    def forget(self, number: int) -> None:
        """Close the connection to a broker that goes."""
        if number in self._clients:
            self._clients.pop(number).close()

    def metadata(self, number: int, topic: str) -> tuple[int, MetadataResponseTopic]:
        """The controller, and a topic, as one broker knows them."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        response = self.client(number).send(request)
        assert isinstance(response, MetadataResponse)
        return response.controller_id, response.topics[0]

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic whose leaders are spread evenly, asking the controller, whoever that is by now."""
        assignments = [CreatableReplicaAssignment(index, [(index + step) % BROKERS for step in range(BROKERS)]) for index in range(partitions)]
        wanted = CreatableTopic(name=topic, num_partitions=-1, replication_factor=-1, assignments=assignments)
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=int(LIMIT_S * 1000))
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            for number in range(BROKERS):
                response = self.client(number).send(request)
                assert isinstance(response, CreateTopicsResponse)
                error = ErrorCode(response.topics[0].error_code)
                if error in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                    return
                if error is not ErrorCode.NOT_CONTROLLER:
                    raise RuntimeError(f"creating {topic}: {error.name} {response.topics[0].error_message}")
            time.sleep(POLL_S)
        raise RuntimeError(f"nobody creates {topic}")

    def wait(self, numbers: Iterable[int], topic: str, is_ready: Callable[[MetadataResponseTopic], bool]) -> None:
        """Until each of these brokers tells of a topic what one waits for."""
        deadline = time.monotonic() + LIMIT_S
        for number in numbers:
            while not is_ready(self.metadata(number, topic)[1]):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"broker {number} does not come to tell what is awaited about {topic}")
                time.sleep(POLL_S)

    def close(self) -> None:
        """Close all connections."""
        for number in list(self._clients):
            self.forget(number)
        self.zookeeper.close()


def has_partitions(count: int) -> Callable[[MetadataResponseTopic], bool]:
    """Every partition has a leader and three replicas in sync."""
    return lambda topic: len(topic.partitions) == count and all(each.leader_id >= 0 and len(each.isr_nodes) == BROKERS for each in topic.partitions)


def leaves(victim: int, count: int) -> Callable[[MetadataResponseTopic], bool]:
    """Every partition has a leader, and it is not the victim."""
    return lambda topic: len(topic.partitions) == count and all(each.leader_id not in (-1, victim) for each in topic.partitions)


def measure_create(cluster: Cluster, partitions: int) -> float:
    """Seconds; see the module."""
    began = time.monotonic()
    cluster.create(TOPIC, partitions)
    cluster.wait(range(BROKERS), TOPIC, has_partitions(partitions))
    cluster.client(0).send(DescribeConfigsRequest(resources=[DescribeConfigsResource(resource_type=2, resource_name=TOPIC, configuration_keys=None)]))
    return time.monotonic() - began


def measure_start(cluster: Cluster) -> float:
    """Seconds; see the module."""
    began = time.monotonic()
    cluster.zookeeper.one(Delete("/controller"))
    name = f"after-{time.monotonic_ns()}"
    cluster.create(name, 1)
    cluster.wait(range(BROKERS), name, has_partitions(1))
    return time.monotonic() - began


def measure_failover(cluster: Cluster, partitions: int) -> float:
    """Seconds; see the module. The broker whose znode goes runs on, but belongs to the cluster no more."""
    controller, _ = cluster.metadata(0, TOPIC)
    victim = (controller + 1) % BROKERS
    survivors = [number for number in range(BROKERS) if number != victim]
    for number in survivors:
        cluster.metadata(number, TOPIC)  # the connections stand
    cluster.zookeeper.one(Delete(f"/brokers/ids/{victim}"))
    began = time.monotonic()
    cluster.wait(survivors, TOPIC, leaves(victim, partitions))
    return time.monotonic() - began


def measure_shutdowns(processes: BenchCluster, cluster: Cluster, partitions: int) -> tuple[list[float], SteadyProducer]:
    """Seconds for each broker, stopped and started again one after the other; and the producer that wrote meanwhile."""
    with SteadyProducer(",".join(f"127.0.0.1:{port}" for port in cluster.ports), TOPIC) as producer:
        seconds = []
        for number in range(BROKERS):
            cluster.forget(number)
            seconds.append(processes.stop_broker(number))
            processes.start_broker(number)
            cluster.wait(range(BROKERS), TOPIC, has_partitions(partitions))
    return seconds, producer


def run(processes: BenchCluster, partitions: int, only: set[str]) -> None:
    """Print all measures of one cluster of this size."""
    processes.start()
    cluster = Cluster(processes.ports, processes.zookeeper)
    label = f"{processes.name:<20} {partitions:>5} partitions"
    try:
        print(f"{label}  create    {measure_create(cluster, partitions):7.2f} s", flush=True)
        if "start" in only:
            print(f"{label}  start     {', '.join(f'{measure_start(cluster):.2f}' for _ in range(3)):>7} s", flush=True)
        if "shutdown" in only:
            seconds, producer = measure_shutdowns(processes, cluster, partitions)
            told = f"{producer.acknowledged} acknowledged, {producer.failed} failed, longest pause {producer.longest_pause_s:.2f} s"
            print(f"{label}  shutdown  {', '.join(f'{each:.2f}' for each in seconds):>7} s   ({told})", flush=True)
        if "failover" in only:
            print(f"{label}  failover  {1000 * measure_failover(cluster, partitions):7.0f} ms", flush=True)
    finally:
        cluster.close()
        processes.kill()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", default="100,1000,3000")
    parser.add_argument("--only", default="start,failover,shutdown", help="shutdown is measured with 1,000 partitions")
    parser.add_argument("--peer", help="a release of Apache Kafka")
    options = parser.parse_args()
    for partitions in map(int, options.partitions.split(",")):
        only = set(options.only.split(",")) - ({"shutdown"} if partitions != 1000 else set())
        for kind in (OURS, options.peer) if options.peer else (OURS,):
            with tempfile.TemporaryDirectory(prefix="pykafka-bench-", ignore_cleanup_errors=True) as directory:
                run(BenchCluster(Path(directory), kind), partitions, only)


if __name__ == "__main__":
    main()
