"""One queue of requests for each broker, sent one at a time, each again and again until it is answered or the broker is gone.

Order is all: a broker gets the controller's requests in the order of the decisions, so the next one leaves only when the one before was answered. A broker
that does not answer is no reason to skip anything: its queue waits, and is dropped when its znode vanishes (`remove_broker`). When it returns it is told
everything anew.
Mirrors ControllerChannelManager and RequestSendThread of Kafka's controller/ControllerChannelManager.scala; facts/coordination.md 3.13.

Differs from Kafka: no thread for each broker; a promise and a timer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from pykafka_classic.common.clock import Clock, Timer
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.promise import Promise
from pykafka_classic.controller.controller_context import LiveBroker
from pykafka_classic.controller.logs import PrefixedLog
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.network import Channel, Disconnected, Network
from pykafka_classic.protocol.schema import Message

RETRY_BACKOFF_MS: Final = 100


class QueueItem(NamedTuple):
    """A request and who wants its response."""

    request: Message
    version: int
    on_response: Callable[[Message], None]


class RequestSender:
    """The queue of one broker. Invariant: at most one request is under way, and it is the head of the queue."""

    def __init__(self, channel: Channel, clock: Clock, *, log: PrefixedLog, name: str, timeout_ms: float) -> None:
        self._channel = channel
        self._clock = clock
        self._log = log
        self._name = name  # "127.0.0.1:9092 (id: 1)"
        self._timeout_ms = timeout_ms
        self._queue: deque[QueueItem] = deque()
        self._under_way = False
        self._connected = False
        self._closed = False
        self._retry: Timer | None = None

    @property
    def queue_size(self) -> int:
        """Requests not answered yet."""
        return len(self._queue)

    def put(self, item: QueueItem) -> None:
        """Send when those before it have been answered."""
        self._queue.append(item)
        self._send_next()

    def close(self) -> None:
        """Forget all requests and the connection."""
        self._closed = True
        self._queue.clear()
        if self._retry is not None:
            self._retry.cancel()
        self._channel.close()

    def _send_next(self) -> None:
        if self._under_way or self._closed or not self._queue:
            return
        self._under_way = True
        item = self._queue[0]
        self._channel.send(item.request, item.version, timeout_ms=self._timeout_ms).when_settled(self._on_settled)

    def _on_settled(self, outcome: Promise[Message]) -> None:
        error = outcome.error()
        if self._closed:
            return
        if error is not None:
            self._on_failure(error)
            return
        if not self._connected:
            self._connected = True
            self._log.info("Connected to %s for sending state change requests", self._name)
        item = self._queue.popleft()
        self._under_way = False
        item.on_response(outcome.result())
        self._send_next()

    def _on_failure(self, error: BaseException) -> None:
        if not isinstance(error, Disconnected):
            raise error
        if self._connected or self._retry is None:  # once for each loss: a dead broker is retried ten times a second
            self._log.warning("Failed to send %s to %s: %s. Retrying every %d ms.", _name_of(self._queue[0].request), self._name, error, RETRY_BACKOFF_MS)
        self._connected = False
        self._retry = self._clock.call_later(RETRY_BACKOFF_MS, self._send_again)

    def _send_again(self) -> None:
        self._under_way = False
        self._send_next()


def _name_of(request: Message) -> str:
    return spec_of(ApiKey(request.API_KEY)).request.__name__


class ControllerChannelManager:
    """The senders of all brokers that have a znode."""

    def __init__(self, config: KafkaConfig, controller_id: int, network: Network, clock: Clock) -> None:
        self.controller_id = controller_id
        self._config = config
        self._network = network
        self._clock = clock
        self._senders: dict[int, RequestSender] = {}
        self._log = PrefixedLog("kafka.controller.RequestSendThread", lambda: f"[RequestSendThread controllerId={controller_id}] ")

    @property
    def broker_ids(self) -> list[int]:
        """The brokers that have a queue."""
        return sorted(self._senders)

    @property
    def total_queue_size(self) -> int:
        """Requests not answered yet, of all brokers together."""
        return sum(sender.queue_size for sender in self._senders.values())

    def startup(self, brokers: Mapping[int, LiveBroker]) -> None:
        """Begin with these brokers."""
        for broker_id, broker in brokers.items():
            self.add_broker(broker_id, broker)

    def shutdown(self) -> None:
        """Drop all queues: the controller resigns."""
        for broker_id in list(self._senders):
            self.remove_broker(broker_id)

    def add_broker(self, broker_id: int, broker: LiveBroker) -> None:
        """Open a queue for a broker, if it has none and if it listens where the controller speaks."""
        if broker_id in self._senders:
            return
        listener = self._config.control_plane_listener or self._config.inter_broker_listener
        endpoint = broker.registration.endpoint(listener)
        if endpoint is None:
            self._log.error("Broker %d has no endpoint for listener %s: it can be sent nothing", broker_id, listener)
            return
        channel = self._network.channel(endpoint.host, endpoint.port, client_id=str(self.controller_id))
        name = f"{endpoint.host}:{endpoint.port} (id: {broker_id} rack: {broker.registration.rack or 'null'})"
        self._senders[broker_id] = RequestSender(channel, self._clock, log=self._log, name=name, timeout_ms=self._config.request_timeout_ms)

    def remove_broker(self, broker_id: int) -> None:
        """Close a broker's queue and drop what is in it."""
        sender = self._senders.pop(broker_id, None)
        if sender is not None:
            sender.close()

    def send_request(self, broker_id: int, request: Message, version: int, on_response: Callable[[Message], None]) -> None:
        """Put a request into a broker's queue."""
        sender = self._senders.get(broker_id)
        if sender is None:
            self._log.warning("Not sending %s to broker %d, since it is offline.", _name_of(request), broker_id)
            return
        sender.put(QueueItem(request, version, on_response))
