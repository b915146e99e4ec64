"""The admin client's seam over Twisted: channels of `twisted_client`, and what versions their brokers speak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pykafka_classic.client.admin.connections import Address
from pykafka_classic.client.bootstrap import parse_bootstrap
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.edges.blocking_client import API_VERSIONS_NEWEST, SOFTWARE_NAME, SOFTWARE_VERSION
from pykafka_classic.edges.clocks import ReactorClock
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.twisted_client import TwistedChannel, TwistedNetwork
from pykafka_classic.protocol.codec import encode
from pykafka_classic.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Message


class TwistedConnections:
    """Implements `client.admin.connections.BrokerConnections` over a reactor."""

    def __init__(self, reactor: Reactor, bootstrap: Sequence[tuple[str, int]] | str, *, client_id: str) -> None:
        addresses = parse_bootstrap(bootstrap) if isinstance(bootstrap, str) else bootstrap
        self.bootstrap = tuple(Address(*each) for each in addresses)
        self.clock = ReactorClock(reactor)
        self._network = TwistedNetwork(reactor)
        self._client_id = client_id
        self._channels: dict[Address, TwistedChannel] = {}
        self._versions: dict[Address, Mapping[int, tuple[int, int]]] = {}

    def versions(self, address: Address, *, timeout_ms: float) -> Promise[Mapping[int, tuple[int, int]]]:
        """Asked once, and again after a failure: the broker may have been replaced."""
        known = self._versions.get(address)
        return spawn(self._ask_versions(address, timeout_ms)) if known is None else Promise.resolved(known)

    def send(self, address: Address, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        """The response. What the version cannot carry fails too."""
        return spawn(self._send(address, request, version, timeout_ms))

    def close(self) -> None:
        """Close all connections."""
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()
        self._versions.clear()

    async def _ask_versions(self, address: Address, timeout_ms: float) -> Mapping[int, tuple[int, int]]:
        request = ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=SOFTWARE_VERSION)
        response = await self._send(address, request, API_VERSIONS_NEWEST, timeout_ms)
        assert isinstance(response, ApiVersionsResponse)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            response = await self._send(address, request, 0, timeout_ms)
            assert isinstance(response, ApiVersionsResponse)
        found = self._versions[address] = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}
        return found

    async def _send(self, address: Address, request: Message, version: int, timeout_ms: float) -> Message:
        encode(request, version)  # a request that cannot be written would end the connection, with all that is under way on it
        if address not in self._channels:
            self._channels[address] = self._network.channel(*address, client_id=self._client_id)
        try:
            return await self._channels[address].send(request, version, timeout_ms=timeout_ms)
        except Disconnected:
            self._versions.pop(address, None)
            raise
