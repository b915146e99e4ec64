"""One broker as a client sees it: a channel, the versions that the broker speaks, and a pause after each failure to connect.

The first request of each connection asks for the versions (ApiVersions): after a failure the broker may come back as another release. What a user can get
wrong is told in his words: nobody listens there; a ZooKeeper listens there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pykafka_classic.client.client_errors import UnsupportedByBrokers
from pykafka_classic.client.client_settings import ClientSettings
from pykafka_classic.common.clock import Background, Clock, Random, after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from pykafka_classic.protocol.network import CannotConnect, Disconnected, Network
from pykafka_classic.protocol.schema import Message

SOFTWARE_NAME: Final = "pykafka-classic"
SOFTWARE_VERSION: Final = "1.0"

# After so long without an answer to the first request it is looked who listens there: a ZooKeeper would stay silent for ever.
SUSPICION_MS: Final = 1_000

_JITTER_PERCENT: Final = 20
_KNOWN: Final = frozenset(int(key) for key in ApiKey)


@dataclass(frozen=True, slots=True)
class ClientSeams:
    """What a client needs of the world. All of it runs on one thread, `background` and `probe` aside."""

    network: Network
    clock: Clock
    random: Random
    background: Background
    probe: Callable[[str, int], str | None]  # blocking: who listens at an address, in words, where it is known not to be a broker


class BrokerNode:
    """A broker at an address. Invariant: `_versions` belong to the connection that stands, if one does."""

    def __init__(self, seams: ClientSeams, settings: ClientSettings, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._seams = seams
        self._settings = settings
        self._channel = seams.network.channel(host, port, client_id=settings.client_id)
        self._versions: dict[int, tuple[int, int]] | None = None
        self._negotiation: Promise[dict[int, tuple[int, int]]] | None = None
        self._failures = 0
        self._blocked_until_ms = 0.0
        self._last_failure: Disconnected | None = None
        self.requests_in_flight = 0

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def is_blocked(self) -> bool:
        """True for a while after a failure to connect: a `send` would fail at once."""
        return self._seams.clock.monotonic_ms() < self._blocked_until_ms

    async def version_of(self, api_key: ApiKey) -> int:
        """The highest version that the broker and we know. UnsupportedByBrokers where there is none; Disconnected."""
        versions = self._versions if self._versions is not None else await self._negotiated()
        served, spec = versions.get(api_key), spec_of(api_key)
        if served is None or min(served[1], spec.max_version) < max(served[0], spec.min_version):
            offer = f"v{served[0]} to v{served[1]}" if served else "nothing"
            raise UnsupportedByBrokers(f"broker {self} offers {offer} of {api_key.name}, we know v{spec.min_version} to v{spec.max_version}")
        return min(served[1], spec.max_version)

    async def send(self, request: Message, *, version: int | None = None, timeout_ms: float | None = None) -> Message:
        """The response; `version`: the highest that both know. Requests go out in the order of these calls. Disconnected, UnsupportedByBrokers."""
        if version is None:
            version = await self.version_of(ApiKey(request.API_KEY))
        return await self._send(request, version, self._settings.request_timeout_ms if timeout_ms is None else timeout_ms)

    def close(self) -> None:
        """Close the connection; what is under way fails with Disconnected."""
        self._versions = None
        self._channel.close()

    async def _send(self, request: Message, version: int, timeout_ms: float) -> Message:
        if self.is_blocked:
            raise Disconnected(f"{self._last_failure or self}")
        self.requests_in_flight += 1
        try:
            response = await self._channel.send(request, version, timeout_ms=timeout_ms)
        except Disconnected as error:
            self._failed(error)
            raise
        finally:
            self.requests_in_flight -= 1
        self._failures = 0
        return response

    def _failed(self, error: Disconnected) -> None:
        self._versions = None
        self._last_failure = error
        if self.requests_in_flight > 1 and not isinstance(error, CannotConnect):
            return  # one end of a connection is one failure, however many requests it had
        settings = self._settings
        pause = min(settings.reconnect_backoff_ms * 2**self._failures, settings.reconnect_backoff_max_ms)
        pause *= 1 + (self._seams.random.randrange(2 * _JITTER_PERCENT + 1) - _JITTER_PERCENT) / 100
        self._failures = min(self._failures + 1, 30)
        self._blocked_until_ms = self._seams.clock.monotonic_ms() + pause

    # The first request of a connection

    def _negotiated(self) -> Promise[dict[int, tuple[int, int]]]:
        if self._negotiation is None:
            negotiation = self._negotiation = spawn(self._negotiate())
            negotiation.when_settled(self._negotiation_ended)
            return negotiation
        return self._negotiation

    def _negotiation_ended(self, negotiation: Promise[dict[int, tuple[int, int]]]) -> None:
        self._negotiation = None
        if negotiation.error() is None:
            self._versions = negotiation.result()

    async def _negotiate(self) -> dict[int, tuple[int, int]]:
        try:
            response = await self._first_answer(spec_of(ApiKey.API_VERSIONS).max_version)
            if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
                offered = [each.max_version for each in response.api_keys if each.api_key == ApiKey.API_VERSIONS]
                response = await self._first_answer(min(spec_of(ApiKey.API_VERSIONS).max_version, *offered) if offered else 0)
        except CannotConnect:
            raise
        except Disconnected as error:
            raise Disconnected(await self._explain(error)) from error
        if response.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(response.error_code))
        return {each.api_key: (each.min_version, each.max_version) for each in response.api_keys if each.api_key in _KNOWN}

    async def _first_answer(self, version: int) -> ApiVersionsResponse:
        request = ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=SOFTWARE_VERSION)
        answer = spawn(self._send(request, version, self._settings.request_timeout_ms))
        await _settled_or_late(self._seams.clock, answer)
        if not answer.settled and await self._seams.background.run(lambda: self._seams.probe(self.host, self.port)) is not None and not answer.settled:
            self._channel.close()
        response = await answer
        assert isinstance(response, ApiVersionsResponse)
        return response

    async def _explain(self, error: Disconnected) -> str:
        found = await self._seams.background.run(lambda: self._seams.probe(self.host, self.port))
        return found or f"what listens at {self} is no broker, or one older than 0.10: {error}"


def _settled_or_late(clock: Clock, promise: Promise[Message]) -> Promise[None]:
    """Kept when `promise` is settled, or has taken suspiciously long."""
    waited: Promise[None] = Promise()

    def end(_: object = None) -> None:
        timer.cancel()
        if not waited.settled:
            waited.resolve(None)

    timer = clock.call_later(SUSPICION_MS, end)
    promise.when_settled(end)
    return waited


def pause(clock: Clock, settings: ClientSettings) -> Promise[None]:
    """Kafka's retry.backoff.ms."""
    return after(clock, settings.retry_backoff_ms)
