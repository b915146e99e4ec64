"""Ctrl-C in the midst of a consumer's call: the rebalance that waits for a callback goes on, and the call ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.client_thread import ClientThread
from pykafka_classic.edges.clients.user_calls import UserCalls

PARTITIONS = (TopicPartition("t", 0),)


class HereAndNow:
    """A client thread that does at once, in the caller's thread, what it is asked to do."""

    def call_soon(self, call: Callable[..., Any], *args: Any) -> None:
        call(*args)


def rebalancing(told: Callable[[object], None]) -> tuple[UserCalls, Callable[[], Promise[str]]]:
    """Calls, and the begin of one that ends when the callback has been called."""
    calls = UserCalls(cast("ClientThread", HereAndNow()))
    listener = calls.listener({"assigned": told})

    def begin() -> Promise[str]:
        polled = Promise[str]()
        called = listener.call(told, PARTITIONS)
        called.when_settled(lambda callback: polled.resolve("records") if callback.error() is None else polled.fail(cast("Exception", callback.error())))
        return polled

    return calls, begin


def test_a_callback_is_called_in_the_users_thread_and_the_call_ends() -> None:
    seen: list[object] = []
    calls, begin = rebalancing(seen.append)
    assert calls.call(begin) == "records"
    assert len(seen) == 1


def test_ctrl_c_in_a_callback_ends_the_call_and_the_callback_is_not_called_again() -> None:
    seen: list[object] = []
    woken: list[bool] = []

    def told(partitions: object) -> None:
        seen.append(partitions)
        raise KeyboardInterrupt

    calls, begin = rebalancing(told)
    with pytest.raises(KeyboardInterrupt):
        calls.call(begin, interrupt=lambda: woken.append(True))
    assert (len(seen), woken) == (1, [True])
    assert calls.call(lambda: Promise.resolved("closed")) == "closed"
    assert len(seen) == 1


def test_what_a_callback_raises_is_the_calls_outcome() -> None:
    def told(_: object) -> None:
        raise ValueError("no")

    calls, begin = rebalancing(told)
    with pytest.raises(ValueError, match="no"):
        calls.call(begin)
