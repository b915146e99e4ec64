"""Server-sent events: browsers are told that something is new, and ask for what they show.

A message carries no data of the cluster, only what kind of thing has changed: `znodes`, `events`, `samples`, `brokers`. So all readers get the same few bytes,
and one that is slow misses nothing: while its connection is full, kinds are gathered, and told in one message when it takes some again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from pykafka_classic.common.clock import Clock
from pykafka_classic.monitor.service import Monitor
from pykafka_classic.monitor.store.rows import Batch

READERS_MAX: Final = 200
HEARTBEAT_MS: Final = 10_000
RETRY_MS: Final = 1_000  # how long a browser waits before it connects again
HEARTBEAT: Final = b": still here\n\n"


class Reader:
    """One browser.

    Args:
        write: gives it bytes.
    """

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._full = False
        self._missed: set[str] = set()
        write(f"retry: {RETRY_MS}\n\n".encode())

    def tell(self, kinds: set[str]) -> None:
        """Something is new."""
        if self._full:
            self._missed |= kinds
        else:
            self._write(b"event: change\ndata: " + json.dumps(sorted(kinds)).encode() + b"\n\n")

    def beat(self) -> None:
        """Show that the connection stands."""
        if not self._full:
            self._write(HEARTBEAT)

    def pause(self) -> None:
        """Its connection is full."""
        self._full = True

    def resume(self) -> None:
        """It takes some again."""
        self._full = False
        if self._missed:
            missed, self._missed = self._missed, set()
            self.tell(missed)


class Live:
    """All browsers that listen, by cluster."""

    def __init__(self, monitor: Monitor, clock: Clock) -> None:
        self._readers: dict[str, set[Reader]] = {name: set() for name in monitor.collectors}
        self._clock = clock
        self._monitor = monitor
        self._stopped = False
        monitor.add_listener(self._committed)
        self._beat()

    @property
    def count(self) -> int:
        """How many listen."""
        return sum(map(len, self._readers.values()))

    def add(self, cluster: str, reader: Reader) -> Callable[[], None]:
        """One more; call what is returned when it has gone."""
        self._readers[cluster].add(reader)
        return lambda: self._readers[cluster].discard(reader)

    def tell(self, cluster: str, kinds: set[str]) -> None:
        """Tell all that look at a cluster."""
        for reader in list(self._readers.get(cluster, ())):
            reader.tell(kinds)

    def stop(self) -> None:
        """Tell nobody any longer."""
        self._stopped = True
        self._monitor.remove_listener(self._committed)

    def _committed(self, batch: Batch) -> None:
        kinds = {kind for kind, there in (("znodes", batch.znodes), ("events", batch.events)) if there}
        if batch.partitions or batch.groups or batch.group_states or batch.log_dirs or batch.configs:
            kinds.add("samples")
        if kinds:
            self.tell(batch.cluster, kinds)

    def _beat(self) -> None:
        if self._stopped:
            return
        for readers in self._readers.values():
            for reader in list(readers):
                reader.beat()
        self._clock.call_later(HEARTBEAT_MS, self._beat)
