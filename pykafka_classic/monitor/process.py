"""The monitor as a process: reads its configuration, runs until SIGTERM or Ctrl-C."""

from __future__ import annotations

import logging
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pykafka_classic.common.config_def import ConfigError
from pykafka_classic.common.properties import parse_properties
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.monitor.service import Monitor
from pykafka_classic.monitor.settings import InvalidMonitorSetting, MonitorSettings
from pykafka_classic.monitor.store.connections import StoreInUse
from pykafka_classic.monitor.store.schema import StoreTooNew

log = logging.getLogger("kafka.monitor.Monitor")

FAILED: Final = 1
STARTED: Final = "The monitor has started"


class CannotStart(Exception):
    """The text is for the user."""


# What runs beside the collectors: called with the reactor and the monitor before they start, returns what to call in the end. Raises CannotStart.
Part = Callable[[Reactor, Monitor], Callable[[], None]]


def read_settings(path: Path, base: Path) -> MonitorSettings:
    """The configuration in a file. Raises CannotStart."""
    try:
        return MonitorSettings.from_properties(parse_properties(path.read_text(encoding="utf-8")), base)
    except OSError as error:
        raise CannotStart(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CannotStart(f"Cannot understand {path}: it is no text in UTF-8.") from error
    except (InvalidMonitorSetting, ConfigError, ValueError) as error:
        raise CannotStart(f"{path}: {error}") from error


def run(settings: MonitorSettings, parts: tuple[Part, ...] = ()) -> int:
    """Run until stopped; the exit status."""
    from twisted.internet import reactor  # importing it installs it

    loop: Reactor = reactor
    try:
        monitor = _open(loop, settings)
        ends = [part(loop, monitor) for part in parts]
    except CannotStart as error:
        print(error, file=sys.stderr)
        return FAILED

    def stop() -> None:
        for end in ends:
            end()
        monitor.stop().when_settled(lambda _: loop.stop())

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: reactor.callFromThread(stop))
    reactor.callWhenRunning(monitor.start)
    log.info("%s, for %s; its store is %s", STARTED, ", ".join(each.name for each in settings.clusters), settings.store_path)
    reactor.run(installSignalHandlers=False)  # type: ignore[call-arg, misc]  # zope describes it without its arguments
    monitor.close()
    return 0


def _open(reactor: Reactor, settings: MonitorSettings) -> Monitor:
    try:
        return Monitor(reactor, settings)
    except (StoreInUse, StoreTooNew) as error:
        raise CannotStart(str(error)) from error
    except (OSError, sqlite3.Error) as error:
        raise CannotStart(f"Cannot open the store {settings.store_path}: {error}.") from error
