"""The fence, and the election transaction."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from pykafka_classic.common.promise import spawn
from pykafka_classic.common.zookeeper import Code, Create, Delete, Result, SessionExpired, SetData
from pykafka_classic.controller.controller_context import ControllerContext
from pykafka_classic.controller.zk_client import (
    UNGROUPED_WRITES_MAX,
    WRITES_PER_TRANSACTION,
    ControllerMoved,
    ControllerZkClient,
    KeeperError,
    expect,
)
from tests.fakes.zookeeper import FakeZooKeeper, FakeZooKeeperServer


class Setting:
    """A server, one client, and the controller's client over it."""

    def __init__(self) -> None:
        self.server = FakeZooKeeperServer()
        self.zk: FakeZooKeeper = self.server.connect()
        self.context = ControllerContext()
        self.client = ControllerZkClient(self.zk, self.context)

    def become_controller(self) -> None:
        """Win the election and remember the fence."""
        self.context.epoch, self.context.epoch_zk_version = self.run(self.client.register_controller_and_increment_epoch(1, now_ms=5))

    @staticmethod
    def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
        """The outcome of a coroutine that has nothing to wait for."""
        return spawn(coroutine).result()


@pytest.fixture
def setting() -> Setting:
    return Setting()


def test_the_first_controller_ever_has_epoch_1_and_version_1(setting: Setting) -> None:
    setting.become_controller()
    assert (setting.context.epoch, setting.context.epoch_zk_version) == (1, 1)
    assert setting.server.data("/controller_epoch") == b"1"


def test_controller_and_epoch_are_written_in_one_transaction(setting: Setting) -> None:
    setting.become_controller()
    create, increment = setting.server.log[-2:]
    assert (create.path, increment.path) == ("/controller", "/controller_epoch")
    assert create.zxid == increment.zxid
    assert create.ephemeral


def test_a_later_election_continues_the_epochs(setting: Setting) -> None:
    setting.server.put("/controller_epoch", b"41")
    setting.become_controller()
    assert setting.context.epoch == 42


def test_losing_the_race_raises_controller_moved(setting: Setting) -> None:
    setting.server.put("/controller", b'{"version":1,"brokerid":2,"timestamp":"1"}')
    with pytest.raises(ControllerMoved):
        setting.become_controller()


def test_an_epoch_raised_between_read_and_write_raises_controller_moved(setting: Setting) -> None:
    setting.server.put("/controller_epoch", b"3")
    setting.server.held = True
    outcome = spawn(setting.client.register_controller_and_increment_epoch(1, now_ms=5))
    setting.zk.process_one()  # the read of /controller_epoch
    setting.zk.receive_one()
    setting.server.put("/controller_epoch", b"4")
    setting.server.deliver()
    assert isinstance(outcome.error(), ControllerMoved)


def test_an_election_whose_answer_was_lost_is_recognised_as_won(setting: Setting) -> None:
    setting.server.held = True
    outcome = spawn(setting.client.register_controller_and_increment_epoch(1, now_ms=5))
    for _ in range(2):  # read the epoch, create the epoch's node
        setting.zk.process_one()
        setting.zk.receive_one()
    setting.zk.process_one()  # the transaction is done ...
    setting.zk.disconnect()  # ... and its answer is lost
    setting.server.held = False
    setting.zk.reconnect()
    assert outcome.result() == (1, 1)


def test_two_first_brokers_create_the_epoch_node_once(setting: Setting) -> None:
    setting.server.held = True
    outcome = spawn(setting.client.register_controller_and_increment_epoch(1, now_ms=5))
    setting.zk.process_one()
    setting.zk.receive_one()  # no such node
    setting.server.put("/controller_epoch", b"0")
    setting.server.deliver()
    assert outcome.result() == (1, 1)


def test_a_fenced_write_passes_while_the_epoch_stands(setting: Setting) -> None:
    setting.become_controller()
    [created] = setting.run(setting.client.fenced([Create("/x")]))
    assert created.ok
    assert setting.server.exists("/x")


def test_a_fenced_write_of_a_deposed_controller_raises_and_writes_nothing(setting: Setting) -> None:
    setting.become_controller()
    setting.server.put("/controller_epoch", b"2")
    with pytest.raises(ControllerMoved):
        setting.run(setting.client.fenced([Create("/x")]))
    assert not setting.server.exists("/x")


def test_a_fenced_write_that_fails_for_another_reason_keeps_its_own_code(setting: Setting) -> None:
    setting.become_controller()
    setting.server.put("/x", b"1")
    results = setting.run(setting.client.fenced([Create("/x"), SetData("/x", b"2", 9), Delete("/y"), SetData("/x", b"2", 0)]))
    assert [result.code for result in results] == [Code.NODE_EXISTS, Code.BAD_VERSION, Code.NO_NODE, Code.OK]


