"""A broker's last request: "move my leaderships away, I am going" (facts/coordination.md 2.4).

Asks the controller that `/controller` names, up to `controlled.shutdown.max.retries` times. Whatever comes of it the broker stops afterwards: without success
its partitions are without leader until the controller sees its znode vanish.

Differs from Kafka: a ZooKeeper that does not answer holds up the stop for some seconds, not for ever.
"""

from __future__ import annotations

import logging
from typing import Final

from pykafka_classic.common.clock import Clock, after, within
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.zookeeper import Exists, ZooKeeper
from pykafka_classic.protocol import ibp
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from pykafka_classic.protocol.network import Disconnected, Network
from pykafka_classic.server.zk_operations import data_or_none
from zk_schema import broker_ids, controller
from zk_schema.broker_ids import EndPoint

log = logging.getLogger("kafka.server.KafkaServer")

ZOOKEEPER_WAIT_MS: Final = 5000


class ControlledShutdown:
    """The attempts of one broker that stops."""

    def __init__(self, config: KafkaConfig, zk: ZooKeeper, network: Network, clock: Clock) -> None:
        self._config = config
        self._zk = zk
        self._network = network
        self._clock = clock

    async def run(self, broker_id: int, broker_epoch: int) -> bool:
        """True once the controller has moved everything away; False when all attempts failed."""
        if await within(self._clock, self._zk.submit([Exists(controller.PATH)]), ZOOKEEPER_WAIT_MS) is None:
            log.warning("[KafkaServer id=%d] ZooKeeper does not answer: proceeding to do an unclean shutdown", broker_id)
            return False
        attempts = self._config.controlled_shutdown_max_retries
        for attempt in range(1, attempts + 1):
            if await self._attempt(ControlledShutdownRequest(broker_id=broker_id, broker_epoch=broker_epoch)):
                log.info("[KafkaServer id=%d] Controlled shutdown succeeded", broker_id)
                return True
            if attempt < attempts:
                log.warning("[KafkaServer id=%d] Retrying controlled shutdown after the previous attempt failed...", broker_id)
                await after(self._clock, self._config.controlled_shutdown_retry_backoff_ms)
        log.warning("[KafkaServer id=%d] Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed", broker_id)
        return False

    async def _attempt(self, request: ControlledShutdownRequest) -> bool:
        endpoint = await self._controller_endpoint()
        if endpoint is None:
            log.info("No controller registered in ZooKeeper")
            return False
        channel = self._network.channel(endpoint.host, endpoint.port, client_id=str(request.broker_id))
        version = ibp.version_to_send(ApiKey.CONTROLLED_SHUTDOWN, self._config.inter_broker_api_version)
        try:
            response = await channel.send(request, version, timeout_ms=self._config.controller_socket_timeout_ms)
        except Disconnected as error:
            log.warning("Error during controlled shutdown: %s", error)
            return False
        finally:
            channel.close()
        assert isinstance(response, ControlledShutdownResponse)
        if response.error_code == ErrorCode.NONE and not response.remaining_partitions:
            return True
        log.info("Remaining partitions to move: %s; error from controller: %s", response.remaining_partitions, ErrorCode(response.error_code).name)
        return False

    async def _controller_endpoint(self) -> EndPoint | None:
        """Where the controller listens for brokers; None without one, or while its registration is missing."""
        stored = await data_or_none(self._zk, controller.PATH)
        if stored is None:
            return None
        registration = await data_or_none(self._zk, broker_ids.path(controller.decode(stored.data or b"").broker_id))
        if registration is None or not registration.data:
            return None
        return broker_ids.decode(registration.data).endpoint(self._config.inter_broker_listener)
