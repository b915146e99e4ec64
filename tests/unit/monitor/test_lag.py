"""Since when a group is behind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.monitor.collector.lag import POINTS_MAX, BehindSince, EndOffsets


def ends(*points: tuple[int, int]) -> EndOffsets:
    """Ends of a log as they were seen: (time, end)."""
    found = EndOffsets()
    for t_ms, end in points:
        found.add(t_ms, end)
    return found


def test_who_has_read_to_the_end_is_not_behind() -> None:
    log = ends((0, 10), (100, 20))
    assert log.behind_since(20) is None
    assert log.behind_since(25) is None
    assert EndOffsets().behind_since(0) is None


def test_the_time_lies_between_the_last_sight_of_one_end_and_the_first_of_the_next() -> None:
    log = ends((0, 10), (50, 10), (100, 20))
    assert log.behind_since(10) == BehindSince(50, exact=True)
    assert log.behind_since(15) == BehindSince(75, exact=True)


def test_what_is_older_than_what_was_seen_is_a_lower_bound() -> None:
    assert ends((40, 10), (100, 20)).behind_since(3) == BehindSince(40, exact=False)


def test_a_log_that_was_cut_begins_anew() -> None:
    log = ends((0, 10), (100, 20), (200, 5), (300, 8))
    assert log.end == 8
    assert log.behind_since(6) == BehindSince(233, exact=True)


def test_a_clock_that_was_set_back_does_not_reorder_what_was_seen() -> None:
    log = ends((1000, 10), (500, 20), (600, 30))
    assert log.behind_since(10) == BehindSince(1000, exact=True)
    assert log.behind_since(20) == BehindSince(1001, exact=True)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 30)), min_size=2, max_size=400), st.data())
def test_the_answer_is_right_within_a_step_of_what_is_remembered(steps: list[tuple[int, int]], data: st.DataObject) -> None:
    """The truth: the latest time at which the end was at most the committed offset lies in the pair of remembered sights that surround it."""
    log, t_ms, end, seen = EndOffsets(), 0, 0, []
    for pause, written in steps:
        t_ms, end = t_ms + pause, end + written
        log.add(t_ms, end)
        seen.append((t_ms, end))
    committed = data.draw(st.integers(0, end))
    since = log.behind_since(committed)
    if committed == end:
        assert since is None
        return
    assert since is not None
    earlier = [at for at, there in seen if there <= committed]
    if len({there for _, there in seen}) <= POINTS_MAX:
        assert since.exact == bool(earlier)
        later = min(at for at, there in seen if there > committed)
        assert (max(earlier) if earlier else since.t_ms) <= since.t_ms <= later
