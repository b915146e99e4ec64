"""The fence against requests that were meant for this broker's previous life (KIP-380)."""

from __future__ import annotations

import logging

from pykafka_classic.server.broker_services import BrokerServices

log = logging.getLogger("kafka.server.KafkaApis")

UNKNOWN_BROKER_EPOCH = -1  # the controller is older than KIP-380


def is_stale(broker: BrokerServices, broker_epoch: int, kind: str) -> bool:
    """True where the request names an older broker epoch; a newer one may come, if the controller saw our registration before we did."""
    if broker_epoch == UNKNOWN_BROKER_EPOCH or broker_epoch >= broker.broker_epoch:
        return False
    log.info("Received %s request with broker epoch %d smaller than the current broker epoch %d", kind, broker_epoch, broker.broker_epoch)
    return True
