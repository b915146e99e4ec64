"""How full the disks of log directories are: known where a broker runs on this machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from pykafka_classic.monitor.store.rows import LogDirRow


def with_disk(row: LogDirRow, addresses: Mapping[int, tuple[str, int] | None]) -> LogDirRow:
    """With the size of its disk, and what is free on it."""
    address = addresses.get(row.broker)
    if address is None or not _is_here(address[0]) or not Path(row.path).is_dir():
        return row
    disk = os.statvfs(row.path)
    return replace(row, total=disk.f_blocks * disk.f_frsize, usable=disk.f_bavail * disk.f_frsize)


@cache
def _is_here(host: str) -> bool:
    return host in {"localhost", "::1", socket.gethostname(), socket.getfqdn()} or host.startswith("127.")
