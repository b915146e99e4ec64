"""`LocalCluster`: one ZooKeeper and some brokers on this machine, in one folder, each a process.

    with LocalCluster(Path("/some/folder"), brokers=3) as cluster:
        producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap})
        cluster.brokers[0].kill()          # SIGKILL
        cluster.restart(0)

A cluster is ready when every broker knows all brokers and a controller. Nothing is left running when the block ends, also when the process that runs it is
killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.edges.child_processes import ChildProcess, free_ports, port_taken, wait_until
from pykafka_classic.edges.processes import BrokerProcess, ZooKeeperProcess, zookeeper_class_path
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.testing.class_archive import ClassArchive

# What a cluster of one machine needs otherwise than a real one.
SMALL_CLUSTER: Mapping[str, str] = {
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "group.initial.rebalance.delay.ms": "0",
    "zookeeper.session.timeout.ms": "6000",
    "controlled.shutdown.retry.backoff.ms": "200",  # the last broker has nobody to hand over to
}


class PortTaken(Exception):
    """Somebody else listens where the cluster should; the text says where."""


class LocalCluster:
    """One ZooKeeper and `brokers` brokers with ids 0, 1, ... ZooKeeper's JVM uses an archive of its classes in the user's cache (`class_archive`).

    Args:
        directory: everything lies below it; a later cluster on the same directory finds its data again.
        ports: of the brokers, in the order of their ids; free ones if absent.
        zookeeper_port: a free one if absent.
        overrides: broker keys, for all brokers.
    """

    def __init__(
        self,
        directory: Path,
        *,
        brokers: int = 3,
        ports: Sequence[int] | None = None,
        zookeeper_port: int | None = None,
        overrides: Mapping[str, str] | None = None,
    ) -> None:
        chosen = free_ports(brokers + 1)
        self.ports = list(ports) if ports is not None else chosen[1:]
        port = chosen[0] if zookeeper_port is None else zookeeper_port
        self._archive = ClassArchive("zookeeper", zookeeper_class_path())
        properties = {"clientPort": str(port), "tickTime": "1000", "4lw.commands.whitelist": "*"}
        self.zookeeper = ZooKeeperProcess(directory / "zookeeper", properties, jvm=self._archive.flags())
        self.brokers = [BrokerProcess(directory / f"broker-{number}", self._properties(directory, number, overrides or {})) for number in range(brokers)]

    @property
    def bootstrap(self) -> str:
        """For `bootstrap.servers`: all brokers, running or not."""
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    @property
    def processes(self) -> list[ChildProcess]:
        """ZooKeeper first."""
        return [self.zookeeper, *self.brokers]

    def start(self) -> None:
        """Start all and wait until the cluster is ready. Raises PortTaken, JavaMissing, StartFailed; nothing is left running then."""
        self.check_ports()
        try:
            self.start_zookeeper()
            for broker in self.brokers:
                broker.start()
            self.wait_ready()
        except BaseException:
            self.kill()
            raise

    def check_ports(self) -> None:
        """Raise PortTaken if somebody else listens on one of ours."""
        for port in [self.zookeeper.port, *self.ports]:
            taken = port_taken(port)
            if taken:
                raise PortTaken(taken)

    def start_zookeeper(self) -> None:
        """Start ZooKeeper alone, and wait until it serves."""
        self.zookeeper.start()
        self.zookeeper.wait_serving()

    def wait_ready(self, *, seconds: float = 60.0) -> None:
        """Wait until every running broker knows every running one, and a controller among them."""
        running = [number for number, broker in enumerate(self.brokers) if broker.running]
        for number in running:
            self.brokers[number].wait_started(seconds=seconds)
        wait_until(lambda: all(self._knows(number, running) for number in running), seconds=seconds)

    def restart(self, number: int, *, seconds: float = 60.0) -> None:
        """Start a broker that was killed or stopped, and wait until it serves again."""
        self.brokers[number].start()
        self.brokers[number].wait_started(seconds=seconds)

    def stop(self) -> None:
        """Stop cleanly, brokers first: a broker's clean stop needs ZooKeeper, and a controller as long as possible."""
        for process in reversed(self.processes):
            if process.running and process.stop() >= 0 and process is self.zookeeper:
                self._archive.ended()

    def kill(self) -> None:
        """End everything at once."""
        for process in reversed(self.processes):
            if process.running:
                process.kill()

    def metadata(self, number: int, topics: Sequence[str] = ()) -> MetadataResponse | None:
        """What a broker tells about the cluster and these topics; None where it does not answer."""
        wanted = [MetadataRequestTopic(name=name) for name in topics]
        names = MetadataRequest(topics=wanted, allow_auto_topic_creation=not wanted)  # brokers before 0.11 cannot be asked not to create
        try:
            with BlockingClient("127.0.0.1", self.ports[number], client_id="local-cluster", timeout_ms=5_000) as client:
                response = client.send(names)
        except Disconnected:
            return None
        assert isinstance(response, MetadataResponse)
        return response

    def _knows(self, number: int, running: Sequence[int]) -> bool:
        told = self.metadata(number)
        return told is not None and {broker.node_id for broker in told.brokers} >= set(running) and told.controller_id in running

    def _properties(self, directory: Path, number: int, overrides: Mapping[str, str]) -> dict[str, str]:
        count = len(self.ports)
        return {
            "broker.id": str(number),
            "listeners": f"PLAINTEXT://127.0.0.1:{self.ports[number]}",
            "zookeeper.connect": self.zookeeper.address,
            "log.dirs": str(directory / f"broker-{number}" / "data"),
            "offsets.topic.replication.factor": str(min(3, count)),
            "transaction.state.log.replication.factor": str(min(3, count)),
            "transaction.state.log.min.isr": "1",
            **SMALL_CLUSTER,
            **overrides,
        }

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self.stop()
        self.kill()
