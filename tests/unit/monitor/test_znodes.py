"""Nodes of ZooKeeper between two looks."""

from __future__ import annotations

from pykafka_classic.monitor.znodes import Change, Mark, Node, change_of, in_order, sort_key


def test_every_write_is_a_change_but_people_see_only_those_of_the_data() -> None:
    rewritten = change_of("/a", Node(b"x", version=1, mzxid=5), Node(b"x", version=2, mzxid=9))
    assert rewritten is not None and rewritten.zxid == 9 and not rewritten.is_visible
    assert change_of("/a", Node(b"x", mzxid=5, pzxid=1), Node(b"x", mzxid=5, pzxid=2)) is None
    assert change_of("/a", None, None) is None


def test_a_node_that_was_made_anew_has_changed() -> None:
    made_anew = change_of("/a", Node(b"x", czxid=1), Node(b"x", czxid=2))
    assert made_anew is not None and made_anew.mark is Mark.CHANGED and made_anew.is_visible


def test_changes_come_in_the_order_of_transactions_and_what_is_gone_the_deepest_first() -> None:
    gone_child, gone = Change("/a/b", Node(None), None, 5), Change("/a", Node(None), None, 5)
    first, second = Change("/z", None, Node(None, mzxid=4), 4), Change("/c", Node(b"1"), Node(b"2", mzxid=6), 6)
    child, parent = Change("/q/r", None, Node(None), 7), Change("/q", None, Node(None), 7)
    assert in_order([second, gone, first, child, gone_child, parent]) == [first, gone_child, gone, second, parent, child]


def test_names_by_the_alphabet_and_numbers_before_them_by_value() -> None:
    assert sorted(["/b", "/10", "/a", "/9"], key=sort_key) == ["/9", "/10", "/a", "/b"]
