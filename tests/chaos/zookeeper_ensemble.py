"""Longer faults of an ensemble of three ZooKeepers, under load; about four minutes.

    python -m pytest tests/chaos/zookeeper_ensemble.py         (make faults)

The stories are those of tests/integration/test_zookeeper_faults.py, longer and repeated.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.conftest import assert_no_stack_traces
from tests.integration.ensemble import EnsembleCluster
from tests.integration.foreign import create_topic
from tests.integration.test_failover import PARTITIONS, make_topic, wait_in_sync
from tests.integration.test_zookeeper_faults import OVERRIDES, assert_load_is_there, load_on, lose_majority, one_each
from tests.integration.witness import Witness


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnsembleCluster]:
    with EnsembleCluster(tmp_path_factory.mktemp("ensemble"), overrides=OVERRIDES) as running:
        yield running
    assert_no_stack_traces(running)


def test_a_majority_lost_for_a_minute(ensemble: EnsembleCluster) -> None:
    lose_majority(ensemble, make_topic(ensemble, "minute", one_each()), 60.0)


def test_leaders_of_the_ensemble_die_one_after_the_other_while_brokers_do_too(ensemble: EnsembleCluster) -> None:
    topic = make_topic(ensemble, "both-die", one_each())
    with load_on(ensemble, topic) as load:
        for number in range(6):
            victim = ensemble.ensemble.leader()
            ensemble.brokers[number % 3].kill()
            victim.kill()
            load.wait_for_more_in(range(PARTITIONS), seconds=60)
            ensemble.start_zookeeper()
            ensemble.restart(number % 3)
            wait_in_sync(ensemble, topic)
            create_topic(ensemble.bootstrap, f"made-after-{number}")
    assert_load_is_there(ensemble, topic, load)


def test_sessions_end_while_the_ensemble_restarts(ensemble: EnsembleCluster) -> None:
    topic = make_topic(ensemble, "restart-and-expiry", one_each())
    with load_on(ensemble, topic) as load:
        for server in ensemble.ensemble.servers * 2:
            server.stop()
            with Witness(ensemble.ensemble.address) as witness:
                for number in range(3):
                    witness.expire(number)
            ensemble.start_zookeeper()
            load.wait_for_more_in(range(PARTITIONS), seconds=60)
        wait_in_sync(ensemble, topic)
    assert_load_is_there(ensemble, topic, load)
    assert all(broker.running for broker in ensemble.brokers)
