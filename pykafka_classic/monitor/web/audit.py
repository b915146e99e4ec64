"""The audit log: a line of JSON for every write that somebody tried, in audit.log beside the store.

    {"t": "2026-11-21T17:00:00.123Z", "user": "alice", "from": "10.0.0.7", "cluster": "local", "operation": "create-topic",
     "with": {"name": "flights", "partitions": 3}, "outcome": "Topic flights is created."}

`outcome` is the sentence that its user saw; `"refused": true` where nothing was done. Values of fields that hold secrets, and what records hold, are left out.
At 10 MiB the file becomes audit.log.1, in the place of the one before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pykafka_classic.monitor.web.formats import iso

SIZE_MAX: Final = 10 << 20
TEXT_MAX: Final = 500
LINES_READ: Final = 500
_SECRET: Final = re.compile(r"password|secret|scram|jaas|token", re.IGNORECASE)
_PRIVATE: Final = frozenset({"key", "value", "headers"})  # of a record


class AuditLog:
    """Appends and reads. Blocking: for one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, t_ms: int, line: Mapping[str, Any]) -> None:
        """One more write. Raises OSError: then the write must not be done."""
        if self.path.exists() and self.path.stat().st_size > SIZE_MAX:
            self.path.replace(self.path.with_suffix(".log.1"))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"t": iso(t_ms), **line}, ensure_ascii=False) + "\n")

    def latest(self, count: int = LINES_READ) -> list[dict[str, Any]]:
        """The latest first."""
        lines: list[str] = []
        for path in (self.path, self.path.with_suffix(".log.1")):
            if len(lines) < count and path.exists():
                lines += path.read_text(encoding="utf-8", errors="replace").splitlines()[::-1]
        return [found for found in map(_line, lines[:count]) if found is not None]


def fields_shown(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a write as the log may hold them."""
    return {name: _shown(name, value) for name, value in values.items() if value not in (None, "", {})}


def _shown(name: str, value: Any) -> Any:
    if name in _PRIVATE and isinstance(value, (str, dict)):
        return f"({len(value)} long)"
    if isinstance(value, dict):
        return {key: "(secret)" if _SECRET.search(key) else each for key, each in value.items()}
    return value[:TEXT_MAX] if isinstance(value, str) else value


def _line(text: str) -> dict[str, Any] | None:
    """None for a line that a kill has cut off."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
