"""What the admin client that waits costs at start, and how it fails. What it does: tests/unit/client/admin and tests/integration/test_admin.py."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest

from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.blocking_client import NoBroker


def test_it_loads_nothing_that_takes_long() -> None:
    """A command-line tool pays for what it imports."""
    names = ["twisted", "kazoo", "asyncio", "ssl", "pykafka_classic.records"]
    program = f"import sys, pykafka_classic.edges.admin; print([name for name in {names} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_nobody_there_is_told_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        port = taken.getsockname()[1]
        with pytest.raises(NoBroker, match=f"no broker at 127.0.0.1:{port}"):
            Admin(f"127.0.0.1:{port}")


def test_somebody_who_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        with pytest.raises(NoBroker, match=r"what listens at .* is no broker"):
            Admin([silent.getsockname()[:2]], first_contact_ms=300)
        assert time.monotonic() - began < 5
