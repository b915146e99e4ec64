"""The service manager's socket, as sd_notify(3) describes it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from pykafka_classic.edges.service_manager import READY, VARIABLE, notify


def test_a_name_in_the_abstract_namespace_begins_with_an_at_sign() -> None:
    name = f"pykafka-classic-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{name}")
        manager.settimeout(5)
        assert notify(READY, "serving", {VARIABLE: f"@{name}"})
        assert manager.recv(200).splitlines()[0] == b"READY=1"


def test_where_nobody_listens_nothing_happens(tmp_path: Path) -> None:
    assert not notify(READY, "serving", {})
    assert not notify(READY, "serving", {VARIABLE: str(tmp_path / "nobody")})
