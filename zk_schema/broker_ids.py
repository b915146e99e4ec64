"""`/brokers/ids/N`: broker N is alive, and this is how to reach it.

* Kind: ephemeral, of the broker's session.
* Writer: broker N, in a multi: create with null data, then set the data at version 0. The czxid of the creation is the *broker epoch*; a later rewrite
  (listeners changed) keeps it.
* Watchers: the controller watches the children of /brokers/ids (brokers coming and going) and each node's data (changed listeners); old consumers while there
  is no broker.

| JSON version | written by | adds |
|---|---|---|
| 1 | 0.8 | host, port, jmx_port, timestamp |
| 2 | 0.9 | endpoints; a listener's security protocol is its name |
| 3 | nobody released | rack |
| 4 | 0.10.0-IV1 and later | listener_security_protocol_map, rack where configured |
| 5 | 2.7-IV0 and later | features (always empty in practice) |

`host` and `port` repeat the first endpoint whose security protocol is PLAINTEXT (null and -1 without one): what the oldest clients look at.

Sample (in one line):

    {"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://127.0.0.1:9092"],"rack":"r1",
     "jmx_port":-1,"port":9092,"host":"127.0.0.1","version":5,"timestamp":"1795239260063"}

Source: BrokerIdZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala, 2.8:core/src/main/scala/kafka/cluster/EndPoint.scala; facts/coordination.md 1.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Protocol

from zk_schema.errors import MalformedZNode
from zk_schema.json_fields import INT_MAX, JsonFields, to_json

PATH: Final = "/brokers/ids"
FAMILY: Final = "/brokers/ids/N"
NEWEST_VERSION: Final = 5

_END_POINT: Final = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]{1,10})")
_ID_0_10_0_IV1: Final = 5  # ids of inter.broker.protocol.version in Kafka's ApiVersion.scala
_ID_2_7_IV0: Final = 28


class SecurityProtocol(IntEnum):
    """How bytes travel; the numbers are those of UpdateMetadata's endpoints."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3

    @property
    def id(self) -> int:
        """The number on the wire."""
        return self.value


@dataclass(frozen=True, slots=True)
class EndPoint:
    """One advertised listener. Prints as znodes hold it: `PLAINTEXT://host:9092`."""

    listener_name: str  # upper case
    host: str
    port: int
    security_protocol: SecurityProtocol

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener_name}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class BrokerIdZNode:
    """A broker's registration. Its id is the node's name, its epoch the node's czxid."""

    endpoints: tuple[EndPoint, ...]
    timestamp_ms: int = -1  # when registered; -1: not stored
    rack: str | None = None
    jmx_port: int = -1  # -1: JMX is off
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # name: (min version, max version)
    version: int = NEWEST_VERSION  # of the JSON

    def endpoint(self, listener_name: str) -> EndPoint | None:
        """The endpoint of a listener; None where the broker has no such listener."""
        return next((endpoint for endpoint in self.endpoints if endpoint.listener_name == listener_name), None)


class InterBrokerVersion(Protocol):
    """A value of inter.broker.protocol.version."""

    @property
    def id(self) -> int:
        """Kafka's number for it."""
        ...


def path(broker_id: int) -> str:
    """A broker's node."""
    return f"{PATH}/{broker_id}"


def broker_id_of(child: str) -> int:
    """The broker's id from a child's name or whole path."""
    name = child.rpartition("/")[2]
    if not (name.isascii() and name.isdigit() and len(name) <= 10 and int(name) <= INT_MAX):
        raise MalformedZNode(child, "a broker's id is a number")
    return int(name)


def registration(
    *, end_points: Iterable[tuple[str, str, int, str]], rack: str | None, timestamp_ms: int, ibp: InterBrokerVersion, jmx_port: int = -1
) -> BrokerIdZNode:
    """What a broker of this inter.broker.protocol.version writes. An end point is (listener name, host, port, name of the security protocol)."""
    if ibp.id >= _ID_2_7_IV0:
        version = 5
    else:
        version = 4 if ibp.id >= _ID_0_10_0_IV1 else 2
    endpoints = tuple(EndPoint(name, host, port, SecurityProtocol[protocol]) for name, host, port, protocol in end_points)
    return BrokerIdZNode(endpoints, timestamp_ms, rack if version >= 3 else None, jmx_port, version=version)


def encode(value: BrokerIdZNode) -> bytes:
    """The JSON of `value.version`; what that version lacks is left out."""
    plaintext = next((endpoint for endpoint in value.endpoints if endpoint.security_protocol is SecurityProtocol.PLAINTEXT), None)
    fields: dict[str, object] = {}
    if value.version >= 5:
        fields["features"] = {name: {"min_version": low, "max_version": high} for name, (low, high) in value.features.items()}
    if value.version >= 4:
        fields["listener_security_protocol_map"] = {endpoint.listener_name: endpoint.security_protocol.name for endpoint in value.endpoints}
    if value.version >= 2:
        fields["endpoints"] = [str(endpoint) for endpoint in value.endpoints]
    if value.version >= 3 and value.rack is not None:
        fields["rack"] = value.rack
    fields["jmx_port"] = value.jmx_port
    fields["port"] = plaintext.port if plaintext is not None else -1
    fields["host"] = plaintext.host if plaintext is not None else None
    return to_json(fields | {"version": value.version, "timestamp": str(value.timestamp_ms)})


def decode(data: bytes | None) -> BrokerIdZNode:
    """Any version from 1 on, newer ones than ours too."""
    fields = JsonFields.of(data, FAMILY)
    version = fields.integer("version")
    if version < 1:
        fields.fail(f"unsupported version {version}")
    return BrokerIdZNode(
        endpoints=_endpoints(fields, version),
        timestamp_ms=fields.decimal("timestamp", default=-1),
        rack=fields.optional_text("rack"),
        jmx_port=fields.integer("jmx_port"),
        features=_features(fields.optional_fields("features")),
        version=version,
    )


def _endpoints(fields: JsonFields, version: int) -> tuple[EndPoint, ...]:
    if version == 1:
        return (EndPoint("PLAINTEXT", fields.text("host"), fields.integer("port"), SecurityProtocol.PLAINTEXT),)
    protocols = fields.fields("listener_security_protocol_map").text_map() if fields.has("listener_security_protocol_map") else None
    return tuple(_parse_endpoint(text, protocols) for text in fields.texts("endpoints"))


def _parse_endpoint(text: str, protocols: Mapping[str, str] | None) -> EndPoint:
    match = _END_POINT.fullmatch(text)
    if match is None:
        raise MalformedZNode(FAMILY, f"{text!r:.80} is not NAME://host:port")
    listener = match[1].upper()
    protocol = listener if protocols is None else protocols.get(listener)
    if protocol is None or protocol not in SecurityProtocol.__members__:
        raise MalformedZNode(FAMILY, f"no security protocol for listener {listener:.80}")
    return EndPoint(listener, match[2], int(match[3]), SecurityProtocol[protocol])


def _features(stored: JsonFields) -> dict[str, tuple[int, int]]:
    return {
        name: (levels.integer("min_version"), levels.integer("max_version")) for name, levels in ((name, stored.fields(name)) for name, _ in stored.items())
    }
