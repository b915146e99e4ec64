"""The fake ensemble's tree: answers, versions, multis."""

from __future__ import annotations

from pykafka_classic.common.zookeeper import Check, Code, Create, Delete, Exists, GetChildren, GetData, Multi, Request, Result, SetData, Stat
from tests.fakes.znode_tree import Outcome, ZNodeTree


class _Tree:
    def __init__(self, *paths: str) -> None:
        self.tree = ZNodeTree()
        for path in paths:
            assert self.ask(Create(path)).ok

    def outcome(self, request: Request, *, session: int = 1, now_ms: int = 0) -> Outcome:
        return self.tree.apply(request, session=session, now_ms=now_ms)

    def ask(self, request: Request, *, session: int = 1, now_ms: int = 0) -> Result:
        return self.outcome(request, session=session, now_ms=now_ms).result

    def stat(self, path: str) -> Stat:
        stat = self.ask(Exists(path)).stat
        assert stat is not None
        return stat


def test_null_data_is_not_empty_data() -> None:
    tree = _Tree()
    tree.ask(Create("/null"))
    tree.ask(Create("/empty", b""))
    assert tree.ask(GetData("/null")).data is None
    assert tree.ask(GetData("/empty")).data == b""


def test_a_new_node_has_the_zxid_and_time_of_its_creation() -> None:
    tree = _Tree()
    tree.ask(Create("/a", b"xyz"), now_ms=5)
    assert tree.stat("/a") == Stat(1, 1, 5, 5, 0, 0, 0, 3, 0)


def test_setting_data_counts_the_version_up() -> None:
    tree = _Tree("/a")
    assert tree.ask(SetData("/a", b"1", 0), now_ms=9).ok
    assert tree.ask(SetData("/a", b"2")).ok
    stat = tree.stat("/a")
    assert (stat.version, stat.czxid, stat.mzxid, stat.data_length) == (2, 1, 3, 1)


def test_a_wrong_version_changes_nothing() -> None:
    tree = _Tree("/a")
    assert tree.ask(SetData("/a", b"1", 4)).code is Code.BAD_VERSION
    assert tree.ask(Delete("/a", 4)).code is Code.BAD_VERSION
    assert (tree.ask(GetData("/a")).data, tree.stat("/a").version) == (None, 0)


def test_an_absent_node_is_answered_no_node() -> None:
    tree = _Tree()
    for request in (GetData("/a"), Exists("/a"), GetChildren("/a"), SetData("/a", b""), Delete("/a"), Create("/a/b")):
        assert tree.ask(request).code is Code.NO_NODE


def test_a_node_is_created_only_once() -> None:
    tree = _Tree("/a")
    assert tree.ask(Create("/a", b"x")).code is Code.NODE_EXISTS


def test_a_node_with_children_is_not_deleted() -> None:
    tree = _Tree("/a", "/a/b")
    assert tree.ask(Delete("/a")).code is Code.NOT_EMPTY
    assert tree.ask(Delete("/a/b")).ok
    assert tree.ask(Delete("/a")).ok


def test_an_ephemeral_has_an_owner_and_no_children() -> None:
    tree = _Tree()
    tree.ask(Create("/e", ephemeral=True), session=8)
    assert tree.stat("/e").ephemeral_owner == 8
    assert tree.ask(Create("/e/child")).code is Code.NO_CHILDREN_FOR_EPHEMERALS


def test_children_are_listed_by_name_and_counted() -> None:
    tree = _Tree("/a", "/a/y", "/a/x", "/a/x/z")
    tree.ask(Delete("/a/y"))
    assert tree.ask(GetChildren("/a")).children == ("x",)
    assert (tree.stat("/a").cversion, tree.stat("/a").num_children) == (3, 1)


def test_a_sequence_counts_all_children_ever_created() -> None:
    tree = _Tree("/a", "/a/plain")
    assert tree.ask(Create("/a/n_", sequential=True)).path == "/a/n_0000000001"
    tree.ask(Delete("/a/n_0000000001"))
    assert tree.ask(Create("/a/", sequential=True)).path == "/a/0000000002"


def test_malformed_paths_are_bad_arguments() -> None:
    tree = _Tree("/a")
    for path in ("", "a", "/a/", "//a", "/a/../b", "/."):
        assert tree.ask(Create(path)).code is Code.BAD_ARGUMENTS, path
    assert tree.ask(Delete("/")).code is Code.BAD_ARGUMENTS


def test_a_multi_sees_its_own_earlier_operations_and_has_one_zxid() -> None:
    tree = _Tree("/a")
    outcome = tree.outcome(Multi((Create("/a/b"), SetData("/a/b", b"x", 0), Check("/a", 0))))
    assert outcome.result.ok
    assert [result.code for result in outcome.result.results] == [Code.OK] * 3
    assert {(change.zxid, change.multi) for change in outcome.changes} == {(2, True)}
    assert [change.event for change in outcome.changes] == ["create", "change", "check"]
    assert tree.stat("/a/b").version == 1


def test_a_failed_multi_changes_nothing_and_says_which_operation_failed() -> None:
    tree = _Tree("/a", "/a/old")
    before = dict(tree.tree.nodes)
    outcome = tree.outcome(Multi((Create("/a/b"), Delete("/a/old"), SetData("/a", b"x"), Check("/a", 0), Create("/c"))))
    assert outcome.result.code is Code.BAD_VERSION
    assert [result.code for result in outcome.result.results] == [Code.OK, Code.OK, Code.OK, Code.BAD_VERSION, Code.RUNTIME_INCONSISTENCY]
    assert (tree.tree.nodes, outcome.changes, outcome.triggers) == (before, [], [])


def test_the_end_of_a_session_removes_its_ephemerals_in_one_transaction() -> None:
    tree = _Tree("/a")
    for path in ("/a/1", "/b"):
        tree.ask(Create(path, ephemeral=True), session=7)
    tree.ask(Create("/other", ephemeral=True), session=8)
    outcome = tree.tree.close_session(7)
    assert [(change.event, change.path, change.closed) for change in outcome.changes] == [("delete", "/a/1", True), ("delete", "/b", True)]
    assert len({change.zxid for change in outcome.changes}) == 1
    assert set(tree.tree.nodes) == {"/", "/a", "/other"}
