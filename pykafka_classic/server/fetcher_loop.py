"""The loop of one fetcher: asks, waits, hands the answer over, asks again. One request is under way at a time.

    epochs to ask for? --> OffsetForLeaderEpoch
    partitions ready?  --> Fetch --> offsets refused? --> ListOffsets latest, earliest
    neither            --> wait replica.fetch.backoff.ms, or until a partition is added

The decisions are replica_fetcher.py's. A fetcher without partitions has no loop: the manager drops it.
"""

from __future__ import annotations

import logging
from typing import TypeVar

from pykafka_classic.common.clock import Clock, Timer
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol import ibp
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.fetch import FetchResponse
from pykafka_classic.protocol.messages.list_offsets import ListOffsetsResponse
from pykafka_classic.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochResponse
from pykafka_classic.protocol.network import Channel, Disconnected
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.fetcher_requests import EARLIEST, LATEST, offsets_of, offsets_request_of
from pykafka_classic.server.fetcher_settings import FetcherSettings
from pykafka_classic.server.replica_fetcher import ReplicaFetcher

log = logging.getLogger("kafka.server.ReplicaFetcherThread")

M = TypeVar("M", bound=Message)


class FetcherLoop:
    """Drives one `ReplicaFetcher` over one channel.

    Invariant: `_pause` is set exactly while the loop waits for time to pass or for `wake`.
    """

    def __init__(self, fetcher: ReplicaFetcher, channel: Channel, clock: Clock, settings: FetcherSettings) -> None:
        self.fetcher = fetcher
        self._channel = channel
        self._clock = clock
        self._config = settings.config
        self._protocol = settings.protocol
        self._pause: Promise[None] | None = None
        self._timer: Timer | None = None
        self._stopped = False

    def start(self) -> None:
        """Begin."""
        log.info("%s Starting", self.fetcher.name)
        spawn(self._run()).when_settled(self._ended)

    def stop(self) -> None:
        """Ask nothing more; an answer under way is dropped."""
        self._stopped = True
        self._channel.close()
        self.wake()

    def wake(self) -> None:
        """There may be something to ask for."""
        pause, self._pause = self._pause, None
        if pause is not None:
            if self._timer is not None:
                self._timer.cancel()
            pause.resolve(None)

    def _has_stopped(self) -> bool:
        return self._stopped

    def _ended(self, outcome: Promise[None]) -> None:
        error = outcome.error()
        if error is not None and not self._stopped:
            log.error("%s Error due to a bug; starting again", self.fetcher.name, exc_info=error)
            self.fetcher.handle_fetch_error()
            self._clock.call_later(self._config.replica_fetch_backoff_ms, self._start_again)

    def _start_again(self) -> None:
        if not self._stopped:
            self.start()

    async def _run(self) -> None:
        while not self._stopped:
            try:
                busy = await self._ask_epochs()
                busy = await self._fetch() or busy
            except Disconnected as error:
                if self._has_stopped():
                    return
                log.warning("%s Error in response for fetch request: %s", self.fetcher.name, error)
                self.fetcher.handle_fetch_error()
                busy = False
            if not busy and not self._stopped:
                await self._wait()

    async def _wait(self) -> None:
        pause: Promise[None] = Promise()
        self._pause = pause
        self._timer = self._clock.call_later(self._config.replica_fetch_backoff_ms, self.wake)
        await pause

    async def _ask_epochs(self) -> bool:
        request = self.fetcher.epoch_request()
        if request is None:
            return False
        response = await self._send(request, ibp.version_to_send(ApiKey.OFFSET_FOR_LEADER_EPOCH, self._protocol), OffsetForLeaderEpochResponse)
        self.fetcher.handle_epoch_response(request, response)
        return True

    async def _fetch(self) -> bool:
        request = self.fetcher.build_fetch()
        if request is None:
            return False
        response = await self._send(request, self.fetcher.fetch_version, FetchResponse)
        if self._has_stopped():
            return True
        self.fetcher.handle_fetch_response(response)
        await self.fetcher.flushes.done()
        if self.fetcher.out_of_range:
            await self._ask_offsets()
        return True

    async def _ask_offsets(self) -> None:
        version = ibp.version_to_send(ApiKey.LIST_OFFSETS, self._protocol)
        partitions = self.fetcher.out_of_range
        for timestamp in (LATEST, EARLIEST):
            epochs = [(each, self.fetcher.states[each].current_leader_epoch) for each in partitions if each in self.fetcher.states]
            if not epochs:
                return
            request = offsets_request_of(self._config.broker_id, timestamp, epochs)
            offsets = offsets_of(await self._send(request, version, ListOffsetsResponse), version)
            try:
                if timestamp == LATEST:
                    partitions = self.fetcher.handle_latest_offsets(offsets)
                else:
                    self.fetcher.handle_earliest_offsets(offsets)
            except KafkaError as error:  # a partition went away between the question and the answer
                log.info("%s %s", self.fetcher.name, error)
                return

    async def _send(self, request: Message, version: int, kind: type[M]) -> M:
        # The leader may hold a Fetch back for replica.fetch.wait.max.ms; only then is it late.
        timeout_ms = self._config.replica_socket_timeout_ms
        response = await self._channel.send(request, version, timeout_ms=timeout_ms)
        assert isinstance(response, kind)
        return response
