"""What the servers of a ZooKeeper ensemble tell about themselves: who leads, and who watches what.

By four-letter words (`srvr`, `wchp`, `cons`) on the client port, where `4lw.commands.whitelist` allows them; else by the AdminServer's `/commands/...` on port
8080. Where both are shut, that is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from twisted.internet import protocol

from pykafka_classic.common.promise import Promise, gather, spawn
from pykafka_classic.edges.clocks import ReactorClock
from pykafka_classic.edges.reactor import Reactor

TIMEOUT_S: Final = 1.5
ASKED_EVERY_MS: Final = 3_000
ANSWER_MAX: Final = 4 << 20
ADMIN_PORT: Final = 8080
REFUSED: Final = "is not executed because it is not in the whitelist"

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Server:
    """A server. `mode`: leader, follower, observer, standalone; or empty, and `problem` says why."""

    address: Address
    mode: str = ""
    version: str = ""
    connections: str = ""
    outstanding: str = ""
    nodes: str = ""
    zxid: str = ""
    latency: str = ""
    problem: str = ""

    @property
    def name(self) -> str:
        """host:port."""
        return f"{self.address[0]}:{self.address[1]}"


def addresses(connect: str) -> list[Address]:
    """Of zookeeper.connect."""
    found = []
    for each in connect.partition("/")[0].split(","):
        host, colon, port = each.strip().rpartition(":")
        found.append((host, int(port)) if colon and port.isdecimal() else (each.strip(), 2181))
    return found


@dataclass(frozen=True, slots=True)
class Told:
    """What all servers told. `by_path`: the AdminServers' words, where four-letter words are shut."""

    servers: Sequence[Server]
    wchp: Sequence[str]
    by_path: Sequence[Mapping[str, Sequence[object]]]

    def watchers(self, path: str) -> tuple[list[str], str]:
        """The sessions that watch a path; and, where that is not told, why not."""
        if self.wchp:
            return sorted({session for text in self.wchp for session in watchers_in(text, path)}), ""
        if self.by_path:
            return sorted({str(session) for each in self.by_path for session in each.get(path, ())}), ""
        return [], "The ensemble does not tell: add wchp to 4lw.commands.whitelist, or open its AdminServer."


class Ensembles:
    """Asks, at most every few seconds: who watches what costs a server some work."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._clock = ReactorClock(reactor)
        self._known: dict[str, tuple[float, Promise[Told]]] = {}

    def of(self, connect: str) -> Promise[Told]:
        """What the ensemble at these addresses tells."""
        now = self._clock.monotonic_ms()
        known = self._known.get(connect)
        if known is None or known[0] + ASKED_EVERY_MS < now:
            known = self._known[connect] = (now, spawn(self._ask(connect)))
        return known[1]

    async def _ask(self, connect: str) -> Told:
        places = addresses(connect)
        servers = await gather([spawn(_ask_server(self._reactor, address)) for address in places])
        told = await gather([ask(self._reactor, address, b"wchp") for address in places])
        wchp = [text for text in told if text is not None and REFUSED not in text]
        by_path = [] if wchp else await gather([spawn(_admin(self._reactor, host, "watches_by_path")) for host, _ in places])
        return Told(servers, wchp, [each.get("path_to_ids", {}) for each in by_path if each is not None])


def watchers_in(text: str, path: str) -> list[str]:
    """Of wchp's answer: a path on a line, below it the sessions, each after a tab."""
    found: list[str] = []
    is_it = False
    for line in text.splitlines():
        if line.startswith("\t"):
            found += [line.strip()] if is_it else []
        else:
            is_it = line == path
    return found


async def _ask_server(reactor: Reactor, address: Address) -> Server:
    text = await ask(reactor, address, b"srvr")
    if text is not None and REFUSED not in text:
        return server_of(address, text)
    told = await _admin(reactor, address[0], "server_stats")
    if told is not None:
        stats = told.get("server_stats", {})
        return Server(address, str(stats.get("server_state", "")), str(told.get("version", "")), str(told.get("num_alive_client_connections", "")))
    return Server(address, problem="It does not answer." if text is None else "It does not tell: add srvr to 4lw.commands.whitelist, or open its AdminServer.")


def server_of(address: Address, text: str) -> Server:
    """From srvr's answer: lines `Name: value`."""
    told = dict(re.findall(r"^([^:\n]+): *(.*)$", text, re.MULTILINE))
    return Server(
        address,
        told.get("Mode", ""),
        told.get("Zookeeper version", "").partition("-")[0],
        told.get("Connections", ""),
        told.get("Outstanding", ""),
        told.get("Node count", ""),
        told.get("Zxid", ""),
        next((value for name, value in told.items() if name.startswith("Latency")), ""),
        "" if "Mode" in told else text.strip()[:200],
    )


class _Asking(protocol.Protocol):
    """Sends a few bytes, and takes what comes until the other side closes."""

    def __init__(self, question: bytes, answered: Promise[str | None]) -> None:
        self._question = question
        self._answered = answered
        self._taken = bytearray()

    def connectionMade(self) -> None:
        transport: Any = self.transport
        transport.write(self._question)

    def dataReceived(self, data: bytes) -> None:
        self._taken += data
        if len(self._taken) > ANSWER_MAX:
            self.end()

    def connectionLost(self, reason: Any = protocol.connectionDone) -> None:  # noqa: ARG002  # Twisted's way to call
        if not self._answered.settled:
            self._answered.resolve(self._taken.decode("utf-8", "replace"))

    def end(self) -> None:
        """Close."""
        transport: Any = self.transport
        if transport is not None:
            transport.abortConnection()


class _Factory(protocol.ClientFactory):
    noisy = False

    def __init__(self, asking: _Asking, answered: Promise[str | None]) -> None:
        self._asking = asking
        self._answered = answered

    def buildProtocol(self, addr: Any) -> _Asking:  # noqa: ARG002
        return self._asking

    def clientConnectionFailed(self, connector: Any, reason: Any) -> None:  # noqa: ARG002
        if not self._answered.settled:
            self._answered.resolve(None)


def ask(reactor: Reactor, address: Address, question: bytes) -> Promise[str | None]:
    """The answer; None where there is none in time."""
    answered: Promise[str | None] = Promise()
    asking = _Asking(question, answered)
    reactor.connectTCP(*address, _Factory(asking, answered), timeout=TIMEOUT_S)

    def late() -> None:
        if not answered.settled:
            answered.resolve(None)
            asking.end()

    timer = ReactorClock(reactor).call_later(TIMEOUT_S * 1000, late)
    answered.when_settled(lambda _: timer.cancel())
    return answered


async def _admin(reactor: Reactor, host: str, command: str) -> dict[str, Any] | None:
    text = await ask(reactor, (host, ADMIN_PORT), f"GET /commands/{command} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
    if text is None or " 200 " not in text.partition("\r\n")[0]:
        return None
    try:
        found = json.loads(text.partition("\r\n\r\n")[2])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
