"""config/monitor.properties as a value: each key with its meaning stands in that file. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

DEFAULT_PORT: Final = 8048
INTERVAL_MIN_MS: Final = 500


class InvalidMonitorSetting(Exception):
    """A key that means nothing, or a value that cannot be; the text is for the user."""


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """One cluster. `events`: by broker, the events.log that it writes, where this machine can read it."""

    name: str
    zookeeper: str
    events: Mapping[int, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """The monitor's."""

    clusters: tuple[ClusterSettings, ...]
    data_dir: Path = Path("data/monitor")
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    interval_ms: int = 5_000
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def store_path(self) -> Path:
        """The SQLite file."""
        return self.data_dir / "monitor.db"
