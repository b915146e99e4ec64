"""Blocks of producer ids, claimed in ZooKeeper by compare-and-set. facts/coordination.md 6.3."""

from __future__ import annotations

import json

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.zookeeper import Create
from pykafka_classic.server.producer_id_manager import ProducerIdManager
from tests.fakes.zookeeper import FakeZooKeeperServer

PATH = "/latest_producer_id_block"
BLOCK = 1000


@pytest.fixture
def server() -> FakeZooKeeperServer:
    made = FakeZooKeeperServer()
    made.connect().submit([Create(PATH)]).result()
    return made


def generate(manager: ProducerIdManager) -> Promise[int]:
    return spawn(manager.generate())


def test_the_first_broker_takes_the_first_thousand_ids(server: FakeZooKeeperServer) -> None:
    manager = ProducerIdManager(7, server.connect())
    assert [generate(manager).result() for _ in range(3)] == [0, 1, 2]
    assert json.loads(server.data(PATH) or b"") == {"version": 1, "broker": 7, "block_start": "0", "block_end": "999"}


def test_brokers_have_blocks_of_their_own_and_go_on_behind_the_others(server: FakeZooKeeperServer) -> None:
    first, second = ProducerIdManager(1, server.connect()), ProducerIdManager(2, server.connect())
    assert [generate(first).result(), generate(second).result()] == [0, BLOCK]
    ids = [generate(first).result() for _ in range(BLOCK)]
    assert (ids[-2], ids[-1]) == (BLOCK - 1, 2 * BLOCK)


def test_two_that_claim_at_once_do_not_get_the_same_block(server: FakeZooKeeperServer) -> None:
    first, second = ProducerIdManager(1, server.connect()), ProducerIdManager(2, server.connect())
    server.held = True
    answers = [generate(first), generate(second)]
    server.deliver()
    assert sorted(answer.result() for answer in answers) == [0, BLOCK]


def test_a_session_that_ends_meanwhile_is_not_the_producers_concern(server: FakeZooKeeperServer) -> None:
    zk = server.connect()
    manager = ProducerIdManager(1, zk)
    server.held = True
    answer = generate(manager)
    zk.expire()
    server.deliver()
    assert answer.result() == 0


def test_a_closed_client_is_not_asked_for_ever(server: FakeZooKeeperServer) -> None:
    zk = server.connect()
    zk.close()
    with pytest.raises(KafkaError) as raised:
        generate(ProducerIdManager(1, zk)).result()
    assert raised.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE
