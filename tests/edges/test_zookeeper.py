"""The ZooKeeper adapter against a real server: requests, multis, watches, one session. (Losing connections and sessions: test_zookeeper_sessions.)"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pykafka_classic.common.zookeeper import (
    Check,
    Code,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Result,
    SetData,
    WatchEvent,
    WatchKind,
)
from pykafka_classic.edges.child_processes import free_ports
from pykafka_classic.edges.processes import ZooKeeperProcess
from pykafka_classic.edges.zookeeper import ZooKeeperSettings, ZooKeeperUnavailable
from tests.edges.reactor_thread import ReactorThread
from tests.edges.zookeeper_client import Client

Connect = Callable[..., Client]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperProcess]:
    process = ZooKeeperProcess(tmp_path_factory.mktemp("zookeeper"), {"tickTime": "200"})
    process.start()
    process.wait_serving()
    yield process
    process.kill()


@pytest.fixture
def connect(server: ZooKeeperProcess, reactor_thread: ReactorThread, request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Make connected clients; each test has a chroot of its own."""
    clients: list[Client] = []

    def make(chroot: str = f"/{request.node.name}", max_in_flight: int = 10) -> Client:
        clients.append(Client(reactor_thread, ZooKeeperSettings(server.address + chroot, session_timeout_ms=3000, max_in_flight=max_in_flight)).connect())
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(connect: Connect) -> Client:
    return connect()


def test_created_data_is_read_back_with_its_stat(client: Client) -> None:
    assert client.one(Create("/a", b"one")) == Result(Code.OK, "/a")
    answer = client.one(GetData("/a"))
    assert (answer.code, answer.data) == (Code.OK, b"one")
    assert answer.stat is not None
    assert (answer.stat.version, answer.stat.data_length, answer.stat.ephemeral_owner, answer.stat.num_children) == (0, 3, 0, 0)
    assert answer.stat.czxid == answer.stat.mzxid > 0


@pytest.mark.parametrize("data", [None, b"", b"x"])
def test_null_is_not_empty_data(client: Client, data: bytes | None) -> None:
    client.submit(Create("/plain", data), Multi((Create("/multi", data),)), Create("/set", b"something"), SetData("/set", data))
    assert [answer.data for answer in client.submit(GetData("/plain"), GetData("/multi"), GetData("/set"))] == [data] * 3


def test_conditional_write_needs_the_version(client: Client) -> None:
    client.one(Create("/a"))
    answer = client.one(SetData("/a", b"1", version=0))
    assert answer.stat is not None
    assert (answer.code, answer.stat.version) == (Code.OK, 1)
    assert client.one(SetData("/a", b"2", version=0)).code is Code.BAD_VERSION
    assert client.one(Delete("/a", version=0)).code is Code.BAD_VERSION
    assert client.one(Delete("/a", version=1)).code is Code.OK


def test_errors_are_codes(client: Client) -> None:
    answers = client.submit(
        GetData("/no"),
        Exists("/no"),
        GetChildren("/no"),
        SetData("/no", b""),
        Delete("/no"),
        Create("/no/child"),
        Create("/a"),
        Create("/a"),
        Create("/a/b"),
        Delete("/a"),
    )
    assert [answer.code.name for answer in answers] == ["NO_NODE"] * 6 + ["OK", "NODE_EXISTS", "OK", "NOT_EMPTY"]


def test_ephemeral_node_has_no_children_and_belongs_to_the_session(client: Client) -> None:
    client.one(Create("/e", b"", ephemeral=True))
    answer = client.one(Exists("/e"))
    assert answer.stat is not None
    assert answer.stat.ephemeral_owner == client.zk.session_id != 0
    assert client.one(Create("/e/child")).code is Code.NO_CHILDREN_FOR_EPHEMERALS


def test_close_removes_ephemeral_nodes_at_once(connect: Connect, client: Client) -> None:
    other = connect()
    other.one(Create("/e", ephemeral=True))
    client.one(Exists("/e", watch=True))
    other.close()
    assert client.one(Exists("/e")).code is Code.NO_NODE
    client.wait_told(WatchEvent(WatchKind.DELETED, "/e"))


def test_sequential_nodes_are_told_their_names(client: Client) -> None:
    assert [answer.path for answer in client.submit(*[Create("/s_", b"", sequential=True)] * 2)] == ["/s_0000000000", "/s_0000000001"]


def test_children_are_listed(client: Client) -> None:
    client.submit(Create("/p"), Create("/p/a"), Create("/p/b"))
    assert sorted(client.one(GetChildren("/p")).children) == ["a", "b"]
    assert sorted(client.one(GetChildren("/")).children) == ["p"]


def test_multi_does_all(client: Client) -> None:
    client.one(Create("/epoch", b"0"))
    answer = client.one(Multi((Check("/epoch", 0), Create("/c", b"", ephemeral=True), SetData("/epoch", b"1", version=0), Delete("/c"))))
    assert answer.ok
    assert [each.code for each in answer.results] == [Code.OK] * 4
    assert [each.path for each in answer.results] == ["/epoch", "/c", "/epoch", "/c"]
    stat = answer.results[2].stat
    assert stat is not None and stat.version == 1


def test_registration_multi_tells_the_czxid(client: Client) -> None:
    """Kafka registers a broker by create (null) and set in one multi, and takes the czxid as broker epoch."""
    answer = client.one(Multi((Create("/id", None, ephemeral=True), SetData("/id", b"{}", version=0))))
    stat, read = answer.results[1].stat, client.one(GetData("/id"))
    assert read.stat is not None and stat is not None
    assert stat.czxid == read.stat.czxid == read.stat.mzxid


def test_failed_multi_does_nothing_and_names_the_culprit(client: Client) -> None:
    client.one(Create("/a"))
    answer = client.one(Multi((Create("/b"), Check("/a", 7), Delete("/a"))))
    assert answer.code is Code.BAD_VERSION
    assert [each.code for each in answer.results] == [Code.OK, Code.BAD_VERSION, Code.RUNTIME_INCONSISTENCY]
    assert [each.code for each in client.submit(Exists("/a"), Exists("/b"))] == [Code.OK, Code.NO_NODE]


def test_multi_whose_first_operation_fails_names_it(client: Client) -> None:
    assert client.one(Multi((Delete("/no"), Create("/b")))).code is Code.NO_NODE


def test_watch_tells_of_the_next_change_only(connect: Connect, client: Client) -> None:
    other = connect()
    client.submit(Create("/a"), GetData("/a", watch=True))
    other.submit(SetData("/a", b"1"), SetData("/a", b"2"))
    client.one(GetData("/a"))
    client.wait_told(WatchEvent(WatchKind.CHANGED, "/a"))


def test_watch_for_creation_is_set_by_exists_but_not_by_get(connect: Connect, client: Client) -> None:
    other = connect()
    client.submit(Exists("/a", watch=True), GetData("/b", watch=True))
    other.submit(Create("/a"), Create("/b"))
    client.one(Exists("/b"))
    client.wait_told(WatchEvent(WatchKind.CREATED, "/a"))


def test_child_watch_tells_of_comers_and_goers(connect: Connect, client: Client) -> None:
    other = connect()
    client.one(GetChildren("/", watch=True))
    other.one(Create("/a"))
    client.one(GetChildren("/", watch=True))
    other.one(Delete("/a"))
    client.one(GetChildren("/"))
    client.wait_told(*[WatchEvent(WatchKind.CHILDREN, "/")] * 2)


def test_deletion_is_told_once_to_data_and_child_watch(connect: Connect, client: Client) -> None:
    other = connect()
    client.submit(Create("/a"), GetData("/a", watch=True), GetChildren("/a", watch=True))
    other.one(Delete("/a"))
    client.one(Exists("/a"))
    client.wait_told(WatchEvent(WatchKind.DELETED, "/a"))


def test_watch_event_comes_before_an_answer_that_shows_the_change(client: Client) -> None:
    client.submit(Create("/a"), GetData("/a", watch=True))
    seen = []
    for number in range(50):
        answers = client.submit(SetData("/a", b"%d" % number), GetData("/a", watch=True))
        seen.append((len(client.told), answers[1].data))
    assert seen == [(number + 1, b"%d" % number) for number in range(50)]


def test_answers_come_in_the_order_of_the_requests_under_load(connect: Connect) -> None:
    client = connect(max_in_flight=100)
    client.one(Create("/p"))
    answers = client.submit(*(Create("/p/n", b"%d" % number, sequential=True) for number in range(3000)))
    assert [answer.path for answer in answers] == [f"/p/n{number:010}" for number in range(3000)]
    assert client.one(GetData("/p/n0000002999")).data == b"2999"


def test_requests_made_inside_a_listener_or_callback_are_answered(client: Client) -> None:
    answers: list[Result] = []

    def again(event: WatchEvent) -> None:
        client.zk.submit([GetData(event.path)]).then(lambda results: client.zk.submit([Delete("/a")]).then(lambda last: answers.extend([*results, *last])))

    client.zk.add_watch_listener(again)
    client.submit(Create("/a"), GetData("/a", watch=True), SetData("/a", b"new"), Exists("/a"))
    client.one(Exists("/a"))
    client.one(Exists("/a"))
    assert [(answer.code, answer.data) for answer in answers] == [(Code.OK, b"new"), (Code.OK, None)]


def test_chroot_is_created_with_all_its_parents(connect: Connect, server: ZooKeeperProcess, reactor_thread: ReactorThread) -> None:
    deep = connect("/some/where/deep")
    deep.one(Create("/x", b"here"))
    root = Client(reactor_thread, ZooKeeperSettings(server.address)).connect()
    assert root.one(GetData("/some/where/deep/x")).data == b"here"
    root.close()


def test_request_that_zookeeper_would_choke_on_is_refused(client: Client) -> None:
    answers = client.submit(Create("/a", bytes(2_000_000)), Create("no slash"), Create("/\udcff"), Create("/fine"))
    assert [answer.code for answer in answers] == [Code.BAD_ARGUMENTS] * 3 + [Code.OK]


def test_path_that_zookeeper_does_not_allow_is_answered(client: Client) -> None:
    assert client.one(Create("/\x01")).code is Code.BAD_ARGUMENTS


def test_no_requests_are_answered_with_no_answers(client: Client) -> None:
    assert client.submit() == []


def test_requests_after_close_are_answered_expired(connect: Connect) -> None:
    client = connect()
    client.close()
    assert client.one(Exists("/")).code is Code.SESSION_EXPIRED


def test_unreachable_zookeeper_is_told_with_address_and_key(reactor_thread: ReactorThread) -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    with pytest.raises(ZooKeeperUnavailable, match=rf"no answer from ZooKeeper at {address} within 300 ms \(zookeeper.connection.timeout.ms\)"):
        Client(reactor_thread, ZooKeeperSettings(address, connection_timeout_ms=300)).connect()
