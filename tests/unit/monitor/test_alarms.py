"""When alarms begin and end."""

from __future__ import annotations

import json

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.alarms import AlarmBook, Health, Reading, readings_of_disks, readings_of_groups, readings_of_state
from pykafka_classic.monitor.notify import as_json, as_letter
from pykafka_classic.monitor.settings import MonitorKeys
from pykafka_classic.monitor.store.rows import KAFKA, AlarmCleared, AlarmRaised, GroupSample, LogDirRow

RULES = ("r",)


def too_large(value: float, *, after_ms: int = 100) -> Reading:
    """Above 10 it is too large, below 8 well again."""
    return Reading("r", "s", value, f"it is {value}", limit=10, clear_below=8, after_ms=after_ms)


def ringing(book: AlarmBook, values: dict[int, float | None]) -> list[str]:
    """What begins (+) and ends (-) at which time, for values by time; None: nothing was read."""
    told = []
    for t_ms, value in values.items():
        changes = book.update([] if value is None else [too_large(value)], RULES, t_ms)
        told += [f"{'+' if isinstance(each, AlarmRaised) else '-'}{t_ms}" for each in changes]
    return told


def test_what_is_wrong_for_long_enough_rings_once() -> None:
    assert ringing(AlarmBook("c", 50), {0: 11, 50: 12, 99: 13, 100: 14, 150: 15}) == ["+100"]


def test_what_was_well_in_between_begins_to_count_anew() -> None:
    assert ringing(AlarmBook("c", 50), {0: 11, 60: 10, 90: 11, 120: 11, 189: 11, 190: 11}) == ["+190"]


def test_an_alarm_ends_only_after_the_value_was_well_below_its_limit_for_a_while() -> None:
    assert ringing(AlarmBook("c", 50), {0: 11, 100: 11, 120: 9, 200: 9, 210: 7, 240: 8, 250: 7, 299: 7, 300: 7}) == ["+100", "-300"]
    assert ringing(AlarmBook("c", 50), {0: 11, 100: 11, 110: None, 160: None}) == ["+100", "-160"]


def test_rules_that_were_not_looked_at_keep_their_alarms() -> None:
    book = AlarmBook("c", 0, on=[("r", "s")])
    assert book.update([], ("other",), 10) == []
    assert book.on == {("r", "s")}
    assert book.update([], RULES, 20) == [AlarmCleared("c", "r", "s", 20)]
    assert book.on == frozenset()


def health(**changes: object) -> Health:
    flights, boats = TopicPartition("flights", 0), TopicPartition("boats", 1)
    fields: dict[str, object] = {
        "replicas": {flights: (1, 2), boats: (2, 3)},
        "leaders": {flights: 1, boats: 2},
        "in_sync": {flights: (1, 2), boats: (2, 3)},
        "alive": frozenset({1, 2, 3}),
        "has_controller": True,
    }
    return Health(**(fields | changes))  # type: ignore[arg-type]  # the fields are those of Health


def told(state: Health, keys: MonitorKeys | None = None) -> dict[str, tuple[str, float]]:
    """Rules of readings that are too large: subject and value."""
    return {each.rule: (each.subject, each.value) for each in readings_of_state(state, keys or MonitorKeys()) if each.value > each.limit}


def test_the_state_of_a_cluster_as_readings() -> None:
    assert told(health()) == {}
    assert told(health(in_sync={TopicPartition("flights", 0): (1,)})) == {"under-replicated": ("cluster", 2)}
    assert told(health(leaders={TopicPartition("flights", 0): -1})) == {"offline-partition": ("cluster", 1)}
    assert told(health(alive=frozenset({1, 2}))) == {"broker-gone": ("broker 3", 1)}
    assert told(health(has_controller=False)) == {"no-controller": ("cluster", 1)}
    assert told(health(has_controller=False), MonitorKeys(alarm_no_controller_after_ms=-1)) == {}


def test_groups_and_disks_as_readings() -> None:
    samples = [GroupSample("g", KAFKA, "t", 0, 5, 30, 4_000, True), GroupSample("g", KAFKA, "t", 1, 5, 20, 1_000, True)]
    assert readings_of_groups(samples, 10_000, MonitorKeys()) == []
    records, age = readings_of_groups(samples, 10_000, MonitorKeys(alarm_group_lag_records=40, alarm_group_lag_ms=5_000))
    assert (records.value, records.limit, records.clear_below, records.sentence) == (50, 40, 32, "Group g: 50 records behind")
    assert (age.value, age.limit) == (9_000, 5_000)
    (disk,) = readings_of_disks([LogDirRow(1, "/d", 5, total=1000, usable=50), LogDirRow(2, "/e", 5)], MonitorKeys())
    assert (disk.subject, disk.limit, disk.clear_below) == ("broker 1:/d", 90, 81)
    assert disk.value == pytest.approx(95)


def test_notices_as_json_and_as_letters() -> None:
    raised = AlarmRaised("local", "broker-gone", "broker 3", 1000, "Broker 3 has replicas, and is not registered", 1)
    assert as_json(raised) == {
        "version": 1,
        "cluster": "local",
        "rule": "broker-gone",
        "subject": "broker 3",
        "time_ms": 1000,
        "status": "raised",
        "sentence": "Broker 3 has replicas, and is not registered",
        "value": 1,
    }
    letter = as_letter(AlarmCleared("local", "broker-gone", "broker 3", 2000), MonitorKeys(alarm_email_to=("a@x", "b@x")))
    assert (letter["Subject"], letter["To"]) == ("[kafka local] over: broker-gone, broker 3", "a@x, b@x")
    sentence, _, body = letter.get_content().partition("\n\n")
    assert sentence == "The alarm broker-gone about broker 3 is over."
    assert json.loads(body)["status"] == "cleared"
