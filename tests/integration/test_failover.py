"""Brokers, ZooKeeper and sessions that die while records are produced with acks=all and min.insync.replicas=2.

Nothing acknowledged is lost, and leaders move in time.

ZooKeeper ends a dead broker's session after its time-out, rounded up to ZooKeeper's ticks; once it has (/brokers/ids/N is gone) a new leader is written, as a
rule within 0.1 s (printed; what is asserted leaves room for a machine that runs other tests beside this one). The tests of this module share one cluster; each
begins with all brokers running, and with a topic of its own whose replicas are all in sync.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypedDict

import pytest
from confluent_kafka.admin import AdminClient

from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import Load, Sent, assert_nothing_lost, create_topic, eventually, in_sync, read_all, send
from tests.integration.witness import Witness

PARTITIONS: Final = 3
SESSION_S: Final = 3.0
TICK_S: Final = 1.0
BUSY_S: Final = 7.0  # of a machine that does much else; whoever waits for a timeout of Kafka's clients or brokers waits for 30 s
EVERYBODY: Final = [3, 3, 3]

Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def failing_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    overrides = {"zookeeper.session.timeout.ms": str(int(SESSION_S * 1000)), "min.insync.replicas": "2"}
    with LocalCluster(tmp_path_factory.mktemp("failing"), brokers=3, overrides=overrides) as running:
        yield running
    assert_no_stack_traces(running)


@pytest.fixture
def cluster(failing_cluster: LocalCluster) -> LocalCluster:
    """The module's cluster with all its brokers running, whatever the test before left."""
    if not failing_cluster.zookeeper.running:
        failing_cluster.start_zookeeper()
    for number, broker in enumerate(failing_cluster.brokers):
        broker.resume()
        if not broker.running:
            failing_cluster.restart(number)
    failing_cluster.wait_ready()
    return failing_cluster


@pytest.fixture
def witness(cluster: LocalCluster) -> Iterator[Witness]:
    with Witness(cluster.zookeeper.address) as client:
        yield client


def make_topic(cluster: LocalCluster, name: str, assignment: list[list[int]]) -> str:
    """A topic with these replicas, the first of each list leading; waits until all are in sync."""
    create_topic(cluster.bootstrap, name, assignment=assignment)
    return name


def wait_in_sync(cluster: LocalCluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    eventually(lambda: list(in_sync(admin, topic).values()) == EVERYBODY, f"all replicas of {topic} in the ISR")


def led_by(first: int) -> list[list[int]]:
    """All partitions led by one broker."""
    return [[first, (first + 1) % 3, (first + 2) % 3]] * PARTITIONS


def followed_by(last: int) -> list[list[int]]:
    """All partitions with one broker as the last replica."""
    return [[(last + 1) % 3, (last + 2) % 3, last], [(last + 2) % 3, (last + 1) % 3, last], [(last + 1) % 3, (last + 2) % 3, last]]


# killed


@pytest.mark.parametrize("idempotent", [False, True], ids=["plain", "idempotent"])
@pytest.mark.parametrize("role", ["leader", "follower", "controller", "controller and leader"])
def test_a_killed_broker_loses_no_acknowledged_record(cluster: LocalCluster, witness: Witness, role: str, idempotent: bool, record_property: Record) -> None:
    victim = witness.controller() if "controller" in role else (witness.controller() + 1) % 3
    assignment = led_by(victim) if "leader" in role else followed_by(victim)
    topic = make_topic(cluster, f"killed-{role}-{idempotent}".replace(" ", "-"), assignment)
    with Load(cluster.bootstrap, topic, partitions=PARTITIONS, **settings(idempotent=idempotent)) as load:
        killed = time.monotonic()
        cluster.brokers[victim].kill()
        expired_s = witness.seconds_until(lambda: witness.session_of(victim) == 0, since=killed)
        elected_s = witness.seconds_until(lambda: led_without(witness, topic, victim), since=killed) - expired_s
        load.wait_for_more_in(range(PARTITIONS))
        load.wait_for_more(500)
        cluster.restart(victim)
        wait_in_sync(cluster, topic)
        load.wait_for_more(500)
    duplicates = assert_nothing_lost(load, cluster.bootstrap, topic)
    for name, value in {"expired_s": expired_s, "elected_s": elected_s, "acknowledged": load.count, "duplicates": duplicates}.items():
        record_property(name, round(value, 3))
    print(f"{topic}: session expired after {expired_s:.2f} s, leaders {1000 * elected_s:.0f} ms later; {load.count} acknowledged, {duplicates} duplicates")
    assert load.failed == []
    assert not idempotent or duplicates == 0
    assert expired_s <= SESSION_S + 2 * TICK_S + BUSY_S
    assert elected_s <= BUSY_S
    assert same_logs(cluster, topic)


class Settings(TypedDict, total=False):
    enable_idempotence: bool
    max_in_flight_requests_per_connection: int


def settings(*, idempotent: bool) -> Settings:
    """Order is kept with one request in flight; an idempotent producer may have five."""
    return {"enable_idempotence": True} if idempotent else {"max_in_flight_requests_per_connection": 1}


def led_without(witness: Witness, topic: str, dead: int) -> bool:
    """All partitions have leaders, and `dead` is in no ISR."""
    states = [witness.state(topic, number) for number in range(PARTITIONS)]
    return all(state.leader not in {-1, dead} and dead not in state.isr for state in states)


def same_logs(cluster: LocalCluster, topic: str) -> bool:
    """All replicas come to hold the same bytes."""

    def equal() -> bool:
        return all(len({logs_of(cluster, broker, topic, number) for broker in range(3)}) == 1 for number in range(PARTITIONS))

    eventually(equal, f"the same bytes in all replicas of {topic}")
    return True


def logs_of(cluster: LocalCluster, broker: int, topic: str, partition: int) -> bytes:
    folder = cluster.brokers[broker].directory / "data" / f"{topic}-{partition}"
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))


