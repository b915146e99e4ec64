"""A live broker and its addresses.

Mirrors kafka.cluster.{Broker, BrokerEndPoint} and the client's Node. The end points themselves are `common.listeners.EndPoint`: name, security protocol, host,
port.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from pykafka_classic.common.listeners import EndPoint


class Node(NamedTuple):
    """A broker at one listener: what clients are told."""

    id: int
    host: str
    port: int
    rack: str | None = None

    def __str__(self) -> str:
        return f"{self.host}:{self.port} (id: {self.id} rack: {'null' if self.rack is None else self.rack})"


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that the controller believes to be alive. `end_points` is by listener name, upper case."""

    id: int
    end_points: Mapping[str, EndPoint]
    rack: str | None = None

    @staticmethod
    def of(broker_id: int, end_points: Iterable[EndPoint], rack: str | None = None) -> Broker:
        """A broker with these listeners."""
        return Broker(broker_id, MappingProxyType({each.listener_name: each for each in end_points}), rack)

    def node(self, listener: str) -> Node | None:
        """Its address at a listener; None where it has no such listener."""
        end_point = self.end_points.get(listener)
        return None if end_point is None else Node(self.id, end_point.host, end_point.port, self.rack)
