"""Addresses: what the text of `listeners` and of its relatives means.

    listeners=PLAINTEXT://:9092,REPLICATION://10.0.0.1:9093
    listener.security.protocol.map=PLAINTEXT:PLAINTEXT,REPLICATION:SSL

Source: 2.8:core/src/main/scala/kafka/cluster/EndPoint.scala, kafka/utils/CoreUtils.scala (KIP-103).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.config_def import ConfigError

SECURITY_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

_END_POINT: Final = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")
_FORM: Final = "NAME://host:port, separated by commas"


@dataclass(frozen=True, slots=True)
class EndPoint:
    """One listener. An empty host means every interface (in `listeners`) or this machine's own name (in `advertised.listeners`)."""

    host: str
    port: int  # 0: any free port
    listener_name: str  # upper case
    security_protocol: str  # one of SECURITY_PROTOCOLS

    @property
    def connection_string(self) -> str:
        """As znodes hold it: `PLAINTEXT://host:port`, brackets around an IPv6 address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener_name}://{host}:{self.port}"


def parse_protocol_map(text: str) -> dict[str, str]:
    """Security protocol by listener name. Raises ConfigError."""
    pairs = {}
    for part in filter(None, re.split(r"\s*,\s*", text.strip())):
        name, colon, protocol = part.rpartition(":")
        if not colon or protocol not in SECURITY_PROTOCOLS:
            raise ConfigError("listener.security.protocol.map", text, f"NAME:PROTOCOL,... where PROTOCOL is one of {', '.join(SECURITY_PROTOCOLS)}")
        pairs[name.strip().upper()] = protocol
    return pairs


def parse_overrides(text: str) -> dict[str, int]:
    """Numbers of connections by address, `host:count,...`. Raises ConfigError."""
    counts = {}
    for part in filter(None, re.split(r"\s*,\s*", text.strip())):
        host, colon, count = part.rpartition(":")
        if not colon or not count.strip().isdecimal():
            raise ConfigError("max.connections.per.ip.overrides", text, "host:count,... where count is a number of connections")
        counts[host.strip()] = int(count)
    return counts


def parse_end_points(key: str, text: str, protocols: Mapping[str, str]) -> tuple[EndPoint, ...]:
    """The listeners that a text names, in order; their names differ. Raises ConfigError."""
    end_points = tuple(_parse_end_point(key, part, protocols) for part in re.split(r"\s*,\s*", text.strip()) if part)
    if len({each.listener_name for each in end_points}) < len(end_points):
        raise ConfigError(key, text, "Each listener must have a different name")
    return end_points


def require_distinct_ports(key: str, end_points: tuple[EndPoint, ...]) -> None:
    """No two listeners on one port; 0 (any free port) may be repeated. Raises ConfigError."""
    ports = [each.port for each in end_points if each.port]
    if len(set(ports)) < len(ports):
        raise ConfigError(key, ",".join(each.connection_string for each in end_points), "Each listener must have a different port")


def _parse_end_point(key: str, text: str, protocols: Mapping[str, str]) -> EndPoint:
    match = _END_POINT.fullmatch(text)
    if match is None:
        raise ConfigError(key, text, f"Unable to parse {text} to a broker endpoint", allowed=_FORM)
    name, host, port = match[1].upper(), match[2], int(match[3])
    if name not in protocols:
        raise ConfigError(key, text, f"No security protocol defined for listener {name}", allowed=f"{_FORM}; names: {', '.join(protocols)}")
    if not -1 <= port <= 65535:
        raise ConfigError(key, text, f"{port} is not a port", allowed="ports from 0 (any free one) to 65535")
    return EndPoint(host, port, name, protocols[name])
