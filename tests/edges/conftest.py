"""Fixtures of the edge tests: a real reactor in a thread."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.edges.reactor_thread import ReactorThread


@pytest.fixture(scope="session")
def reactor_thread() -> Iterator[ReactorThread]:
    """One reactor for all edge tests."""
    thread = ReactorThread()
    yield thread
    thread.stop()
