"""What a change needs to have happened. The chains themselves: test_timeline.py."""

from __future__ import annotations

from pykafka_classic.monitor.causes import needs_and_gives_of_change
from pykafka_classic.monitor.store.answers import ZNodeChange
from pykafka_classic.monitor.store.rows import ChangeKind
from zk_schema import controller
from zk_schema.controller import ControllerZNode


def needs(before: int | None, now: int | None) -> tuple[str, ...]:
    data, old = (None if each is None else controller.encode(ControllerZNode(each, 0)) for each in (now, before))
    return needs_and_gives_of_change(ZNodeChange(1, controller.PATH, ChangeKind.WRITTEN, 1, 1, 1, 0, 0, data, old))[0]


def test_a_controller_that_follows_another_one_follows_from_its_death() -> None:
    """Its removal and the next one's node may have been seen as one change: then nothing else links them."""
    assert needs(0, 2) == ("gone 0",)
    assert (needs(2, 2), needs(None, 2)) == ((), ())