def test_deleting_fenced_accepts_nodes_that_are_gone(setting: Setting) -> None:
    setting.become_controller()
    setting.run(setting.client.delete_fenced(["/never/was"]))


def test_the_controllers_own_node_is_deleted_under_the_epoch_that_won_it(setting: Setting) -> None:
    setting.become_controller()
    version = setting.context.epoch_zk_version
    setting.context.reset()
    setting.run(setting.client.delete_controller(version))
    assert not setting.server.exists("/controller")


def test_there_is_no_controller_id_without_the_node_and_its_creation_is_watched(setting: Setting) -> None:
    assert setting.run(setting.client.controller_id(watch=True)) is None
    assert "/controller" in setting.server.watches(setting.zk.session_id)[0]


def test_an_expired_session_is_an_exception(setting: Setting) -> None:
    setting.server.held = True
    outcome = spawn(setting.client.get("/x"))
    setting.zk.expire(renew=False)
    assert isinstance(outcome.error(), SessionExpired)


def test_nothing_is_sent_between_the_end_of_a_session_and_its_acknowledgement(setting: Setting) -> None:
    setting.client.session_expired()
    with pytest.raises(SessionExpired):
        setting.run(setting.client.get("/controller"))
    setting.client.session_acknowledged()
    assert setting.run(setting.client.get("/controller")).code is Code.NO_NODE


def test_an_answer_that_comes_after_the_end_of_its_session_is_not_believed(setting: Setting) -> None:
    setting.server.held = True
    outcome = spawn(setting.client.get("/controller"))
    setting.zk.process_one()
    setting.client.session_expired()
    setting.zk.receive_one()
    assert isinstance(outcome.error(), SessionExpired)


def test_an_unexpected_code_is_an_exception_that_names_the_path() -> None:
    with pytest.raises(KeeperError, match="NO_AUTH for /secret"):
        expect(Result(Code.NO_AUTH, "/secret"), Code.NO_NODE)


# Many writes


def transactions(setting: Setting) -> list[int]:
    """How many writes each transaction of the log had, in order."""
    sizes: dict[int, int] = {}
    for change in setting.server.log:
        if change.path.startswith("/x"):
            sizes[change.zxid] = sizes.get(change.zxid, 0) + 1
    return list(sizes.values())


def test_few_writes_are_a_transaction_each(setting: Setting) -> None:
    setting.become_controller()
    setting.run(setting.client.fenced([Create(f"/x{index}") for index in range(UNGROUPED_WRITES_MAX)]))
    assert transactions(setting) == [1] * UNGROUPED_WRITES_MAX


def test_many_writes_share_transactions_and_keep_their_order(setting: Setting) -> None:
    setting.become_controller()
    results = setting.run(setting.client.fenced([Create(f"/x{index:03d}") for index in range(60)]))
    assert all(result.ok for result in results)
    assert transactions(setting) == [WRITES_PER_TRANSACTION, WRITES_PER_TRANSACTION, 10]
    created = [change.path for change in setting.server.log if change.path.startswith("/x")]
    assert created == sorted(created)


def test_a_write_that_fails_spoils_only_itself(setting: Setting) -> None:
    setting.become_controller()
    setting.server.put("/x007", b"was here")
    results = setting.run(setting.client.fenced([Create(f"/x{index:03d}") for index in range(60)]))
    assert [index for index, result in enumerate(results) if not result.ok] == [7]
    assert results[7].code is Code.NODE_EXISTS
    assert all(setting.server.exists(f"/x{index:03d}") for index in range(60))


def test_parents_that_exist_already_do_not_keep_their_children_from_being_created(setting: Setting) -> None:
    setting.become_controller()
    setting.server.put("/x0")
    parents = [Create(f"/x{index}") for index in range(30)]
    children = [Create(f"/x{index}/child") for index in range(30)]
    results = setting.run(setting.client.fenced(parents + children))
    assert [result.code for result in results] == [Code.NODE_EXISTS] + [Code.OK] * 59


def test_many_writes_of_a_deposed_controller_raise_and_write_nothing(setting: Setting) -> None:
    setting.become_controller()
    setting.server.put("/controller_epoch", b"2")
    with pytest.raises(ControllerMoved):
        setting.run(setting.client.fenced([Create(f"/x{index}") for index in range(60)]))
    assert transactions(setting) == []


def test_each_of_many_answers_belongs_to_its_write(setting: Setting) -> None:
    setting.become_controller()
    for index in range(60):
        for _ in range(index % 3):
            setting.server.put(f"/x{index}", b"again")
        setting.server.put(f"/x{index}", b"once more")
    versions = [setting.server.stat(f"/x{index}").version for index in range(60)]
    results = setting.run(setting.client.fenced([SetData(f"/x{index}", b"new", version) for index, version in enumerate(versions)]))
    assert [result.stat.version for result in results] == [version + 1 for version in versions]
