"""What brokers of Apache Kafka and ours live through together, in clusters of two: whoever is not the one kind is the other.

With two brokers each move is from one kind to the other, whoever is faster: when one stops, its leaderships and the controller go to the other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.integration.apache import OURS, MixedCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import DEADLINE_S, Load, assert_nothing_lost, eventually
from tests.integration.test_failover import logs_of
from tests.integration.witness import Witness

PARTITIONS: Final = 2
SESSION_S: Final = 6.0  # ZooKeeper's Java clients of old lose shorter ones on a busy machine
BOTH: Final = [0, 1]


def overrides(protocol: str, **more: str) -> dict[str, str]:
    """For both brokers of a cluster that speaks this inter.broker.protocol.version."""
    return {
        "inter.broker.protocol.version": protocol,
        "log.message.format.version": protocol,
        "zookeeper.session.timeout.ms": str(int(SESSION_S * 1000)),
        "replica.lag.time.max.ms": "6000",
        **more,
    }


@contextlib.contextmanager
def running(directory: Path, kinds: list[str], protocol: str, *, only: int | None = None) -> Iterator[tuple[MixedCluster, Witness]]:
    """A cluster with both its brokers running, or `only` one; ours wrote no stack trace in the end."""
    cluster = MixedCluster(directory, kinds, overrides=overrides(protocol))
    try:
        cluster.start_zookeeper()
        for number in BOTH if only is None else [only]:
            cluster.brokers[number].start()
        cluster.wait_ready()
        with Witness(cluster.zookeeper.address) as witness:
            yield cluster, witness
        cluster.stop()
    finally:
        cluster.kill()
    assert_no_stack_traces(cluster)


def join_and_change_places(directory: Path, kinds: list[str], protocol: str, *, idempotent: bool = True, twice: bool = False) -> None:
    """Broker 1 joins broker 0 under load; 0 stops, and 1 dies (with `twice`: then the other way round); each time the other takes over.

    No acknowledged record is lost, and the logs are equal.
    """
    with running(directory, kinds, protocol, only=0) as (cluster, witness):
        make_topic(cluster, "shared", [[0, 1], [1, 0]])
        with Load(cluster.bootstrap, "shared", partitions=PARTITIONS, per_second=300, **settings(idempotent=idempotent)) as load:
            cluster.restart(1)
            wait_both_in_sync(witness, "shared")
            leave(cluster, witness, load, 0, cleanly=True)
            leave(cluster, witness, load, 1, cleanly=False)
            if twice:
                leave(cluster, witness, load, 0, cleanly=False)
                leave(cluster, witness, load, 1, cleanly=True)
        duplicates = assert_nothing_lost(load, cluster.bootstrap, "shared")
        assert load.failed == []
        assert duplicates == 0 or not idempotent
        same_logs(cluster, "shared", PARTITIONS)
        print(f"{' and '.join(kinds)} at {protocol}: {load.count} acknowledged, 0 lost, {duplicates} duplicates")


def settings(*, idempotent: bool) -> dict[str, bool | int]:
    """Order is kept with one request in flight; an idempotent producer (brokers from 0.11 on) may have five."""
    return {"enable_idempotence": True} if idempotent else {"max_in_flight_requests_per_connection": 1}


def make_topic(cluster: MixedCluster, name: str, assignment: list[list[int]], **config: str) -> str:
    """Create a topic with these replicas, and wait until it is led."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    [made] = admin.create_topics([NewTopic(name, len(assignment), replica_assignment=assignment, config=config)], operation_timeout=DEADLINE_S).values()
    made.result(DEADLINE_S)
    return name


def leave(cluster: MixedCluster, witness: Witness, load: Load, number: int, *, cleanly: bool) -> None:
    """A broker goes; the other leads everything and is the controller; the first comes back and is in sync again."""
    other = 1 - number
    if cleanly:
        cluster.brokers[number].stop()
    else:
        cluster.brokers[number].kill()
    eventually(lambda: witness.leaders("shared", PARTITIONS) == [other] * PARTITIONS, f"broker {other} leads")
    eventually(lambda: witness.controller() == other, f"broker {other} is the controller")
    load.wait_for_more_in(range(PARTITIONS))
    cluster.restart(number)
    wait_both_in_sync(witness, "shared")
    load.wait_for_more_in(range(PARTITIONS))


def wait_both_in_sync(witness: Witness, topic: str, partitions: int = PARTITIONS) -> None:
    """As ZooKeeper says: before 2.7 the other brokers learn of it 5 to 10 s later."""
    eventually(lambda: all(sorted(witness.state(topic, partition).isr) == BOTH for partition in range(partitions)), f"both replicas of {topic} in the ISR")


def same_logs(cluster: MixedCluster, topic: str, partitions: int) -> None:
    """Both kinds of broker come to hold the same bytes."""

    def equal() -> bool:
        return all(len({logs_of(cluster, broker, topic, partition) for broker in BOTH}) == 1 for partition in range(partitions))

    eventually(equal, f"the same bytes in both replicas of {topic}")


def make_controller(cluster: MixedCluster, witness: Witness, number: int) -> None:
    """Let a broker be the controller: the other sleeps while /controller is taken away, far shorter than a session lasts."""
    if witness.controller() == number:
        return
    other = cluster.brokers[1 - number]
    other.pause()
    try:
        witness.remove_controller()
        eventually(lambda: witness.controller() == number, f"broker {number} is the controller")
    finally:
        other.resume()
    eventually(lambda: all(told_controller(cluster, each) == number for each in BOTH), "both brokers know")


def told_controller(cluster: MixedCluster, number: int) -> int:
    """Which controller a broker tells clients of."""
    told = cluster.metadata(number)
    return -1 if told is None else told.controller_id


def ours_of(kinds: list[str]) -> int:
    """The number of our broker."""
    return kinds.index(OURS)
