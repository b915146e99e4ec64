"""How many connections a broker takes: all its listeners together, one address, and how many new ones a second.

A listener that may take no more stops accepting: peers wait in the system's queue. Over the limit of its address a connection is refused.

Differs from Kafka: over `max.connections` Kafka closes an idle connection in favour of one of its brokers; here the listener of the brokers is not bound by
that limit, as long as there are others.

Mirrors kafka.network.ConnectionQuotas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.config import KafkaConfig

UNLIMITED: Final = 2**31 - 1


class Rate:
    """New connections per second, as a bucket of tokens that holds those of one second."""

    def __init__(self, per_second: int = UNLIMITED) -> None:
        self._per_second = per_second
        self._tokens = float(per_second)
        self._filled_s: float | None = None

    def change(self, per_second: int) -> None:
        """Another limit from now on."""
        if per_second != self._per_second:
            self._per_second, self._tokens, self._filled_s = per_second, float(per_second), None

    def take(self, now_s: float) -> float:
        """A connection comes in; how many seconds from now on none may."""
        if self._per_second == UNLIMITED:
            return 0.0
        passed = 0.0 if self._filled_s is None else now_s - self._filled_s
        self._tokens = min(float(self._per_second), self._tokens + passed * self._per_second) - 1
        self._filled_s = now_s
        return max(0.0, (1 - self._tokens) / self._per_second)


@dataclass(frozen=True, slots=True)
class BrokerLimits:
    """Of all listeners together.

    Attributes:
        per_ip_overrides: other limits for some addresses.
    """

    connections: int = UNLIMITED  # max.connections
    per_ip: int = UNLIMITED  # max.connections.per.ip
    per_ip_overrides: Mapping[str, int] | None = None
    creation_rate: int = UNLIMITED  # max.connection.creation.rate

    @staticmethod
    def of(config: KafkaConfig) -> BrokerLimits:
        """A broker's."""
        return BrokerLimits(config.max_connections, config.max_connections_per_ip, config.connections_per_ip_overrides, config.max_connection_creation_rate)


class ConnectionQuota:
    """Counts the connections of one broker. `on_change`: the listeners, who may have to stop accepting, or may begin again."""

    def __init__(self, limits: BrokerLimits | None = None) -> None:
        self._limits = limits or BrokerLimits()
        self._by_host: Counter[str] = Counter()
        self._total = 0
        self.rate = Rate(self._limits.creation_rate)
        self.on_change: list[Callable[[], None]] = []

    def change(self, limits: BrokerLimits) -> None:
        """Other limits from now on; connections that are there stay."""
        self._limits = limits
        self.rate.change(limits.creation_rate)
        self._tell()

    @property
    def has_room(self) -> bool:
        """Whether the broker may take another one."""
        return self._total < self._limits.connections

    @property
    def limit(self) -> int:
        """max.connections."""
        return self._limits.connections

    def limit_of(self, host: str) -> int | None:
        """The limit that an address has reached; None where it has not."""
        limit = (self._limits.per_ip_overrides or {}).get(host, self._limits.per_ip)
        return limit if self._by_host[host] >= limit else None

    def added(self, host: str) -> None:
        """A connection has been accepted."""
        self._by_host[host] += 1
        self._total += 1
        self._tell()

    def removed(self, host: str) -> None:
        """It has ended."""
        self._by_host[host] -= 1
        self._total -= 1
        if not self._by_host[host]:
            del self._by_host[host]
        self._tell()

    def _tell(self) -> None:
        for listener in list(self.on_change):
            listener()
