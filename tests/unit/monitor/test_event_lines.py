"""Lines of events.log as rows."""

from __future__ import annotations

from pathlib import Path

from pykafka_classic.common.broker_events import KINDS, EventLine
from pykafka_classic.monitor.collector.broker_events import EventFile
from pykafka_classic.monitor.collector.event_lines import ROWS, rows_of
from pykafka_classic.monitor.event_sentences import SENTENCES
from pykafka_classic.monitor.store.rows import EventPosition, EventRow
from tests.fakes.clock import FakeClock


def line(name: str, **facts: object) -> bytes:
    """As broker 3 writes it."""
    return EventLine(name, facts).written(1000, 3).encode() + b"\n"


def test_an_event_is_a_row_with_its_subject() -> None:
    assert list(rows_of(line("group-empty", group="g", generation=4))) == [EventRow(1000, 3, "group-empty", "group g", {"group": "g", "generation": 4})]
    assert [each.subject for each in rows_of(line("session-expired", session="0x1"))] == ["broker 3"]
    assert [each.subject for each in rows_of(line("controller-elected", controller_epoch=1, zk_version=0))] == ["controller"]


def test_a_line_about_many_partitions_is_a_row_for_each() -> None:
    rows = list(rows_of(line("state-written", controller_epoch=2, partitions=[["a-0", 1, 5, [1, 2], 7], ["b-1", -1, 3, [3], 9]])))
    assert [each.subject for each in rows] == ["a-0", "b-1"]
    assert rows[0].facts == {"controller_epoch": 2, "partition": "a-0", "leader": 1, "leader_epoch": 5, "isr": [1, 2], "zk_version": 7}


def test_events_are_found_in_log_files_and_what_is_none_is_passed_over() -> None:
    whole = b"[2026-01-01 12:00:00,000] INFO " + line("group-empty", group="g", generation=4).rstrip() + b" (kafka.events)"
    assert [each.name for each in rows_of(whole)] == ["group-empty"]
    for nothing in (b"", b"[2026] INFO started (kafka)", b'{"time_ms":1,"broker":', b'{"time_ms":1}', b'{"time_ms":"x","broker":1,"event":"y"}'):
        assert list(rows_of(nothing)) == []


def test_every_kind_has_a_sentence_and_kinds_about_many_partitions_their_rows() -> None:
    assert SENTENCES.keys() == KINDS.keys()
    assert {name for name, kind in KINDS.items() if "partitions" in kind.facts} == ROWS.keys()


class Reading:
    """A file that is read, and what came of it."""

    def __init__(self, path: Path, position: EventPosition | None = None) -> None:
        self.clock = FakeClock()
        self.groups: list[str] = []
        self.position = position
        self.file = EventFile(3, path, position, self.clock, self._told)
        self.file.start()

    def _told(self, rows: object, position: EventPosition) -> None:
        assert isinstance(rows, list)
        self.groups += [row.facts["group"] for row in rows]
        self.position = position

    def look(self) -> list[str]:
        """What came since the last look; enough looks for several files."""
        before = len(self.groups)
        for _ in range(6):
            self.clock.advance(500)
        return self.groups[before:]


def test_what_is_new_is_read_once_and_an_incomplete_line_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    reading = Reading(path)
    assert reading.look() == []
    with path.open("ab") as log:
        log.write(line("group-empty", group="a", generation=1) + b'{"time_ms":5,"broker":3,')
        log.flush()
        assert reading.look() == ["a"]
        log.write(b'"event":"group-empty","group":"b","generation":1}\n')
    assert reading.look() == ["b"]
    assert reading.look() == []
    reading.file.stop()


def test_files_that_are_rolled_are_read_to_their_ends(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    path.write_bytes(line("group-empty", group="a", generation=1))
    reading = Reading(path)
    assert [*reading.groups, *reading.look()] == ["a"]
    with path.open("ab") as log:
        log.write(line("group-empty", group="b", generation=1))
    path.rename(tmp_path / "events.log.1")
    path.write_bytes(line("group-empty", group="c", generation=1))
    assert reading.look() == ["b", "c"]
    reading.file.stop()


def test_a_later_life_goes_on_where_the_earlier_one_stopped_also_in_a_rolled_file(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    path.write_bytes(line("group-empty", group="a", generation=1))
    first = Reading(path)
    first.look()
    first.file.stop()
    with path.open("ab") as log:
        log.write(line("group-empty", group="b", generation=1))
    path.rename(tmp_path / "events.log.1")
    path.write_bytes(line("group-empty", group="c", generation=1))
    second = Reading(path, first.position)
    assert [*second.groups, *second.look()] == ["b", "c"]
    second.file.stop()


def test_a_file_that_was_emptied_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    path.write_bytes(line("group-empty", group="a", generation=1) * 2)
    reading = Reading(path)
    reading.look()
    path.write_bytes(line("group-empty", group="z", generation=1))
    assert reading.look() == ["z"]
    reading.file.stop()
