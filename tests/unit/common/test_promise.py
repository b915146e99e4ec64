"""Promises, coroutines over them, and gathering."""

from __future__ import annotations

import gc
import logging
import weakref

import pytest

from pykafka_classic.common.promise import Promise, gather, spawn


class _Error(Exception):
    pass


def test_a_promise_is_not_settled_at_first() -> None:
    promise: Promise[int] = Promise()
    assert not promise.settled
    with pytest.raises(AssertionError):
        promise.result()
    with pytest.raises(AssertionError):
        promise.error()


def test_a_resolved_promise_has_its_value_and_no_error() -> None:
    promise = Promise.resolved(3)
    assert (promise.settled, promise.result(), promise.error()) == (True, 3, None)


def test_a_failed_promise_raises_its_error() -> None:
    error = _Error()
    promise = Promise.failed(error)
    assert promise.error() is error
    with pytest.raises(_Error):
        promise.result()


def test_a_promise_is_settled_once() -> None:
    promise = Promise.resolved(1)
    with pytest.raises(AssertionError):
        promise.resolve(2)
    with pytest.raises(AssertionError):
        promise.fail(_Error())
    assert promise.result() == 1


def test_callbacks_run_once_in_the_order_added_when_it_settles() -> None:
    promise: Promise[int] = Promise()
    seen: list[str] = []
    promise.when_settled(lambda settled: seen.append(f"first {settled.result()}"))
    promise.when_settled(lambda settled: seen.append(f"second {settled.result()}"))
    assert seen == []
    promise.resolve(5)
    assert seen == ["first 5", "second 5"]


def test_a_callback_added_later_runs_at_once() -> None:
    seen: list[int] = []
    Promise.resolved(5).when_settled(lambda settled: seen.append(settled.result()))
    assert seen == [5]


def test_then_gives_a_promise_of_the_new_value() -> None:
    promise: Promise[int] = Promise()
    doubled = promise.then(lambda value: value * 2)
    promise.resolve(4)
    assert doubled.result() == 8


def test_then_passes_a_failure_through_without_a_call() -> None:
    seen: list[int] = []
    error = _Error()
    promise: Promise[int] = Promise()
    following = promise.then(seen.append)
    promise.fail(error)
    assert (following.error(), seen) == (error, [])


def test_then_fails_with_what_its_function_raises() -> None:
    assert isinstance(Promise.resolved(0).then(lambda value: 1 // value).error(), ZeroDivisionError)


def test_a_coroutine_runs_up_to_its_first_unsettled_promise() -> None:
    gate: Promise[int] = Promise()
    seen: list[str] = []

    async def work() -> int:
        seen.append("started")
        value = await gate
        seen.append("went on")
        return value + 1

    outcome = spawn(work())
    assert (seen, outcome.settled) == (["started"], False)
    gate.resolve(1)
    assert (seen, outcome.result()) == (["started", "went on"], 2)


def test_settled_promises_do_not_interrupt_a_coroutine() -> None:
    async def work() -> int:
        total = 0
        for number in range(100_000):
            total += await Promise.resolved(number)
        return total

    assert spawn(work()).result() == sum(range(100_000))


def test_a_failed_promise_raises_inside_the_coroutine() -> None:
    async def work() -> str:
        try:
            await Promise.failed(_Error())
        except _Error:
            return "caught"
        return "not raised"

    assert spawn(work()).result() == "caught"


def test_what_a_coroutine_raises_fails_its_promise() -> None:
    gate: Promise[None] = Promise()

    async def work() -> None:
        await gate
        raise _Error

    outcome = spawn(work())
    gate.resolve(None)
    assert isinstance(outcome.error(), _Error)


def test_a_coroutine_that_has_ended_keeps_nothing_alive() -> None:
    class Held:
        pass

    async def work() -> Held:
        await waiting
        return Held()

    waiting: Promise[None] = Promise()
    outcome = spawn(work())
    gc.disable()
    try:
        waiting.resolve(None)
        held = weakref.ref(outcome.result())
        del outcome
        assert held() is None
    finally:
        gc.enable()


def test_a_coroutine_may_await_another_ones_outcome() -> None:
    gate: Promise[int] = Promise()

    async def inner() -> int:
        return await gate

    async def outer() -> int:
        return await spawn(inner()) + await gate

    outcome = spawn(outer())
    gate.resolve(2)
    assert outcome.result() == 4


def test_gather_keeps_the_order_of_the_promises() -> None:
    first: Promise[int] = Promise()
    second: Promise[int] = Promise()
    together = gather([first, second])
    second.resolve(2)
    assert not together.settled
    first.resolve(1)
    assert together.result() == [1, 2]


def test_gather_of_nothing_is_an_empty_list() -> None:
    nothing: list[Promise[int]] = []
    assert gather(nothing).result() == []


def test_gather_fails_with_the_first_failure_in_order_once_all_are_settled() -> None:
    promises: list[Promise[int]] = [Promise(), Promise(), Promise()]
    together = gather(promises)
    first, second = _Error("first"), _Error("second")
    promises[1].fail(second)
    promises[0].fail(first)
    assert not together.settled
    promises[2].resolve(1)
    assert together.error() is first


def test_a_failure_that_nobody_looked_at_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        Promise.failed(_Error("lost"))
        gc.collect()
    assert "nobody looked at" in caplog.text


def test_a_failure_that_was_looked_at_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        Promise.failed(_Error("seen")).error()
        gc.collect()
    assert caplog.text == ""
