"""What `/feature` says, followed by a watch: the finalized features and their epoch, told in ApiVersions (KIP-584).

The epoch is the znode's version; -1 while there is no enabled node. Kafka 2.8 finalizes no feature, so the list stays empty; the epoch is told all the same.
"""

from __future__ import annotations

import logging

from pykafka_classic.common.promise import spawn
from pykafka_classic.common.zookeeper import Exists, GetData, SessionEvent, WatchEvent, ZooKeeper
from pykafka_classic.server.zk_operations import read_through_sessions
from zk_schema import feature
from zk_schema.errors import MalformedZNode

log = logging.getLogger("kafka.server.FinalizedFeatureChangeListener")

UNKNOWN_EPOCH = -1


class FeatureCache:
    """The last state of /feature that this broker saw."""

    def __init__(self, zk: ZooKeeper) -> None:
        self.epoch = UNKNOWN_EPOCH
        self._zk = zk
        zk.add_watch_listener(self._on_watch)
        zk.add_session_listener(self._on_session)

    async def refresh(self) -> None:
        """Read the node and set the watch for its next change, or for its creation."""
        exists, found = await read_through_sessions(self._zk, [Exists(feature.PATH, watch=True), GetData(feature.PATH)])
        if not exists.ok or not found.ok or found.stat is None:
            self.epoch = UNKNOWN_EPOCH
            return
        try:
            enabled = feature.decode(found.data or b"").enabled
        except MalformedZNode as error:
            log.error("Unable to deserialize feature ZK node at path: %s: %s", feature.PATH, error)
            enabled = False
        self.epoch = found.stat.version if enabled else UNKNOWN_EPOCH

    def _on_watch(self, event: WatchEvent) -> None:
        if event.path == feature.PATH:
            spawn(self.refresh())

    def _on_session(self, event: SessionEvent) -> None:
        if event is SessionEvent.RENEWED:
            spawn(self.refresh())
