"""What has changed in ZooKeeper's tree, and how it is drawn."""

from __future__ import annotations

from pykafka_classic.cli.pkc.znode_tree import change_as_json, draw, draw_changes
from pykafka_classic.monitor.znodes import Change, Node

NODES = {
    "/": Node(None),
    "/brokers": Node(None),
    "/brokers/ids": Node(None),
    "/brokers/ids/10": Node(b"ten", ephemeral_owner=7),
    "/brokers/ids/2": Node(b"two", ephemeral_owner=7),
    "/controller": Node(b'{"brokerid":2}', ephemeral_owner=7),
}


def test_a_tree_is_drawn_with_what_nodes_hold_numbers_by_value() -> None:
    assert [line.text for line in draw(NODES)] == [
        "/",
        "├── brokers",
        "│   └── ids",
        "│       ├── 2 *  two",
        "│       └── 10 *  ten",
        '└── controller *  {"brokerid":2}',
    ]


def test_a_part_of_a_tree_begins_with_its_path() -> None:
    assert [line.text for line in draw({path: NODES[path] for path in ("/brokers/ids", "/brokers/ids/2")}, "/brokers/ids")] == ["/brokers/ids", "└── 2 *  two"]


def test_lines_are_cut_where_the_screen_ends_and_control_characters_are_blanks() -> None:
    nodes = {"/": Node(None), "/a": Node(b"0123456789\n\t0123456789")}
    assert [line.text for line in draw(nodes, width=20)] == ["/", "└── a  0123456789..."]
    assert [line.text for line in draw(nodes)][1] == "└── a  0123456789 0123456789"


def test_only_branches_with_changes_are_drawn_with_their_marks() -> None:
    changes = [
        Change("/brokers/ids/2", NODES["/brokers/ids/2"], None),
        Change("/brokers/ids/3", None, Node(b"three", ephemeral_owner=7)),
        Change("/controller", NODES["/controller"], Node(b"new", ephemeral_owner=7)),
    ]
    assert [str(line) for line in draw_changes(changes)] == [
        "  /",
        "  ├── brokers",
        "  │   └── ids",
        "- │       ├── 2 *  two",
        "+ │       └── 3 *  three",
        '~ └── controller *  new  (was {"brokerid":2})',
    ]


def test_a_changed_root_has_its_mark() -> None:
    assert [str(line) for line in draw_changes([Change("/a/b", Node(b"1"), Node(b"2"))], "/a/b")] == ["~ /a/b  2  (was 1)"]


def test_a_node_that_was_made_anew_is_drawn_as_such() -> None:
    assert [str(line) for line in draw_changes([Change("/a", Node(b"x", czxid=1), Node(b"x", czxid=2))], "/a")] == ["~ /a  x  (made anew)"]


def test_changes_as_json() -> None:
    assert change_as_json(Change("/a", None, Node(b"\xff", ephemeral_owner=7))) == {"change": "+", "path": "/a", "ephemeral": True, "data": "\\xff"}
    assert change_as_json(Change("/a", Node(b"x"), None)) == {"change": "-", "path": "/a", "ephemeral": False, "before": "x"}
    assert change_as_json(Change("/a", Node(None), Node(b"y"))) == {"change": "~", "path": "/a", "ephemeral": False, "data": "y", "before": None}
