"""config/monitor.properties: every key known and explained, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykafka_classic.common.config_def import ConfigError
from pykafka_classic.common.properties import parse_properties
from pykafka_classic.monitor.settings import MONITOR_KEYS, InvalidMonitorSetting, MonitorSettings
from tests.unit.common.test_sample_configs import CONFIG, entries

SAMPLE = CONFIG / "monitor.properties"
BASE = Path("/checkout")


def settings(**properties: str) -> MonitorSettings:
    """With a cluster `local`; `_` stands for a dot."""
    named = {name.replace("_", "."): value for name, value in properties.items()}
    return MonitorSettings.from_properties({"local.zookeeper.connect": "zk:2181"} | named, BASE)


def test_the_sample_shows_every_key_with_a_comment_and_its_default() -> None:
    shown = {key: (value, comment, in_force) for key, value, comment, in_force in entries(SAMPLE)}
    own = {key for key in shown if key.startswith("local.")}
    assert shown.keys() - own == MONITOR_KEYS.keys()
    for key, (value, comment, in_force) in shown.items():
        assert comment, key
        if in_force and key not in own:
            assert MONITOR_KEYS[key].parse(value) == MONITOR_KEYS[key].default, key


def test_the_sample_is_valid() -> None:
    found = MonitorSettings.from_properties(parse_properties(SAMPLE.read_text()), BASE)
    assert [(each.name, each.zookeeper, each.events) for each in found.clusters] == [("local", "localhost:2181", {})]
    assert found.store_path == BASE / "data" / "monitor" / "monitor.db"


def test_clusters_have_their_own_keys_and_paths_begin_at_the_checkout() -> None:
    found = settings(clusters="local, far", far_zookeeper_connect="a:1,b:2/chroot", local_events_3="logs/events.log", local_events_10="/x/events.log")
    assert [each.zookeeper for each in found.clusters] == ["zk:2181", "a:1,b:2/chroot"]
    assert found.clusters[0].events == {3: BASE / "logs/events.log", 10: Path("/x/events.log")}
    assert settings(data_dir="/var/lib/monitor").store_path == Path("/var/lib/monitor/monitor.db")


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({"clusters": ""}, "clusters is empty"),
        ({"clusters": "local,far"}, "far.zookeeper.connect=HOST:PORT[/CHROOT] is missing"),
        ({"clusters": "a/b"}, "'a/b' cannot be a cluster's name"),
        ({"prot": "8048"}, "There is no key 'prot'"),
        ({"alarm_webhook_url": "ftp://x"}, "alarm.webhook.url is 'ftp://x', which is no address of the form http://HOST/PATH"),
        ({"alarm_email_to": "a@b, operators"}, "'operators' in alarm.email.to or alarm.email.from is no address of the form NAME@HOST"),
        ({"alarm_email_smtp": "mail:smtp"}, "alarm.email.smtp is 'mail:smtp', which is not of the form HOST or HOST:PORT"),
        ({"local_events_one": "x"}, "the last part of the key must be the number of a broker"),
    ],
)
def test_mistakes_are_told_in_a_sentence(properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(InvalidMonitorSetting) as told:
        settings(**properties)
    assert complaint in str(told.value)


def test_values_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"interval\.ms"):
        settings(interval_ms="10")
