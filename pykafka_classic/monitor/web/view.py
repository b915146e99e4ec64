"""What the functions behind the routes are given: `View` to read from, `Page` to give back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pykafka_classic.monitor.store.answers import BrokerState
from pykafka_classic.monitor.store.reader import StoreReader
from pykafka_classic.monitor.web.access import User
from pykafka_classic.monitor.web.exchange import Request


@dataclass(frozen=True, slots=True)
class Present:
    """What the collector knows of this moment and the store does not. `silent`: brokers that do not answer, and since when."""

    state: str = "connected"
    silent: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class View:
    """What a page is made from. `cluster` is empty on pages that are about none."""

    reader: StoreReader
    request: Request
    user: User
    now_ms: int
    cluster: str = ""
    present: Present = field(default_factory=Present)
    settings: Any = None

    @property
    def parts(self) -> Mapping[str, str]:
        """What the braces of the route stand for."""
        return self.request.parts


@dataclass(frozen=True, slots=True)
class Page:
    """A template and what is put in."""

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class BrokerLine:
    """A broker as lists show it: `state` is up, silent (registered, but does not answer) or gone."""

    broker: BrokerState
    state: str
    since_ms: int


def broker_lines(view: View) -> list[BrokerLine]:
    """All brokers of the cluster, with what ZooKeeper says and what they say themselves."""
    lines = []
    for each in view.reader.brokers_at(view.cluster):
        silent_ms = view.present.silent.get(each.broker)
        if not each.alive:
            lines.append(BrokerLine(each, "gone", each.registered_ms))
        elif silent_ms is not None:
            lines.append(BrokerLine(each, "silent", silent_ms))
        else:
            lines.append(BrokerLine(each, "up", each.registered_ms))
    return lines
