"""The order of cause, whatever the clocks say."""

from __future__ import annotations

import ast
import random
from itertools import count
from typing import Any

from pykafka_classic.common.broker_events import KINDS
from pykafka_classic.monitor.store.answers import BrokerEvent, Gap, ZNodeChange
from pykafka_classic.monitor.store.rows import ChangeKind
from pykafka_classic.monitor.timeline import TimelineLine, folded, order, timeline, with_causes
from pykafka_classic.monitor.writers import WRITERS, writer_of
from tests.unit.common.test_broker_events import PACKAGE, functions
from zk_schema import partition_state
from zk_schema.partition_state import TopicPartitionStateZNode

NUMBERS = count(1)
SESSION = "0x1000a"
BROKER = b'{"endpoints":["PLAINTEXT://h:1"],"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"jmx_port":-1,"features":{},"timestamp":"1","version":5}'


def event(t_ms: int, broker: int, name: str, subject: str, **facts: Any) -> BrokerEvent:
    return BrokerEvent(next(NUMBERS), t_ms, broker, name, subject, 0, facts)


def change(t_ms: int, zxid: int, path: str, kind: ChangeKind, data: bytes | None = None, **others: Any) -> ZNodeChange:
    return ZNodeChange(next(NUMBERS), path, kind, t_ms, t_ms, zxid, others.get("version", 0), others.get("owner", 0), data, others.get("before"))


def state(leader: int, epoch: int, *isr: int) -> bytes:
    return partition_state.encode(TopicPartitionStateZNode(leader, epoch, isr, 1))


def a_leader_dies(skew_ms: dict[int, int]) -> tuple[list[ZNodeChange], list[BrokerEvent]]:
    """Broker 1, controller broker 2, new leader broker 3; each broker's clock is `skew_ms` ahead of ZooKeeper's. All within 10 ms."""
    path = "/brokers/topics/flights/partitions/0/state"
    row = {"partition": "flights-0", "leader": 3, "leader_epoch": 5}

    def at(broker: int, t_ms: int) -> int:
        return 1_000_000 + t_ms + skew_ms.get(broker, 0)

    changes = [
        change(1_000_000, 50, "/brokers/ids/1", ChangeKind.REMOVED, BROKER, owner=0x1000A),
        change(1_000_004, 51, path, ChangeKind.WRITTEN, state(3, 5, 3, 2), version=7, before=state(1, 4, 1, 2, 3)),
    ]
    events = [
        event(at(2, 1), 2, "watch-fired", "controller", path="/brokers/ids", watch="children", controller_event="BrokerChange"),
        event(at(2, 1), 2, "controller-event", "controller", controller_event="BrokerChange", controller_epoch=1),
        event(at(2, 2), 2, "brokers-changed", "controller", new=[], dead=[1], bounced=[], alive=[2, 3]),
        event(at(2, 5), 2, "leader-elected", "flights-0", strategy="OfflinePartition", before=1, isr=[3, 2], zk_version=7, unclean=False, **row),
        event(at(2, 5), 2, "state-written", "flights-0", controller_epoch=1, isr=[3, 2], zk_version=7, **row),
        event(at(2, 6), 2, "leader-and-isr-sent", "flights-0", to=3, controller_epoch=1, isr=[3, 2], zk_version=7, **row),
        event(at(3, 7), 3, "leader-and-isr-applied", "flights-0", log_end=10, high_watermark=9, **row),
        event(at(3, 8), 3, "high-watermark-advanced", "flights-0", partition="flights-0", leader_epoch=5, to=10, epoch_start=10),
    ]
    return changes, events


CHAIN = [
    "session-ended",
    "broker-left",
    "watch-fired",
    "controller-event",
    "brokers-changed",
    "leader-elected",
    "state-written",
    "leader-moved",
    "isr-shrunk",
    "leader-and-isr-sent",
    "leader-and-isr-applied",
    "high-watermark-advanced",
]


def test_the_death_of_a_leader_is_told_in_order_of_cause() -> None:
    changes, events = a_leader_dies({})
    assert [line.name for line in timeline(changes, events)] == CHAIN


