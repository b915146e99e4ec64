"""Cases after LeaderEpochFileCacheTest and KIP-101, KIP-279."""

from __future__ import annotations

import pytest

from pykafka_classic.log.leader_epoch_cache import LeaderEpochFileCache


def test_an_empty_cache_knows_no_epoch() -> None:
    cache = LeaderEpochFileCache()
    assert cache.latest_epoch() is None
    assert cache.end_offset_for(0, 100) == (-1, -1)


@pytest.mark.parametrize(
    ("requested", "answer"),
    [
        (-1, (-1, -1)),  # undefined
        (7, (7, 100)),  # the latest ends at the log's end
        (8, (-1, -1)),  # newer than all known
        (1, (1, 10)),  # older than all known: the start of the first
        (2, (2, 20)),
        (3, (2, 20)),  # unknown: the largest below, which ends where the next begins
        (5, (4, 30)),
    ],
)
def test_an_epoch_ends_where_the_next_known_begins(requested: int, answer: tuple[int, int]) -> None:
    assert LeaderEpochFileCache([(2, 10), (4, 20), (7, 30)]).end_offset_for(requested, 100) == answer


def test_the_same_epoch_keeps_its_first_offset() -> None:
    cache = LeaderEpochFileCache([(2, 10)])
    cache.assign(2, 15)
    assert cache.entries == [(2, 10)]


def test_an_earlier_start_of_the_same_epoch_replaces_it() -> None:
    cache = LeaderEpochFileCache([(1, 5), (2, 10)])
    cache.assign(2, 8)
    assert cache.entries == [(1, 5), (2, 8)]


def test_an_epoch_without_records_is_replaced_by_the_next() -> None:
    cache = LeaderEpochFileCache([(1, 5), (2, 10)])
    cache.assign(3, 10)
    assert cache.entries == [(1, 5), (3, 10)]


def test_entries_that_contradict_a_new_one_go() -> None:
    cache = LeaderEpochFileCache([(1, 5), (4, 10), (6, 20)])
    cache.assign(3, 12)
    assert cache.entries == [(1, 5), (3, 12)]


@pytest.mark.parametrize(("epoch", "offset"), [(-1, 5), (3, -1)])
def test_an_undefined_epoch_is_not_noted(epoch: int, offset: int) -> None:
    cache = LeaderEpochFileCache()
    cache.assign(epoch, offset)
    assert cache.entries == []


def test_truncating_from_the_end_drops_epochs_that_start_there() -> None:
    cache = LeaderEpochFileCache([(1, 5), (4, 10), (6, 20)])
    cache.truncate_from_end(10)
    assert cache.entries == [(1, 5)]


def test_truncating_from_the_end_keeps_the_epoch_that_starts_below() -> None:
    cache = LeaderEpochFileCache([(1, 5), (4, 10), (6, 20)])
    cache.truncate_from_end(11)
    assert cache.entries == [(1, 5), (4, 10)]


def test_truncating_from_the_start_lets_the_epoch_in_force_begin_there() -> None:
    cache = LeaderEpochFileCache([(1, 5), (4, 10), (6, 20)])
    cache.truncate_from_start(15)
    assert cache.entries == [(4, 15), (6, 20)]


def test_truncating_from_the_start_at_an_entry_keeps_it() -> None:
    cache = LeaderEpochFileCache([(1, 5), (4, 10)])
    cache.truncate_from_start(10)
    assert cache.entries == [(4, 10)]


def test_truncating_below_the_first_entry_changes_nothing() -> None:
    cache = LeaderEpochFileCache([(1, 5), (4, 10)])
    cache.truncate_from_start(3)
    assert cache.entries == [(1, 5), (4, 10)]


def test_truncating_beyond_all_keeps_the_last() -> None:
    cache = LeaderEpochFileCache([(1, 5), (4, 10)])
    cache.truncate_from_start(50)
    assert cache.entries == [(4, 50)]


@pytest.mark.parametrize(("offset", "epoch"), [(4, None), (5, 1), (9, 1), (10, 4), (1000, 4)])
def test_the_epoch_of_an_offset_is_the_one_in_force(offset: int, epoch: int | None) -> None:
    assert LeaderEpochFileCache([(1, 5), (4, 10)]).epoch_for_offset(offset) == epoch


def test_only_changes_are_told() -> None:
    changes = []
    cache = LeaderEpochFileCache([(1, 5)], lambda: changes.append(1))
    cache.assign(1, 6)
    cache.truncate_from_end(6)
    cache.truncate_from_start(5)
    assert not changes
    cache.assign(2, 6)
    cache.clear()
    cache.clear()
    assert len(changes) == 2


def test_a_log_of_an_old_format_keeps_no_epochs() -> None:
    cache = LeaderEpochFileCache(enabled=False)
    cache.assign(1, 5)
    assert cache.entries == []
