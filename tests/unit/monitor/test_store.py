"""The file: written by one, read by many, brought up to date, tidied."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from pykafka_classic.monitor.retention import MINUTE_MS, TEN_MINUTES_MS, Retention, Thinning
from pykafka_classic.monitor.settings import DAY_MS, HOUR_MS, MonitorKeys
from pykafka_classic.monitor.store.answers import Gap, Span
from pykafka_classic.monitor.store.connections import StoreInUse, StoreMissing, open_for_reading, open_for_writing
from pykafka_classic.monitor.store.maintenance import tidy
from pykafka_classic.monitor.store.queries import UnknownCluster
from pykafka_classic.monitor.store.reader import StoreReader
from pykafka_classic.monitor.store.rows import (
    KAFKA,
    Batch,
    ChangeKind,
    ConfigRow,
    EventPosition,
    EventRow,
    GroupSample,
    GroupStateRow,
    MemberRow,
    PartitionSample,
)
from pykafka_classic.monitor.store.schema import MIGRATIONS, VERSION_1, StoreTooNew, migrate, version_of
from pykafka_classic.monitor.store.writer import StoreWriter
from tests.unit.monitor.stores import CLUSTER, T0, World, ms, world


def sample(here: World, second: float, end: int, size: int = 0) -> None:
    """A sample of flights-0, and of group g, that has read half of it."""
    group = GroupSample("g", KAFKA, "flights", 0, end // 2, end - end // 2, ms(second) - 1_000, exact=True)
    here.batch(Batch(CLUSTER, ms(second), partitions=[PartitionSample("flights", 0, 0, end, size)], groups=[group]))


def count(here: World, table: str) -> int:
    ((number,),) = here.reader.rows(f"SELECT count(*) FROM {table}")
    assert isinstance(number, int)
    return number


def test_rates_are_those_of_the_last_interval_also_after_a_quiet_time(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        for second, end in ((0, 100), (5, 100), (10, 100), (15, 200)):
            sample(here, second, end, end * 10)
        points = here.reader.partition_samples(CLUSTER, "flights", 0, Span(ms(0)))
        assert [(each.t_ms, each.log_end, each.records_per_s, each.bytes_per_s) for each in points] == [
            (ms(0), 100, None, None),
            (ms(10), 100, 0.0, 0.0),
            (ms(15), 200, 20.0, 200.0),
        ]
        assert here.reader.ends_at(CLUSTER, ms(12))["flights", 0].log_end == 100
        assert here.reader.ends_at(CLUSTER)["flights", 0].records_per_s == 20.0
        assert [each.records_per_s for each in here.reader.rates(CLUSTER, ms(5), ms(15), points=2)] == [0.0, 20.0]


def test_lag_is_told_in_records_and_in_time_up_to_the_last_look(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        sample(here, 10, 100)
        here.now_ms = ms(30)
        here.batch(Batch(CLUSTER, ms(30)))
        (lag,) = here.reader.group_lag(CLUSTER, "g")
        assert (lag.committed, lag.lag, lag.lag_ms, lag.exact) == (50, 50, 21_000, True)
        assert [each.lag_ms for each in here.reader.group_lag(CLUSTER, "g", ms(12))] == [3_000]
        assert [(each.group, each.lag) for each in here.reader.lag_ranking(CLUSTER)] == [("g", 50)]
        assert [each.lag_ms for each in here.reader.lag_history(CLUSTER, "g", Span())] == [1_000]


def test_states_are_written_where_they_change_and_groups_that_are_gone_are_no_longer_listed(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        for second, state in ((1, "Stable"), (2, "Stable"), (3, "Empty")):
            here.batch(Batch(CLUSTER, ms(second), group_states=[GroupStateRow("g", state, "range", 1, ())]))
        assert [(each.state, each.since_ms) for each in here.reader.group_history(CLUSTER, "g")] == [("Empty", ms(3)), ("Stable", ms(1))]
        here.batch(Batch(CLUSTER, ms(4), gone_groups=["g"]))
        assert here.reader.groups_at(CLUSTER) == ()
        assert [each.state for each in here.reader.groups_at(CLUSTER, ms(3))] == ["Empty"]


def test_a_later_life_knows_what_was_written(tmp_path: Path) -> None:
    member = MemberRow("m", "c", "h", None, (("t", 0),))
    batch = Batch(
        CLUSTER,
        ms(1),
        group_states=[GroupStateRow("g", "Stable", "range", 1, (member,))],
        configs=[ConfigRow("topic", "t", {"a": ("1", "X"), "p": (None, "Y")})],
    )
    for second in (1, 2):
        with world(tmp_path) as here:
            here.batch(replace(batch, t_ms=ms(second)))
            assert (count(here, "group_state"), count(here, "config_state")) == (1, 1)
            assert here.reader.groups_at(CLUSTER)[0].members == (member,)
            config = here.reader.config_at(CLUSTER, "topic", "t")
            assert config is not None and config.entries == {"a": ("1", "X"), "p": (None, "Y")}


def test_events_and_the_place_up_to_which_they_were_read_are_one_transaction(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        row = EventRow(ms(1), 3, "isr-shrink", "flights-0", {"to": [1]})
        here.batch(Batch(CLUSTER, ms(1), events=[row], event_positions=[EventPosition(3, 77, 1000)]))
        assert [(each.broker, each.subject, each.facts) for each in here.reader.broker_events(CLUSTER, Span())] == [(3, "flights-0", {"to": [1]})]
        assert here.reader.event_positions(CLUSTER) == {3: EventPosition(3, 77, 1000)}


def test_a_store_of_version_1_becomes_one_of_today_and_keeps_what_it_has(tmp_path: Path) -> None:
    old = open_for_writing(tmp_path / "monitor.db")
    migrate(old, (VERSION_1,))
    old.execute("INSERT INTO cluster (name, zookeeper, state, state_ms) VALUES ('here', 'zk', 'connected', 1)")
    old.close()
    with world(tmp_path) as here:
        assert [each.name for each in here.reader.clusters()] == ["here"]
        connection = open_for_reading(here.path)
        assert version_of(connection) == len(MIGRATIONS)
        connection.close()


def test_a_store_of_a_newer_monitor_is_left_alone(tmp_path: Path) -> None:
    newer = open_for_writing(tmp_path / "monitor.db")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(StoreTooNew, match="has version 99; this monitor knows up to"):
        StoreWriter(tmp_path / "monitor.db", lambda: T0)


def test_the_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        sample(here, 1, 1)
        rights = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir() if path.name.startswith("monitor.db")}
        assert {"monitor.db", "monitor.db-wal"} <= rights.keys()
        assert set(rights.values()) == {0}


def test_one_writer_only(tmp_path: Path) -> None:
    with world(tmp_path) as here, pytest.raises(StoreInUse, match="Another monitor uses the store"):
        StoreWriter(here.path, lambda: T0)
    StoreWriter(here.path, lambda: T0).close()


def test_readers_cannot_write_and_say_what_is_missing(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            here.reader.rows("DELETE FROM cluster")
        with pytest.raises(UnknownCluster, match="knows no cluster 'there'"):
            here.reader.brokers_at("there")
    with pytest.raises(StoreMissing):
        StoreReader(tmp_path / "none.db").clusters()


def test_ten_readers_never_find_the_store_locked(tmp_path: Path) -> None:
    errors: list[Exception] = []
    written = threading.Event()

    def read(here: World) -> None:
        reader = StoreReader(here.path)
        try:
            while not written.is_set():
                reader.ends_at(CLUSTER)
                reader.tree_at(CLUSTER)
        except Exception as error:
            errors.append(error)
        finally:
            reader.close_own()

    with world(tmp_path) as here:
        here.write(0, here.topic("flights", 0, [1]))
        threads = [threading.Thread(target=read, args=(here,)) for _ in range(10)]
        for thread in threads:
            thread.start()
        for second in range(1, 51):
            sample(here, second, second)
        written.set()
        for thread in threads:
            thread.join()
    assert errors == []


def test_the_time_between_two_lives_is_a_gap(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        sample(here, 10, 1)
    with world(tmp_path) as again:
        again.now_ms = ms(60)
        assert again.reader.gaps() == (Gap(ms(10), T0),)  # this test's clock begins anew at T0


def test_what_fails_is_lost_alone(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.writer.put(replace(Batch("nobody", ms(1)), cluster=CLUSTER, partitions=[PartitionSample("flights", 0, 0, None, 0)]))  # type: ignore[arg-type]
        here.writer.flush()
        assert here.writer.rows_lost == 1
        sample(here, 2, 5)
        assert here.reader.ends_at(CLUSTER)["flights", 0].log_end == 5


def test_thinning_is_due_once_for_each_bucket() -> None:
    retention = Retention(MonitorKeys())
    now = T0 // TEN_MINUTES_MS * TEN_MINUTES_MS
    assert retention.thinnings(now) == [Thinning(0, now - 2 * HOUR_MS, MINUTE_MS), Thinning(0, now - 2 * DAY_MS, TEN_MINUTES_MS)]
    assert retention.thinnings(now + MINUTE_MS - 1) == []
    assert retention.thinnings(now + MINUTE_MS) == [Thinning(now - 2 * HOUR_MS, now - 2 * HOUR_MS + MINUTE_MS, MINUTE_MS)]


def test_old_samples_are_thinned_and_very_old_ones_go(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        for second in range(0, 300, 5):
            sample(here, second, second)
        assert count(here, "partition_sample") == 60
        tidy(here.writer, [Thinning(0, ms(120), MINUTE_MS)], 0)
        assert here.writer.flush()
        assert here.writer.flush()  # the pieces of the first flush's work have been put in meanwhile
        ends = [each.log_end for each in here.reader.partition_samples(CLUSTER, "flights", 0, Span())]
        assert ends[-36:] == list(range(120, 300, 5))
        assert all(later - earlier >= 40 for earlier, later in pairwise(ends[:-36]))
        tidy(here.writer, [], ms(1000))
        assert here.writer.flush()
        assert (count(here, "partition_sample"), count(here, "series"), count(here, "group_series")) == (0, 0, 0)
        sample(here, 2000, 7)
        assert here.reader.ends_at(CLUSTER)["flights", 0].log_end == 7


def test_of_znodes_the_latest_change_stays_unless_the_node_is_long_gone(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        here.write(1, here.row("/a", 1, b"1"), here.row("/a", 2, b"2", ChangeKind.WRITTEN), here.row("/b", 1, b""))
        here.write(3, here.row("/b", 3, b"", ChangeKind.REMOVED))
        here.write(50, here.row("/c", 50, b""), here.row("/c", 51, b"", ChangeKind.REMOVED))
        tidy(here.writer, [], ms(40))
        assert here.writer.flush()
        assert [(each.path, each.kind) for each in here.reader.znode_changes(CLUSTER, Span())] == [
            ("/c", ChangeKind.REMOVED),
            ("/c", ChangeKind.CREATED),
            ("/a", ChangeKind.WRITTEN),
        ]
        here.write(60, here.row("/b", 60, b"again"))
        assert [each.path for each in here.reader.tree_at(CLUSTER, "/b")] == ["/b"]
