"""docker-compose.yml, brought up for real: records come in from outside while containers are killed, paused, cut off and stopped; nothing acknowledged is lost.

Where no container engine answers ($DOCKER_HOST, or the usual socket), this is skipped. Host ports are free ones, unless KAFKA_PORT_1 and so on say otherwise.
"""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykafka_classic.edges.child_processes import free_ports
from tests.deployment.compose_file import read_compose_file
from tests.deployment.engine import CommandFailed, Project, engine, wait_until
from tests.deployment.load import Writer, read_all
from tests.deployment.stand_ins import CannotBuild, base_images

pytestmark = pytest.mark.docker

ROOT = Path(__file__).resolve().parents[2]
BROKERS = ("kafka-1", "kafka-2", "kafka-3")
PORTS = ("KAFKA_PORT_1", "KAFKA_PORT_2", "KAFKA_PORT_3", "ZOOKEEPER_PORT")
FAILOVER_S = 90.0  # a session of 18 s ends, leaders are elected, the producer finds them
BACK_S = 120.0


class Cluster:
    """The project, and how its clients and its operator see it."""

    def __init__(self, project: Project, bootstrap: str) -> None:
        self.project = project
        self.bootstrap = bootstrap

    def topics(self, *arguments: str) -> str:
        """kafka-topics.sh, inside the first broker."""
        return self.project.run("kafka-1", "kafka-topics.sh", "--bootstrap-server", ",".join(f"{name}:29092" for name in BROKERS), *arguments)

    def leader(self, topic: str, partition: int) -> str:
        """The service whose broker leads a partition."""
        line = next(line for line in self.topics("--describe", "--topic", topic).splitlines() if f"Partition: {partition}\t" in line)
        return f"kafka-{line.split('Leader: ')[1].split()[0]}"

    def wait_whole(self) -> None:
        """Until every replica of every partition is in sync."""
        wait_until(self._whole, "all replicas in sync", timeout_s=BACK_S)

    def _whole(self) -> bool:
        try:
            return not self.topics("--describe", "--under-replicated-partitions").strip()
        except CommandFailed:
            return False  # who has just come back may find that its session with ZooKeeper has ended meanwhile, and says so once

    def came_back(self, service: str) -> None:
        """Until a service is well again, and whole."""
        wait_until(lambda: self.project.health(service) == "healthy", f"{service} healthy", timeout_s=BACK_S)
        self.wait_whole()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    client = engine()
    if isinstance(client, str):
        pytest.skip(client)
    try:
        images = base_images(client, tmp_path_factory.mktemp("images"))
    except CannotBuild as error:
        pytest.skip(str(error))
    name = f"pykafka-test-{uuid.uuid4().hex[:8]}"
    free = dict(zip(PORTS, map(str, free_ports(4)), strict=True))
    ports = {variable: os.environ.get(variable) or free[variable] for variable in PORTS}
    environment = {"KAFKA_HOST": "127.0.0.1", "BROKER_IMAGE": f"{name}-broker", **images, **ports}
    project = Project(client, read_compose_file(ROOT / "docker-compose.yml", environment), name)
    try:
        project.build()
        project.up()
        yield Cluster(project, ",".join(f"127.0.0.1:{ports[variable]}" for variable in PORTS[:3]))
    finally:
        project.down()
        client.images.remove(f"{name}-broker", force=True)
        client.close()


def test_nothing_acknowledged_is_lost_while_containers_fail(cluster: Cluster) -> None:
    project = cluster.project
    cluster.topics("--create", "--topic", "kept", "--partitions", "3", "--replication-factor", "3")
    with Writer(cluster.bootstrap, "kept") as writer:

        def goes_on(what: str) -> None:
            since = Counter(writer.by_partition)
            wait_until(lambda: writer.goes_on(since), f"records acknowledged in all partitions {what}", timeout_s=FAILOVER_S)
            print(f"{what}: {sum(writer.by_partition.values())} acknowledged")

        goes_on("at first")
        killed = cluster.leader("kept", 0)
        project.container(killed).kill()
        goes_on(f"with {killed}, leader of partition 0, killed")
        project.container(killed).start()
        cluster.project.wait_healthy("kafka-1")
        cluster.came_back(killed)

        paused = cluster.leader("kept", 1)
        project.container(paused).pause()
        goes_on(f"with {paused}, leader of partition 1, paused")
        project.container(paused).unpause()
        project.wait_healthy("kafka-1")
        cluster.came_back(paused)

        cut_off = cluster.leader("kept", 2)
        project.disconnect(cut_off)
        goes_on(f"with {cut_off}, leader of partition 2, off the network")
        project.connect(cut_off)
        project.wait_healthy("kafka-1")
        cluster.came_back(cut_off)

        project.container("zookeeper-1").kill()
        goes_on("with zookeeper-1 killed")
        project.container("zookeeper-1").start()
        cluster.came_back("zookeeper-1")

        project.container("kafka-2").stop(timeout=60)
        assert "Controlled shutdown succeeded" in project.log("kafka-2", last=50)
        goes_on("with kafka-2 stopped")
        project.container("kafka-2").start()
        cluster.came_back("kafka-2")
        goes_on("with all back")

    assert writer.failed == []
    found = read_all(cluster.bootstrap, "kept")
    lost = [number for number, place in writer.acknowledged.items() if found.get(place) != number]
    print(f"acknowledged {len(writer.acknowledged)}, read {len(found)}, lost {len(lost)}")
    assert not lost
    assert len(found) == len(set(found.values())), "an idempotent producer's records come once"


def test_brokers_are_not_root_and_write_only_where_they_should(cluster: Cluster) -> None:
    assert cluster.project.run("kafka-1", "id", "-un").strip() == "kafka"
    assert cluster.project.run("kafka-1", "sh", "-c", "touch /opt/pykafka_classic/x 2>/dev/null || echo refused").strip() == "refused"


def test_topics_outlive_the_containers(cluster: Cluster) -> None:
    cluster.topics("--create", "--topic", "stays", "--partitions", "3", "--replication-factor", "3")
    with Writer(cluster.bootstrap, "stays") as writer:
        wait_until(lambda: writer.goes_on(Counter(), more=20), "records", timeout_s=FAILOVER_S)
    for service in BROKERS:
        cluster.project.replace(service)
    for service in BROKERS:
        cluster.came_back(service)
    found = read_all(cluster.bootstrap, "stays")
    assert {place: number for number, place in writer.acknowledged.items()} == found
