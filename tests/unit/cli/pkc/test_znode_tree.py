"""What has changed in ZooKeeper's tree, and how it is drawn."""

from __future__ import annotations

from pykafka_classic.cli.pkc.znode_tree import Change, Mark, Node, change_as_json, change_of, draw, draw_changes, in_order, sort_key

NODES = {
    "/": Node(None),
    "/brokers": Node(None),
    "/brokers/ids": Node(None),
    "/brokers/ids/10": Node(b"ten", ephemeral=True),
    "/brokers/ids/2": Node(b"two", ephemeral=True),
    "/controller": Node(b'{"brokerid":2}', ephemeral=True),
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
        Change("/brokers/ids/3", None, Node(b"three", ephemeral=True)),
        Change("/controller", NODES["/controller"], Node(b"new", ephemeral=True)),
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


def test_writing_the_same_data_is_no_change_but_making_the_node_anew_is() -> None:
    assert change_of("/a", Node(b"x", version=1, mzxid=5), Node(b"x", version=2, mzxid=9)) is None
    assert change_of("/a", None, None) is None
    made_anew = change_of("/a", Node(b"x", czxid=1), Node(b"x", czxid=2))
    assert made_anew is not None and made_anew.mark is Mark.CHANGED
    assert [str(line) for line in draw_changes([made_anew], "/a")] == ["~ /a  x  (made anew)"]


def test_what_is_gone_comes_first_then_changes_in_zookeepers_order() -> None:
    gone_child, gone = Change("/a/b", Node(None), None), Change("/a", Node(None), None)
    first, second = Change("/z", None, Node(None, mzxid=5)), Change("/c", Node(b"1"), Node(b"2", mzxid=6))
    assert in_order([second, gone, first, gone_child]) == [gone_child, gone, first, second]


def test_names_by_the_alphabet_and_numbers_before_them_by_value() -> None:
    assert sorted(["/b", "/10", "/a", "/9"], key=sort_key) == ["/9", "/10", "/a", "/b"]


def test_changes_as_json() -> None:
    assert change_as_json(Change("/a", None, Node(b"\xff", ephemeral=True))) == {"change": "+", "path": "/a", "ephemeral": True, "data": "\\xff"}
    assert change_as_json(Change("/a", Node(b"x"), None)) == {"change": "-", "path": "/a", "ephemeral": False, "before": "x"}
    assert change_as_json(Change("/a", Node(None), Node(b"y"))) == {"change": "~", "path": "/a", "ephemeral": False, "data": "y", "before": None}
