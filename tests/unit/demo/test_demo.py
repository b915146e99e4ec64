"""The parts of the demo that count, draw and read: a wrong sum would make the whole story worthless."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykafka_classic.demo.flights import ROWS, number_of, read_flights
from pykafka_classic.demo.places import offer_monitor
from pykafka_classic.demo.reading import Account, account
from pykafka_classic.demo.witness import expired_sessions, notable_lines
from pykafka_classic.demo.znode_tree import ZNode, draw
from pykafka_classic.monitor.process import read_settings
from pykafka_classic.testing.cluster import LocalCluster

UA, AA = b"UA", b"AA"


def test_all_rows_of_the_data_set_are_read_and_numbered() -> None:
    flights = read_flights()
    assert len(flights) == ROWS
    assert flights[0].carrier == UA
    assert flights[0].value.startswith(b"0,2013,1,1,517,")
    assert number_of(flights[-1].value) == ROWS - 1


@pytest.mark.parametrize(
    ("places", "found", "expected"),
    [
        ({0: (0, 0), 1: (0, 1)}, [(0, 0, 0, UA), (1, 0, 1, UA)], Account(2, 2, lost=0, duplicates=0, misplaced=0, out_of_order=0)),
        ({0: (0, 0), 1: (0, 1)}, [(0, 0, 0, UA)], Account(2, 1, lost=1, duplicates=0, misplaced=1, out_of_order=0)),
        ({0: (0, 0)}, [(0, 0, 0, UA), (0, 0, 1, UA)], Account(1, 2, lost=0, duplicates=1, misplaced=0, out_of_order=0)),
        ({0: (0, 1)}, [(0, 0, 0, UA)], Account(1, 1, lost=0, duplicates=0, misplaced=1, out_of_order=0)),
        ({}, [(5, 0, 0, UA)], Account(0, 1, lost=0, duplicates=0, misplaced=0, out_of_order=0)),
        ({}, [(1, 0, 0, UA), (0, 0, 1, UA), (0, 0, 2, AA)], Account(0, 3, lost=0, duplicates=1, misplaced=0, out_of_order=1)),
    ],
    ids=["all there", "one lost", "one twice", "elsewhere", "not acknowledged but there", "order"],
)
def test_account_tells_what_is_wrong(places: dict[int, tuple[int, int]], found: list[tuple[int, int, int, bytes]], expected: Account) -> None:
    assert account(places, found) == expected


def test_tree_is_drawn_with_branches_and_shortened_data() -> None:
    tree = ZNode("/", None, False, (ZNode("a", b"x" * 50, False, (ZNode("b", b"", True, ()),)), ZNode("c", b"1", False, ())))
    assert list(draw(tree, width=20)) == ["/", "├── a  xxxxxxxxxx...", "│   └── b (ephemeral)", "└── c  1"]


def test_expired_sessions_are_found_in_zookeepers_log() -> None:
    log = "2026-11-21T09:16:15.055516212Z SessionTracker INFO Expiring session 0x10000a, timeout of 6000ms exceeded\n"
    [seen] = expired_sessions(log)
    assert (seen.time_ms, seen.what) == (1795252575055.516, "session 0x10000a expired: no heartbeat for 6000 ms")


def test_notable_lines_of_a_broker_are_shortened_and_the_others_left_out() -> None:
    log = (
        "[2026-11-21 09:16:16,458] INFO [Controller id=0] Broker failure callback for 1 (kafka.controller.KafkaController)\n"
        "[2026-11-21 09:16:16,459] INFO [Controller id=0] Registering handlers (kafka.controller.KafkaController)\n"
        "[2026-11-21 09:16:16,460] INFO [Partition t-0 broker=0] Leader t-0 starts at leader epoch 1 from offset 5 with high watermark 4 (state)\n"
    )
    seen = list(notable_lines(0, log, lambda text: True))
    assert [each.what for each in seen] == [
        "[Controller id=0] Broker failure callback for 1",
        "[Partition t-0 broker=0] Leader t-0 starts at leader epoch 1 from offset 5",
    ]
    assert seen[1].time_ms - seen[0].time_ms == 2


def test_the_monitor_is_offered_with_a_configuration_that_it_understands(tmp_path: Path) -> None:
    cluster = LocalCluster(tmp_path, brokers=3)
    sentence = offer_monitor(cluster)
    path = tmp_path / "monitor.properties"
    assert f"tools/kafka-eagle.sh start {path} " in sentence and sentence.endswith("http://127.0.0.1:8048/")
    settings = read_settings(path, tmp_path)
    assert settings.keys.port == 8048 and settings.store_path == tmp_path / "monitor" / "monitor.db"
    assert [(each.zookeeper, len(each.events)) for each in settings.clusters] == [(cluster.zookeeper.address, 3)]
