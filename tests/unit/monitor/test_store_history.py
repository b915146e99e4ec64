"""The state of a cluster at any second, out of the changes of its znodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pykafka_classic.monitor.store.answers import Span
from pykafka_classic.monitor.store.rows import ChangeKind
from tests.unit.monitor.stores import CLUSTER, ms, world
from zk_schema import controller, controller_epoch

BROKER = (
    b'{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://host:9092"],"jmx_port":-1,"features":{},'
    b'"timestamp":"1","version":5}'
)


def test_isr_and_leader_are_told_as_they_were_at_a_moment(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.write(0, here.topic("flights", 0, [1, 2, 3]), here.state("flights", 0, 1, 1, [1, 2, 3]))
        here.write(10, here.state("flights", 0, 10, 1, [1, 2], epoch=1))
        here.write(20, here.state("flights", 0, 20, 2, [2], epoch=2))
        seen = [here.reader.partitions_at(CLUSTER, ms(second)) for second in (0.5, 9.999, 10, 19, 20, 99)]
        assert [(each[0].leader, each[0].isr, each[0].leader_epoch) for each in seen] == [
            (-1, (), -1),
            (1, (1, 2, 3), 0),
            (1, (1, 2), 1),
            (1, (1, 2), 1),
            (2, (2,), 2),
            (2, (2,), 2),
        ]
        assert [each[0].since_ms for each in seen[1:]] == [ms(1), ms(10), ms(10), ms(20), ms(20)]
        assert seen[0][0].offline and not seen[1][0].under_replicated and seen[2][0].under_replicated
        assert here.reader.partitions_at(CLUSTER, ms(-1)) == ()


def test_a_history_is_the_latest_first_and_ends_where_the_span_does(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.write(0, here.topic("flights", 0, [1, 2]), *(here.state("flights", 0, 10 * epoch, 1, [1, 2], epoch=epoch) for epoch in range(5)))
        told = here.reader.partition_history(CLUSTER, "flights", 0, Span(ms(10), ms(30)))
        assert [(each.leader_epoch, each.zk_version, each.replicas) for each in told] == [(3, 3, (1, 2)), (2, 2, (1, 2)), (1, 1, (1, 2))]
        assert [each.leader_epoch for each in here.reader.partition_history(CLUSTER, "flights", 0, Span(limit=2))] == [4, 3]


def test_a_broker_that_is_gone_is_told_with_its_session_and_when_it_left(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.write(0, here.row("/brokers/ids/3", 0, BROKER, owner=0x1000A), here.row("/brokers/ids/2", 0, BROKER, owner=-1))
        here.write(7, here.row("/brokers/ids/3", 7, BROKER, ChangeKind.REMOVED, owner=0x1000A))
        two, three = here.reader.brokers_at(CLUSTER)
        assert (three.broker, three.alive, three.session, three.registered_ms, three.address) == (3, False, "0x1000a", ms(7), "host:9092")
        assert (two.broker, two.alive, two.session) == (2, True, "0xffffffffffffffff")
        assert here.reader.brokers_at(CLUSTER, ms(6))[1].alive


def test_controllers_with_their_epochs(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        for number, second in ((1, 0), (2, 30)):
            node = controller.encode(controller.ControllerZNode(number, ms(second)))
            epoch = here.row(controller_epoch.PATH, second, controller_epoch.encode(number), ChangeKind.WRITTEN)
            here.write(second, replace(here.row(controller.PATH, second, node, owner=9), zxid=epoch.zxid), epoch)  # one transaction writes both
            here.write(second + 10, here.row(controller.PATH, second + 10, node, ChangeKind.REMOVED, owner=9))
        told = here.reader.controller_history(CLUSTER)
        assert [(each.broker, each.epoch) for each in told] == [(None, None), (2, 2), (None, None), (1, 1)]
        at = here.reader.controller_at(CLUSTER, ms(31))
        assert at is not None and (at.broker, at.epoch, at.since_ms) == (2, 2, ms(30))


def test_the_tree_as_it_was(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.write(0, here.row("/", 0, b""), here.row("/a", 0, b"1"), here.row("/a/b", 0, b"2"), here.row("/a-b", 0, b"3"))
        here.write(5, here.row("/a/b", 5, b"2", ChangeKind.REMOVED), here.row("/a", 5, b"9", ChangeKind.WRITTEN, version=1))
        assert [(each.path, each.children) for each in here.reader.tree_at(CLUSTER, "/", ms(1))] == [("/", 2), ("/a", 1), ("/a/b", 0), ("/a-b", 0)]
        assert [(each.path, each.data) for each in here.reader.tree_at(CLUSTER, "/a")] == [("/a", b"9")]
        assert [each.path for each in here.reader.children_at(CLUSTER, "/", ms(1))] == ["/a", "/a-b"]
        changes = here.reader.znode_history(CLUSTER, "/a")
        assert [(each.kind, each.data, each.before, each.version) for each in changes] == [
            (ChangeKind.WRITTEN, b"9", b"1", 1),
            (ChangeKind.CREATED, b"1", None, 0),
        ]


def test_nodes_that_hold_nonsense_are_left_out_of_what_is_read_out_of_them(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.write(0, here.topic("good", 0, [1]), here.row("/brokers/topics/bad", 0, b"{"), here.row("/brokers/ids/1", 0, b"no json"))
        here.write(0, here.row("/brokers/topics/good/partitions/0/state", 0, b"[]"))
        assert [(each.topic, each.leader) for each in here.reader.partitions_at(CLUSTER)] == [("good", -1)]
        assert here.reader.brokers_at(CLUSTER) == ()
