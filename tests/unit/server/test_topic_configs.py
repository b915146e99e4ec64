"""Who hears of a topic's configs, and when."""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common.promise import spawn
from pykafka_classic.server.topic_configs import TopicConfigs
from tests.fakes.clock import FakeClock
from tests.fakes.zookeeper import FakeZooKeeperServer
from zk_schema import configs

NOTIFICATION = b'{"version":2,"entity_path":"topics/flights"}'


class Heard:
    """A `TopicConfigs`, and what it told."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.server = FakeZooKeeperServer(self.clock)
        for path in ("/config/changes", "/config/topics"):
            self.server.put(path)
        self.applied: list[tuple[str, Mapping[str, str]]] = []
        self.changed: list[tuple[str, Mapping[str, str]]] = []
        self.topic_configs = TopicConfigs(self.server.connect(), self.clock, lambda topic, overrides: self.applied.append((topic, overrides)))
        self.topic_configs.on_change = lambda topic, overrides: self.changed.append((topic, overrides))

    def write(self, **overrides: str) -> None:
        """A tool changes the topic's configs, and says so."""
        self.server.put(configs.topic_path("flights"), configs.encode({key.replace("_", "."): value for key, value in overrides.items()}))

    def announce(self, number: int) -> None:
        """The notification that follows."""
        self.server.put(f"/config/changes/config_change_{number:010d}", NOTIFICATION)


def test_a_change_is_applied_and_then_told() -> None:
    heard = Heard()
    heard.topic_configs.scan()
    heard.write(unclean_leader_election_enable="true")
    heard.announce(0)
    expected = [("flights", {"unclean.leader.election.enable": "true"})]
    assert (heard.applied, heard.changed) == (expected, expected)


def test_a_new_topics_configs_are_applied_but_no_change() -> None:
    heard = Heard()
    heard.write(retention_ms="1")
    spawn(heard.topic_configs.load(["flights"])).result()
    assert heard.applied == [("flights", {"retention.ms": "1"})]
    assert heard.changed == []


def test_each_notification_is_handled_once() -> None:
    heard = Heard()
    heard.write(retention_ms="1")
    heard.announce(0)
    heard.topic_configs.scan()
    heard.announce(1)
    assert len(heard.changed) == 2
