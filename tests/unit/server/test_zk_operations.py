"""The ZooKeeper idioms of the broker."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import spawn
from pykafka_classic.common.zookeeper import Code, Create, Result
from pykafka_classic.server.zk_operations import children_or_none, create_persistent_paths, data_or_none, raise_unless, set_or_create
from tests.fakes.zookeeper import FakeZooKeeperServer


@pytest.fixture
def server() -> FakeZooKeeperServer:
    return FakeZooKeeperServer()


def test_a_client_whose_broker_lost_its_session_is_sent_to_the_new_controller() -> None:
    with pytest.raises(KafkaError, match="session ended before /config/topics/t was answered") as raised:
        raise_unless(Result(Code.SESSION_EXPIRED, "/config/topics/t"))
    assert raised.value.code is ErrorCode.NOT_CONTROLLER


def test_other_words_of_zookeeper_are_an_unknown_server_error() -> None:
    with pytest.raises(KafkaError, match="BAD_VERSION for /a") as raised:
        raise_unless(Result(Code.BAD_VERSION, "/a"))
    assert raised.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_accepted_codes_are_no_failure() -> None:
    result = Result(Code.NO_NODE, "/a")
    assert raise_unless(result, Code.NO_NODE) is result


def test_paths_are_created_parents_first_without_data_and_existing_ones_are_left_alone(server: FakeZooKeeperServer) -> None:
    zk = server.connect()
    zk.submit([Create("/brokers", b"mine")]).result()
    spawn(create_persistent_paths(zk, ["/brokers/ids", "/brokers/seqid"])).result()
    assert server.data("/brokers") == b"mine"
    assert [server.data(path) for path in ("/brokers/ids", "/brokers/seqid")] == [None, None]


def test_set_or_create_makes_the_node_with_its_parents_and_then_overwrites_it(server: FakeZooKeeperServer) -> None:
    zk = server.connect()
    spawn(set_or_create(zk, "/consumers/g/offsets/t/0", b"1")).result()
    spawn(set_or_create(zk, "/consumers/g/offsets/t/0", b"2")).result()
    assert server.data("/consumers/g/offsets/t/0") == b"2"


def test_set_or_create_goes_on_where_somebody_else_was_faster(server: FakeZooKeeperServer) -> None:
    ours, theirs = server.connect(), server.connect()
    theirs.submit([Create("/a")]).result()
    server.held = True
    written = spawn(set_or_create(ours, "/a/b", b"ours"))
    ours.process_one()  # the first write finds no node
    theirs.submit([Create("/a/b", b"theirs")])
    theirs.process_one()
    server.deliver()
    written.result()
    assert server.data("/a/b") == b"ours"


def test_missing_nodes_have_neither_data_nor_children(server: FakeZooKeeperServer) -> None:
    zk = server.connect()
    assert spawn(data_or_none(zk, "/gone")).result() is None
    assert spawn(children_or_none(zk, "/gone")).result() == ()
