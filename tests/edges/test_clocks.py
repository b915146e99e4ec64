"""The reactor's clock and thread pool against what the seams promise."""

from __future__ import annotations

import threading
import time

import pytest

from pykafka_classic.common.clock import Timer, after
from pykafka_classic.common.promise import Promise, gather
from pykafka_classic.edges.clocks import ReactorClock, ThreadPoolBackground
from tests.edges.reactor_thread import DEADLINE_S, ReactorThread


@pytest.fixture
def clock(reactor_thread: ReactorThread) -> ReactorClock:
    return ReactorClock(reactor_thread.reactor)


def test_now_is_the_systems_time(clock: ReactorClock) -> None:
    assert abs(clock.now_ms() - time.time() * 1000) < 5000


def test_timer_fires_no_earlier_than_asked(clock: ReactorClock, reactor_thread: ReactorThread) -> None:
    started = clock.monotonic_ms()
    reactor_thread.wait(lambda: after(clock, 30))
    assert clock.monotonic_ms() - started >= 29


def test_cancelled_timer_does_not_fire(clock: ReactorClock, reactor_thread: ReactorThread) -> None:
    fired = []

    def start() -> Promise[None]:
        clock.call_later(0, lambda: fired.append("cancelled")).cancel()
        clock.call_later(1, lambda: fired.append("kept"))
        return after(clock, 20)

    reactor_thread.wait(start)
    assert fired == ["kept"]


def test_cancel_after_the_call_or_twice_does_nothing(clock: ReactorClock, reactor_thread: ReactorThread) -> None:
    timers: list[Timer] = []
    reactor_thread.call(lambda: timers.append(clock.call_later(0, lambda: None)))
    reactor_thread.wait(lambda: after(clock, 5))
    for _ in range(2):
        reactor_thread.call(timers[0].cancel)


def test_error_in_a_scheduled_call_is_logged(clock: ReactorClock, reactor_thread: ReactorThread, caplog: pytest.LogCaptureFixture) -> None:
    def start() -> Promise[None]:
        clock.call_later(0, lambda: [1].remove(2))
        return after(clock, 5)

    reactor_thread.wait(start)
    assert "Uncaught exception in scheduled task" in caplog.text


def test_background_work_settles_on_the_reactor_thread(reactor_thread: ReactorThread) -> None:
    background = ThreadPoolBackground(reactor_thread.reactor)
    threads: list[threading.Thread] = [reactor_thread.call(threading.current_thread)]

    def start() -> Promise[None]:
        return background.run(threading.current_thread).then(threads.append).then(lambda _: threads.append(threading.current_thread()))

    reactor_thread.wait(start)
    reactor, worker, settled_on = threads
    assert settled_on is reactor and worker is not reactor


def test_background_work_leaves_the_reactors_threads_free(reactor_thread: ReactorThread) -> None:
    background, release, ran = ThreadPoolBackground(reactor_thread.reactor, threads=2), threading.Event(), threading.Event()
    blocked = reactor_thread.call(lambda: [background.run(lambda: release.wait(DEADLINE_S)) for _ in range(30)])
    reactor_thread.call(lambda: reactor_thread.reactor.callInThread(ran.set))
    assert ran.wait(DEADLINE_S)
    release.set()
    assert reactor_thread.wait(lambda: gather(blocked)) == [True] * 30
    background.close()


def test_background_failure_fails_the_promise(reactor_thread: ReactorThread) -> None:
    background = ThreadPoolBackground(reactor_thread.reactor)
    with pytest.raises(ZeroDivisionError):
        reactor_thread.wait(lambda: background.run(lambda: 1 // 0))
