"""Signals belong to the main thread: Python runs their handlers there, and a wait of that thread ends for them only where the kernel gives them to it.

A signal is lost to a waiting main thread, until something else wakes it, where the kernel gives it to another thread, or where it comes just before the wait
begins. Against the first helps `signals_held_back`, against the second that no wait of a tool is longer than `NOTICED_S`.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Final

NOTICED_S: Final = 0.2
OF_USERS: Final = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


@contextlib.contextmanager
def signals_held_back() -> Iterator[None]:
    """What a user sends waits until the block ends. Threads that are started meanwhile never get it: they inherit the mask."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, OF_USERS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
