"""What happens to ZooKeeper, and between ZooKeeper and brokers, while records are produced with acks=all and min.insync.replicas=2.

The data plane goes on; leaders and the controller move when ZooKeeper says so, never two at once; nothing acknowledged is lost; no broker ends. What happens to
brokers themselves: test_failover.py. Longer ones: tests/chaos/zookeeper_ensemble.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.ensemble import CutOffCluster, EnsembleCluster
from tests.integration.foreign import DEADLINE_S, Load, Sent, assert_nothing_lost, create_topic, eventually, send
from tests.integration.test_failover import PARTITIONS, led_by, led_without, make_topic, same_logs, settings, wait_in_sync
from tests.integration.witness import Witness
from zk_schema import configs, isr_change_notification, partition_state, preferred_replica_election, reassign_partitions, topics

SESSION_S: Final = 4.0
OVERRIDES: Final = {"zookeeper.session.timeout.ms": str(int(SESSION_S * 1000)), "min.insync.replicas": "2", "replica.lag.time.max.ms": "5000"}
PER_SECOND: Final = 300


def assert_load_is_there(cluster: LocalCluster, topic: str, load: Load) -> None:
    """What was acknowledged is there, once, and in all replicas."""
    assert (assert_nothing_lost(load, cluster.bootstrap, topic), load.failed) == (0, [])
    assert same_logs(cluster, topic)


def load_on(cluster: LocalCluster, topic: str) -> Load:
    return Load(cluster.bootstrap, topic, partitions=PARTITIONS, per_second=PER_SECOND, **settings(idempotent=True))


def one_each() -> list[list[int]]:
    """Three partitions, each led by another broker."""
    return [led_by(number)[0] for number in range(3)]


# An ensemble of three


@pytest.fixture(scope="module")
def failing_ensemble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnsembleCluster]:
    with EnsembleCluster(tmp_path_factory.mktemp("ensemble"), overrides=OVERRIDES) as running:
        yield running
    assert_no_stack_traces(running)


@pytest.fixture
def on_ensemble(failing_ensemble: EnsembleCluster) -> EnsembleCluster:
    """All ZooKeepers and brokers running."""
    failing_ensemble.start_zookeeper()
    failing_ensemble.wait_ready()
    assert all(broker.running for broker in failing_ensemble.brokers)
    return failing_ensemble


def sessions(cluster: EnsembleCluster) -> list[int]:
    with Witness(cluster.ensemble.address) as witness:
        return [witness.session_of(number) for number in range(3)]


def test_the_death_of_zookeepers_leader_ends_no_session(on_ensemble: EnsembleCluster) -> None:
    topic = make_topic(on_ensemble, "leader-of-zookeeper", one_each())
    before = sessions(on_ensemble)
    with load_on(on_ensemble, topic) as load:
        on_ensemble.ensemble.leader().kill()
        create_topic(on_ensemble.bootstrap, "made-under-the-new-leader-of-zookeeper")
        load.wait_for_more_in(range(PARTITIONS))
    assert sessions(on_ensemble) == before
    assert_load_is_there(on_ensemble, topic, load)


def test_a_lost_minority_is_hardly_noticed(on_ensemble: EnsembleCluster) -> None:
    topic = make_topic(on_ensemble, "minority", one_each())
    before = sessions(on_ensemble)
    with load_on(on_ensemble, topic) as load:
        on_ensemble.followers()[0].kill()
        create_topic(on_ensemble.bootstrap, "made-with-two-zookeepers")
        load.wait_for_more_in(range(PARTITIONS))
    assert sessions(on_ensemble) == before
    assert_load_is_there(on_ensemble, topic, load)


def lose_majority(cluster: EnsembleCluster, topic: str, seconds: float) -> None:
    """Two of three ZooKeepers die, for longer than a session lasts: brokers serve all the same, and go on when the majority is back."""
    with load_on(cluster, topic) as load:
        for server in cluster.followers():
            server.kill()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            load.wait_for_more_in(range(PARTITIONS))
        cluster.start_zookeeper()
        create_topic(cluster.bootstrap, f"made-after-{topic}")
        load.wait_for_more_in(range(PARTITIONS))
    assert_load_is_there(cluster, topic, load)


def test_without_a_majority_of_zookeepers_records_come_and_go(on_ensemble: EnsembleCluster) -> None:
    lose_majority(on_ensemble, make_topic(on_ensemble, "majority", one_each()), 2 * SESSION_S)


def test_a_rolling_restart_of_the_ensemble_ends_no_session(on_ensemble: EnsembleCluster) -> None:
    topic = make_topic(on_ensemble, "rolling-zookeepers", one_each())
    before = sessions(on_ensemble)
    with load_on(on_ensemble, topic) as load:
        for server in on_ensemble.ensemble.servers:
            server.stop()
            load.wait_for_more_in(range(PARTITIONS))
            on_ensemble.start_zookeeper()
        create_topic(on_ensemble.bootstrap, "made-after-rolling")
    assert sessions(on_ensemble) == before
    assert_load_is_there(on_ensemble, topic, load)


# One broker cut from ZooKeeper, and from nothing else


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CutOffCluster]:
    running = CutOffCluster(tmp_path_factory.mktemp("line"), overrides=OVERRIDES)
    with running.line, running:
        yield running
    assert_no_stack_traces(running)


@pytest.mark.parametrize("refuse", [False, True], ids=["silent", "refused"])
@pytest.mark.parametrize("role", ["controller and leader", "leader"])
def test_a_leader_cut_from_zookeeper_alone_is_replaced_and_acknowledges_nothing_false(cut_off: CutOffCluster, role: str, refuse: bool) -> None:
    """Producers that know only the old leader wait (it may not acknowledge what its followers no longer fetch); those that ask anybody else go on."""
    is_controller = role != "leader"
    with Witness(cut_off.zookeeper.address) as witness:
        move_controller(cut_off, witness, {0} if is_controller else {1, 2})
        old, new = (make_topic(cut_off, f"{client}-{role}-{refuse}".replace(" ", "-"), led_by(0)) for client in ("old", "new"))
        epoch = witness.controller_epoch()
        with load_on(cut_off, old) as old_client:
            with cut_off.line.cut(refuse=refuse):
                eventually(lambda: led_without(witness, old, 0) and led_without(witness, new, 0), "other leaders")
                eventually(lambda: witness.controller() in {1, 2}, "a controller that ZooKeeper can reach")
                eventually(lambda: all(0 not in told_leaders(cut_off, number, new) for number in (1, 2)), "the others know it")
                with Load(others(cut_off), new, partitions=PARTITIONS, per_second=PER_SECOND, **settings(idempotent=True)) as new_client:
                    new_client.wait_for_more_in(range(PARTITIONS))
                create_topic(others(cut_off), f"{new}-meanwhile", assignment=[[1, 2]])
            eventually(lambda: witness.session_of(0) != 0, "registered again")
            for topic in (old, new):
                wait_in_sync(cut_off, topic)
            old_client.wait_for_more_in(range(PARTITIONS), seconds=2 * DEADLINE_S)
        assert witness.controller_epoch() == epoch + is_controller
    assert_load_is_there(cut_off, old, old_client)
    assert_load_is_there(cut_off, new, new_client)
    assert cut_off.brokers[0].running


def test_a_broker_that_was_cut_off_forgets_topics_that_were_deleted_meanwhile(cut_off: CutOffCluster) -> None:
    """It has no replica of them, so their deletion did not wait for it."""
    create_topic(cut_off.bootstrap, "deleted-meanwhile", assignment=[[1, 2]])
    eventually(lambda: known(cut_off, 0, "deleted-meanwhile"), "broker 0 knows it")
    with Witness(cut_off.zookeeper.address) as witness:
        with cut_off.line.cut():
            eventually(lambda: witness.session_of(0) == 0, "its session ends")
            witness.mark_for_deletion("deleted-meanwhile")
            eventually(lambda: not witness.exists(topics.path("deleted-meanwhile")), "it is deleted")
            assert known(cut_off, 0, "deleted-meanwhile"), "nobody can have told it"
        eventually(lambda: witness.session_of(0) != 0, "registered again")
    eventually(lambda: not known(cut_off, 0, "deleted-meanwhile"), "broker 0 has forgotten it")


def told_leaders(cluster: LocalCluster, number: int, topic: str) -> set[int]:
    """Who leads the topic, as a broker tells its clients."""
    told = cluster.metadata(number, [topic])
    return {0} if told is None else {partition.leader_id for partition in told.topics[0].partitions}


def others(cluster: LocalCluster) -> str:
    """Bootstrap servers without broker 0."""
    return ",".join(f"127.0.0.1:{port}" for port in cluster.ports[1:])


def move_controller(cluster: LocalCluster, witness: Witness, candidates: set[int]) -> None:
    """Let one of these brokers be the controller: the others sleep while /controller is taken away, far shorter than a session lasts."""
    if witness.controller() in candidates:
        return
    sleeping = [broker for number, broker in enumerate(cluster.brokers) if number not in candidates]
    for broker in sleeping:
        broker.pause()
    try:
        witness.remove_controller()
        eventually(lambda: witness.controller() in candidates, f"the controller is one of {candidates}")
    finally:
        for broker in sleeping:
            broker.resume()


# Hands in ZooKeeper


def test_whoever_deletes_the_controller_znode_gets_another_controller(cut_off: CutOffCluster) -> None:
    topic = make_topic(cut_off, "controller-deleted", one_each())
    with Witness(cut_off.zookeeper.address) as witness, load_on(cut_off, topic) as load:
        for number in range(20):
            eventually(lambda: witness.controller() >= 0, "a controller")
            before = witness.controller_epoch()
            witness.remove_controller()
            eventually(lambda before=before: witness.controller_epoch() > before, "another election")  # type: ignore[misc]
            if number % 5 == 4:
                create_topic(cut_off.bootstrap, f"made-after-deletion-{number}")
        load.wait_for_more_in(range(PARTITIONS))
    assert_load_is_there(cut_off, topic, load)
    assert all(broker.running for broker in cut_off.brokers)


BROKEN: Final = b'{"version":1,"leader":'


def test_a_znode_that_cannot_be_read_is_named_and_the_others_go_on(cut_off: CutOffCluster) -> None:
    good, bad = (make_topic(cut_off, f"{kind}-json", one_each()) for kind in ("good", "bad"))
    state = partition_state.path(bad, 1)
    broken = [state, configs.topic_path(bad), reassign_partitions.PATH, preferred_replica_election.PATH, f"{isr_change_notification.CREATE_PATH}0000000099"]
    with Witness(cut_off.zookeeper.address) as witness, load_on(cut_off, good) as load:
        whole = witness.read(state)
        for path in broken:
            witness.write(path, BROKEN)
        before = witness.controller_epoch()
        witness.remove_controller()
        eventually(lambda: witness.controller_epoch() > before and witness.controller() >= 0, "a controller that reads them")
        create_topic(cut_off.bootstrap, "made-beside-broken-json")
        logs = "".join(broker.output() for broker in cut_off.brokers)
        assert f"Ignoring {state}" in logs
        make_leaderless_and_back(cut_off, witness, good)
        load.wait_for_more_in(range(PARTITIONS))
        witness.write(state, whole)
        before = witness.controller_epoch()
        witness.remove_controller()
        eventually(lambda: witness.controller_epoch() > before and witness.controller() >= 0, "a controller that reads it again")
        wait_in_sync(cut_off, bad)
    send(cut_off.bootstrap, bad, [Sent(None, b"v")] * 10, partition=1, acks="all")
    assert_load_is_there(cut_off, good, load)


def make_leaderless_and_back(cluster: LocalCluster, witness: Witness, topic: str) -> None:
    """The controller can still move this topic's leaders: a broker's session ends, and it registers again."""
    broker = (witness.controller() + 1) % 3
    session = witness.session_of(broker)
    witness.expire(broker)
    eventually(lambda: witness.session_of(broker) not in {0, session}, "registered again")
    wait_in_sync(cluster, topic)


SHORT_LIVED: Final = [f"short-lived-{number}" for number in range(4)]


def test_sessions_that_end_again_and_again_while_topics_come_and_go(cut_off: CutOffCluster) -> None:
    topic = make_topic(cut_off, "sessions-end", one_each())
    with Witness(cut_off.zookeeper.address) as witness, load_on(cut_off, topic) as load:
        for name in SHORT_LIVED:
            create_topic(cut_off.bootstrap, name, assignment=[[0, 1], [1, 2], [2, 0]])
            witness.mark_for_deletion(name)
            for number in range(3):
                witness.expire(number)
        eventually(lambda: not any(witness.exists(topics.path(name)) for name in SHORT_LIVED), "all are deleted")
        folders = [broker.directory / "data" for broker in cut_off.brokers]
        eventually(lambda: not any(list(folder.glob("short-lived-*-[0-9]")) for folder in folders), "no folder is left")
        eventually(lambda: not any(known(cut_off, number, name) for number in range(3) for name in SHORT_LIVED), "no broker tells of them")
        wait_in_sync(cut_off, topic)
        load.wait_for_more_in(range(PARTITIONS))
    assert_load_is_there(cut_off, topic, load)
    assert all(broker.running for broker in cut_off.brokers)


def known(cluster: LocalCluster, number: int, topic: str) -> bool:
    """Whether a broker tells of a topic; True where it does not answer."""
    told = cluster.metadata(number, [topic])
    return told is None or told.topics[0].error_code == ErrorCode.NONE
