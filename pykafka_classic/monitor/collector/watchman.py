"""Looks at what was collected of a cluster, and raises alarms: every second at what ZooKeeper shows, with every round at groups and disks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pykafka_classic.common.clock import Clock
from pykafka_classic.monitor.alarms import DISK_RULES, GROUP_RULES, STATE_RULES, AlarmBook, Health, readings_of_disks, readings_of_groups, readings_of_state
from pykafka_classic.monitor.collector.view import ClusterView
from pykafka_classic.monitor.settings import MonitorKeys
from pykafka_classic.monitor.store.rows import AlarmCleared, AlarmRaised, Batch

LOOK_MS: Final = 1_000


class Watchman:
    """Of one cluster.

    Args:
        book: its alarms.
        view: its present state.
        told: hears of alarms that begin or end.
    """

    def __init__(self, book: AlarmBook, view: ClusterView, keys: MonitorKeys, clock: Clock, told: Callable[[AlarmRaised | AlarmCleared], None]) -> None:
        self._book = book
        self._view = view
        self._keys = keys
        self._clock = clock
        self._told = told
        self._running = False

    def start(self) -> None:
        """Begin to look: once ZooKeeper has shown something."""
        if not self._running:
            self._running = True
            self._look()

    def stop(self) -> None:
        """Look no longer."""
        self._running = False

    def round_made(self, batch: Batch) -> None:
        """Brokers have answered."""
        now_ms = self._clock.now_ms()
        self._tell(self._book.update(readings_of_groups(batch.groups, now_ms, self._keys), GROUP_RULES, now_ms))
        if batch.log_dirs:
            self._tell(self._book.update(readings_of_disks(batch.log_dirs, self._keys), DISK_RULES, now_ms))

    def _look(self) -> None:
        if not self._running:
            return
        view = self._view
        health = Health(view.replicas, view.leaders, view.in_sync, frozenset(view.brokers), view.has_controller)
        self._tell(self._book.update(readings_of_state(health, self._keys), STATE_RULES, self._clock.now_ms()))
        self._clock.call_later(LOOK_MS, self._look)

    def _tell(self, alarms: Sequence[AlarmRaised | AlarmCleared]) -> None:
        for alarm in alarms:
            self._told(alarm)