def test_a_killed_broker_that_comes_back_at_once_waits_for_the_end_of_its_old_session(tmp_path: Path) -> None:
    overrides = {"zookeeper.session.timeout.ms": "12000", "zookeeper.connection.timeout.ms": "60000"}  # longer than it takes to come back
    with LocalCluster(tmp_path, brokers=1, overrides=overrides) as cluster, Witness(cluster.zookeeper.address) as witness:
        create_topic(cluster.bootstrap, "back-at-once", partitions=1, replicas=1)
        with Load(cluster.bootstrap, "back-at-once", partitions=1, **settings(idempotent=True)) as load:
            old_session = witness.session_of(0)
            cluster.brokers[0].kill()
            cluster.restart(0)
            assert witness.session_of(0) not in {0, old_session}
            load.wait_for_more_in([0])
        [waiting] = [line for line in cluster.brokers[0].output().splitlines() if "waiting until ZooKeeper removes" in line]
        assert " INFO " in waiting and "/brokers/ids/0" in waiting
        assert (assert_nothing_lost(load, cluster.bootstrap, "back-at-once"), load.failed) == (0, [])
    assert_no_stack_traces(cluster)


# ZooKeeper and sessions


def test_without_zookeeper_produce_and_fetch_go_on_and_metadata_changes_resume_with_it(cluster: LocalCluster) -> None:
    topic = make_topic(cluster, "zookeeper-away", led_by(0)[:1] + led_by(1)[:1] + led_by(2)[:1])
    with Load(cluster.bootstrap, topic, partitions=PARTITIONS, **settings(idempotent=True)) as load:
        cluster.zookeeper.kill()
        load.wait_for_more(3000)
        load.wait_for_more_in(range(PARTITIONS))
        assert sum(map(len, read_all(cluster.bootstrap, topic).values())) > 3000
        cluster.start_zookeeper()
        make_topic(cluster, "made-after-zookeeper-came-back", led_by(1))
        load.wait_for_more(500)
    send(cluster.bootstrap, "made-after-zookeeper-came-back", [Sent(None, b"v")], acks="all")
    assert (assert_nothing_lost(load, cluster.bootstrap, topic), load.failed) == (0, [])
    assert all(broker.running for broker in cluster.brokers)


@pytest.mark.parametrize("role", ["controller", "other"])
def test_a_broker_whose_session_expires_registers_again(cluster: LocalCluster, witness: Witness, role: str) -> None:
    broker = witness.controller() if role == "controller" else (witness.controller() + 1) % 3
    topic = make_topic(cluster, f"expired-{role}", led_by(broker))
    with Load(cluster.bootstrap, topic, partitions=PARTITIONS, **settings(idempotent=True)) as load:
        old_session = witness.session_of(broker)
        witness.expire(broker)
        eventually(lambda: witness.session_of(broker) not in {0, old_session}, "registered in a new session")
        eventually(lambda: witness.controller() >= 0, "a controller")
        wait_in_sync(cluster, topic)
        load.wait_for_more_in(range(PARTITIONS))
        create_topic(cluster.bootstrap, f"made-after-expiry-of-{role}")
    assert (assert_nothing_lost(load, cluster.bootstrap, topic), load.failed) == (0, [])
    assert cluster.brokers[broker].running
    assert same_logs(cluster, topic)


@pytest.mark.parametrize("role", ["leader", "controller and leader"])
def test_a_leader_that_wakes_up_after_its_session_acknowledges_nothing_false(cluster: LocalCluster, witness: Witness, role: str) -> None:
    sleeper = witness.controller() if "controller" in role else (witness.controller() + 1) % 3
    topic = make_topic(cluster, f"paused-{role}".replace(" ", "-"), led_by(sleeper))
    with Load(cluster.bootstrap, topic, partitions=PARTITIONS, **settings(idempotent=False), socket_timeout_ms=4000) as load:
        cluster.brokers[sleeper].pause()
        eventually(lambda: led_without(witness, topic, sleeper), "other leaders")
        load.wait_for_more(500)
        cluster.brokers[sleeper].resume()
        eventually(lambda: witness.session_of(sleeper) != 0, "registered again")
        wait_in_sync(cluster, topic)
        load.wait_for_more(500)
    duplicates = assert_nothing_lost(load, cluster.bootstrap, topic)
    print(f"{topic}: {load.count} acknowledged, {duplicates} duplicates")
    assert load.failed == []
    assert same_logs(cluster, topic)


# stopped


def test_a_broker_stops_cleanly_though_zookeeper_is_away(cluster: LocalCluster) -> None:
    cluster.zookeeper.kill()
    assert [broker.stop(seconds=20) for broker in cluster.brokers] == [0, 0, 0]


def test_a_rolling_restart_fails_no_produce(cluster: LocalCluster, witness: Witness) -> None:
    topic = make_topic(cluster, "rolling", led_by(0)[:1] + led_by(1)[:1] + led_by(2)[:1])
    with Load(cluster.bootstrap, topic, partitions=PARTITIONS, **settings(idempotent=True)) as load:
        for number, broker in enumerate(cluster.brokers):
            assert broker.stop() == 0
            assert witness.session_of(number) == 0
            assert led_without(witness, topic, number), "moved before the broker left"
            load.wait_for_more_in(range(PARTITIONS))
            cluster.restart(number)
            wait_in_sync(cluster, topic)
    assert (assert_nothing_lost(load, cluster.bootstrap, topic), load.failed) == (0, [])
    assert same_logs(cluster, topic)
