"""`Monitor`: the store and the collectors of all clusters, as one thing that starts and stops."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Final

from pykafka_classic.common.clock import within
from pykafka_classic.common.promise import Promise, gather
from pykafka_classic.edges.clocks import ReactorClock
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.monitor.collector.cluster import ClusterCollector
from pykafka_classic.monitor.notify import Notifier
from pykafka_classic.monitor.retention import EVERY_MS, MINUTE_MS, Retention
from pykafka_classic.monitor.settings import MonitorSettings
from pykafka_classic.monitor.store.maintenance import tidy
from pykafka_classic.monitor.store.reader import StoreReader
from pykafka_classic.monitor.store.rows import Batch, ClusterRow
from pykafka_classic.monitor.store.writer import Row, StoreWriter

log = logging.getLogger("kafka.monitor.Monitor")

NOT_WATCHED: Final = "not watched any longer: it is not in the configuration"
SESSIONS_END_MS: Final = 1_000

Listener = Callable[[Batch], None]


class Monitor:
    """One monitor. All methods belong to the reactor's thread.

    Args:
        reactor: whose thread it is.
        settings: what stands in monitor.properties.

    Attributes: reader: all that is stored, for any thread; collectors: by the clusters' names.

    Raises: StoreInUse, StoreTooNew, OSError, sqlite3.Error where the store cannot be opened.
    """

    def __init__(self, reactor: Reactor, settings: MonitorSettings) -> None:
        self.settings = settings
        self._reactor = reactor
        self._clock = ReactorClock(reactor)
        self._listeners: list[Listener] = []
        self._stopped: Promise[list[None] | None] | None = None
        self._writer = StoreWriter(settings.store_path, _now_ms, self._committed)
        self.reader = StoreReader(settings.store_path)
        self.collectors: Mapping[str, ClusterCollector] = {
            each.name: ClusterCollector(reactor, each, settings.keys, self._writer, self.reader) for each in settings.clusters
        }

        for each in self.reader.clusters():
            if each.name not in self.collectors:
                self._writer.put(ClusterRow(each.name, each.zookeeper, None, NOT_WATCHED, _now_ms()))
        self._retention = Retention(settings.keys)
        self._notifier = Notifier(reactor, settings.keys)

    def start(self) -> None:
        """Begin to collect."""
        for collector in self.collectors.values():
            collector.on_alarm = self._notifier.tell
            collector.start()
        self._clock.call_later(MINUTE_MS, self._tidy)

    def _tidy(self) -> None:
        if self._stopped is None:
            now_ms = self._clock.now_ms()
            tidy(self._writer, self._retention.thinnings(now_ms), self._retention.remove_before_ms(now_ms))
            self._clock.call_later(EVERY_MS, self._tidy)

    def stop(self) -> Promise[list[None] | None]:
        """Collect no longer; the promise is kept when the sessions with ZooKeeper have ended, or after a second. Stopping twice is stopping once."""
        self._notifier.stop()
        if self._stopped is None:
            self._stopped = within(self._clock, gather([collector.stop() for collector in self.collectors.values()]), SESSIONS_END_MS)
        return self._stopped

    def close(self) -> None:
        """Write what was seen, and close the store. Waits."""
        self.reader.close_own()
        self._writer.close()

    def add_listener(self, listener: Listener) -> None:
        """Tell, on the reactor's thread, of each batch that the store has taken: what it holds can be read now."""
        self._listeners.append(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Tell it no longer."""
        self._listeners.remove(listener)

    def _committed(self, rows: list[Row]) -> None:
        batches = [row for row in rows if isinstance(row, Batch)]
        if batches:
            self._reactor.callFromThread(self._tell, batches)

    def _tell(self, batches: list[Batch]) -> None:
        for batch in batches:
            for listener in list(self._listeners):
                listener(batch)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