def test_clocks_that_differ_and_lines_in_any_order_change_nothing() -> None:
    for skew in ({2: -40}, {2: 60, 3: -200}, {2: -900, 3: 700}):
        changes, events = a_leader_dies(skew)
        random.Random(str(skew)).shuffle(events)
        assert [line.name for line in timeline(reversed(changes), events)] == CHAIN


def test_each_line_links_znode_code_and_page() -> None:
    changes, events = a_leader_dies({})
    by_name = {line.name: line for line in timeline(changes, events)}
    moved = by_name["leader-moved"]
    assert (moved.path, moved.code, moved.page) == (
        "/brokers/topics/flights/partitions/0/state",
        "controller/zk_partition_states.py:PartitionStates.update",
        "controller.md",
    )
    assert moved.sentence == "Leader of flights-0 moved from broker 1 to broker 3 (version 7, zxid 0x33)"
    assert by_name["session-ended"].sentence == "Session 0x1000a of broker 1 has ended: it expired, or its owner closed it"
    assert by_name["brokers-changed"].code == KINDS["brokers-changed"].places[0]


def test_a_session_that_was_closed_on_purpose_is_no_alarm() -> None:
    changes, events = a_leader_dies({})
    events.append(event(999_000, 1, "broker-stopping", "broker 1", session=SESSION))
    ended = next(line for line in timeline(changes, events) if line.name == "session-ended")
    assert (ended.sentence, ended.alarming) == ("Session 0x1000a of broker 1 was closed by its owner", False)


def test_what_a_partition_went_through_is_told_with_what_led_to_it() -> None:
    changes, events = a_leader_dies({2: -5})
    others = [change(1_000_002, 52, "/config/topics/x", ChangeKind.CREATED, b'{"version":1,"config":{"retention.ms":"1"}}')]
    lines = timeline([*changes, *others], events)
    assert [line.name for line in with_causes(lines, "flights-0")] == CHAIN
    assert [line.name for line in with_causes(lines, "topic x")] == ["config-changed"]


def test_changes_of_znodes_keep_the_order_of_their_transactions() -> None:
    changes = [change(2_000 - zxid, zxid, f"/a{zxid}", ChangeKind.CREATED, b"") for zxid in range(1, 6)]
    assert [line.path for line in timeline(changes, [])] == ["/a1", "/a2", "/a3", "/a4", "/a5"]


def test_causes_in_a_circle_do_not_lose_a_line() -> None:
    lines = timeline(
        [],
        [
            event(5, 1, "isr-shrink", "a-0", partition="a-0", to=[1]),
            event(6, 1, "state-written", "a-0", partition="a-0", isr=[1], leader_epoch=1, zk_version=1),
        ],
    )
    assert len(lines) == 2
    circle = [TimelineLine("x", 1, "m", "x", "", needs=("b",), gives=("a",)), TimelineLine("y", 2, "m", "y", "", needs=("a",), gives=("b",))]
    assert [line.id for line in order(circle)] == ["x", "y"]


def test_one_step_of_many_partitions_is_folded() -> None:
    events = [event(1_000, 2, "leader-and-isr-sent", f"t-{n}", to=3, partition=f"t-{n}", leader=1, leader_epoch=1, isr=[1]) for n in range(5)]
    lines = folded(timeline([], events))
    assert [line.sentence.endswith("; 3 more like this") for line in lines] == [False, True]
    assert {"t-0", "t-4"} <= {subject for line in lines for subject in line.subjects}


def test_times_without_a_monitor_are_told() -> None:
    (line,) = timeline([], [], gaps=[Gap(1_000, 61_000)])
    assert line.sentence == "No monitor looked for 60.0 s: of what happened until now only the outcome was seen"


def test_every_place_in_the_code_exists() -> None:
    for code in [writer.code for _, writer in WRITERS]:
        module, _, function = code.partition(":")
        assert function in dict(functions(ast.parse((PACKAGE / module).read_text()))), code
    assert all((PACKAGE.parent / "docs" / writer.page).exists() for _, writer in WRITERS)
    assert writer_of("/nobody/knows") == ("", "")
