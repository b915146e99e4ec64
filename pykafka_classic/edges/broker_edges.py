"""All that one broker process touches the world with: reactor, disk, ZooKeeper session, sockets. `kafka_server` decides what happens with it."""

from __future__ import annotations

import logging
import random
import socket
from collections.abc import Mapping
from dataclasses import replace

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.listeners import EndPoint
from pykafka_classic.common.promise import gather
from pykafka_classic.edges.broker_protocol import Dispatch
from pykafka_classic.edges.clocks import ReactorClock, ThreadPoolBackground
from pykafka_classic.edges.connection_quota import BrokerLimits, ConnectionQuota
from pykafka_classic.edges.disk import DiskFileSystem
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.twisted_client import TwistedNetwork
from pykafka_classic.edges.twisted_server import BrokerListener, ListenerSettings
from pykafka_classic.edges.zookeeper import KazooZooKeeper, ZooKeeperSettings
from pykafka_classic.protocol.api_keys import ApiKey

log = logging.getLogger("kafka.server.KafkaServer")


class BrokerEdges:
    """The real seams of one broker. Satisfies `kafka_server.Edges`."""

    def __init__(self, config: KafkaConfig, reactor: Reactor) -> None:
        self.clock = ReactorClock(reactor)
        self.random = random.SystemRandom()
        self.background = ThreadPoolBackground(reactor, threads=config.background_threads)
        self.file_system = DiskFileSystem()
        self.network = TwistedNetwork(reactor)
        self.zk = KazooZooKeeper(ZooKeeperSettings.from_config(config), reactor)
        self._config = config
        self._reactor = reactor
        self._quota = ConnectionQuota(BrokerLimits.of(config))
        self._listeners: dict[str, tuple[EndPoint, BrokerListener]] = {}  # by name
        self._connected = False

    async def connect_zookeeper(self) -> None:
        """A session, within `zookeeper.connection.timeout.ms`; raises ZooKeeperUnavailable."""
        self._connected = True
        await self.zk.connect()

    def listen(self, end_point: EndPoint, apis: Mapping[ApiKey, tuple[int, int]], dispatch: Dispatch) -> int:
        """Bind one listener; its requests wait for `start_processing`. The port, which the config may have left open. Raises CannotListen."""
        listener = BrokerListener(self._reactor, ListenerSettings.from_config(self._config, end_point), apis, dispatch, self._quota)
        port = listener.listen()
        self._listeners[end_point.listener_name] = end_point, listener
        return port

    async def stop_listener(self, name: str) -> None:
        """Close one listener and its connections."""
        _, listener = self._listeners.pop(name)
        await listener.stop()

    def update_config(self, config: KafkaConfig) -> None:
        """The broker's own configuration has changed: limits on connections, and the number of background threads."""
        self._config = config
        self.background.resize(config.background_threads)
        self._quota.change(BrokerLimits.of(config))
        for end_point, listener in self._listeners.values():
            listener.update(ListenerSettings.from_config(config, end_point))

    def start_processing(self) -> None:
        """Serve requests."""
        for _, listener in self._listeners.values():
            listener.start_processing()

    async def stop_listening(self) -> None:
        """Close the listeners and their connections."""
        listeners, self._listeners = self._listeners, {}
        await gather([listener.stop() for _, listener in listeners.values()])

    async def close(self) -> None:
        """End the ZooKeeper session, which removes this broker's ephemeral znodes at once."""
        if self._connected:
            await self.zk.close()
        self.background.close()


def advertised(end_point: EndPoint, bound_port: int | None) -> EndPoint:
    """What to tell others: this machine's name for an empty host, the real port for 0."""
    host = end_point.host or socket.getfqdn()
    return replace(end_point, host=host, port=end_point.port or bound_port or 0)
