"""The keys of config/monitor.properties, and that file as a value. Pure.

Keys of a cluster begin with its name: with `clusters=local` they are `local.zookeeper.connect`, and `local.events.BROKER` for each broker whose events.log this
machine can read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pykafka_classic.common.config_def import ConfigKey, ConfigType, Importance, Range, at_least, key, keys_of, parse_all

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
INT, LONG, STRING, LIST, PASSWORD = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST, ConfigType.PASSWORD

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
ZOOKEEPER: Final = "zookeeper.connect"
EVENTS: Final = "events."
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_URL: Final = re.compile(r"https?://[^\s/]+(/\S*)?")
_MAILBOX: Final = re.compile(r"[^\s@]+@[^\s@]+")
_SMTP: Final = re.compile(r"[^\s:]+(:[0-9]{1,5})?")


class InvalidMonitorSetting(Exception):
    """A key that is none, or a cluster that is not described; the text is for the user."""


@dataclass(frozen=True, slots=True)
class MonitorKeys:
    """The keys that have one name, by name with '.' as '_'."""

    clusters: tuple[str, ...] = key(LIST, ("local",), HIGH, "Names of the clusters to watch, as they are shown. Each needs its NAME.zookeeper.connect.")
    host: str = key(STRING, "127.0.0.1", HIGH, "Where the pages are served: an address of this machine. Anything but loopback wants a password file.")
    port: int = key(INT, 8048, HIGH, "The port of the pages.", Range(0, 65_535))
    passwords_file: str = key(STRING, "", HIGH, "Who may log in, a line NAME:ROLE:HASH each (docs/monitor.md). Empty: nobody has to, and host is loopback.")
    data_dir: str = key(STRING, "data/monitor", HIGH, "Folder of the store, an SQLite file. A path that is not absolute begins at the checkout.")
    interval_ms: int = key(INT, 5_000, MEDIUM, "How often brokers are asked for ends of logs, commits, members. ZooKeeper is watched.", at_least(500))
    retention_full_ms: int = key(LONG, 2 * HOUR_MS, LOW, "How long every sample is kept; afterwards one a minute.", at_least(0))
    retention_minutes_ms: int = key(LONG, 2 * DAY_MS, LOW, "How long one sample a minute is kept; afterwards one in ten minutes.", at_least(0))
    retention_ms: int = key(LONG, 30 * DAY_MS, MEDIUM, "How long samples, changes of znodes, events and alarms are kept at all.", at_least(0))
    alarm_under_replicated_after_ms: int = key(LONG, 30_000, MEDIUM, "Alarm where a replica is not in its ISR for so long. -1: never.", at_least(-1))
    alarm_offline_partition_after_ms: int = key(LONG, 5_000, MEDIUM, "Alarm where a partition has no leader for so long. -1: never.", at_least(-1))
    alarm_broker_gone_after_ms: int = key(LONG, 10_000, MEDIUM, "Alarm where a broker with replicas is not registered for so long. -1: never.", at_least(-1))
    alarm_no_controller_after_ms: int = key(LONG, 10_000, MEDIUM, "Alarm where there is no controller for so long. -1: never.", at_least(-1))
    alarm_group_lag_records: int = key(LONG, -1, MEDIUM, "Alarm where a group is so many records behind. -1: never.", at_least(-1))
    alarm_group_lag_ms: int = key(LONG, -1, MEDIUM, "Alarm where the oldest record that a group has not read is so old. -1: never.", at_least(-1))
    alarm_disk_used_percent: int = key(INT, 90, MEDIUM, "Alarm where the disk of a log directory is so full. 101: never.", Range(1, 101))
    alarm_clear_percent: int = key(INT, 80, LOW, "An alarm about a number ends once the number is below so much of its limit.", Range(1, 100))
    alarm_clear_after_ms: int = key(LONG, 10_000, LOW, "An alarm ends after all was well for so long.", at_least(0))
    alarm_webhook_url: str = key(STRING, "", MEDIUM, "Alarms are sent here as JSON, by POST (docs/monitor.md). Empty: nowhere.")
    alarm_email_to: tuple[str, ...] = key(LIST, (), MEDIUM, "Alarms are sent to these addresses. Empty: to nobody.")
    alarm_email_from: str = key(STRING, "kafka-monitor@localhost", LOW, "Sender of those letters.")
    alarm_email_smtp: str = key(STRING, "localhost:25", LOW, "host:port of the mail server.")
    alarm_email_username: str = key(STRING, "", LOW, "Who logs in at the mail server. Empty: nobody has to.")
    alarm_email_password: str = key(PASSWORD, "", LOW, "The password for that. With it, the connection is encrypted (STARTTLS).")


MONITOR_KEYS: Final[Mapping[str, ConfigKey]] = keys_of(MonitorKeys)


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """One cluster. `events`: by broker, the events.log that it writes, where this machine can read it."""

    name: str
    zookeeper: str
    events: Mapping[int, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """The whole file. `base`: where paths begin that are not absolute."""

    clusters: tuple[ClusterSettings, ...]
    keys: MonitorKeys = field(default_factory=MonitorKeys)
    base: Path = field(default_factory=Path)

    @property
    def store_path(self) -> Path:
        """The SQLite file."""
        return self.base / self.keys.data_dir / "monitor.db"

    @staticmethod
    def from_properties(properties: Mapping[str, str], base: Path) -> MonitorSettings:
        """From the entries of a file. Raises ConfigError for a bad value, InvalidMonitorSetting for a bad key."""
        keys = MonitorKeys(**parse_all(MONITOR_KEYS, properties))
        others = {name: value for name, value in properties.items() if name not in MONITOR_KEYS}
        _check_addresses(keys)
        if not keys.clusters:
            raise InvalidMonitorSetting("clusters is empty: name a cluster to watch, and say where its ZooKeeper is with NAME.zookeeper.connect.")
        found = tuple(_cluster(name, others, base) for name in keys.clusters)
        if others:
            raise InvalidMonitorSetting(f"There is no key {min(others)!r}, and no cluster in `clusters` that it could belong to.")
        return MonitorSettings(found, keys, base)


def _check_addresses(keys: MonitorKeys) -> None:
    """Where alarms go: a mistake in it would be noticed only when one rings."""
    url = keys.alarm_webhook_url
    if url and not _URL.fullmatch(url):
        raise InvalidMonitorSetting(f"alarm.webhook.url is {url!r}, which is no address of the form http://HOST/PATH or https://HOST/PATH.")
    strange = next((each for each in (*keys.alarm_email_to, keys.alarm_email_from) if not _MAILBOX.fullmatch(each)), None)
    if strange is not None:
        raise InvalidMonitorSetting(f"{strange!r} in alarm.email.to or alarm.email.from is no address of the form NAME@HOST.")
    if not _SMTP.fullmatch(keys.alarm_email_smtp):
        raise InvalidMonitorSetting(f"alarm.email.smtp is {keys.alarm_email_smtp!r}, which is not of the form HOST or HOST:PORT.")


def _cluster(name: str, others: dict[str, str], base: Path) -> ClusterSettings:
    """Takes the cluster's keys out of `others`."""
    if not _NAME.fullmatch(name):
        raise InvalidMonitorSetting(f"{name!r} cannot be a cluster's name: up to 64 letters, digits, - and _ can.")
    zookeeper = others.pop(f"{name}.{ZOOKEEPER}", "").strip()
    if not zookeeper:
        raise InvalidMonitorSetting(f"Where is cluster {name!r}? {name}.{ZOOKEEPER}=HOST:PORT[/CHROOT] is missing.")
    events = {}
    for entry in [each for each in others if each.startswith(f"{name}.{EVENTS}")]:
        broker = entry.removeprefix(f"{name}.{EVENTS}")
        if not broker.isdecimal():
            raise InvalidMonitorSetting(f"{entry}: the last part of the key must be the number of a broker.")
        events[int(broker)] = base / others.pop(entry).strip()
    return ClusterSettings(name, zookeeper, events)
