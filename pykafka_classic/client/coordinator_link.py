"""The way to the coordinator of a group, or of a transactional id: found when it is needed, forgotten when it has moved or does not answer.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractCoordinator.java.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from pykafka_classic.client.broker_node import BrokerNode
from pykafka_classic.client.cluster_client import ClusterClient
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.api_keys import ApiKey, CoordinatorType
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Message

log = logging.getLogger("kafka.clients.Coordinator")

_MOVED: Final = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})


class CoordinatorLink:
    """See the module."""

    def __init__(self, cluster: ClusterClient, key: str, *, key_type: CoordinatorType = CoordinatorType.GROUP) -> None:
        self.cluster = cluster
        self.key = key
        self._key_type = key_type
        self._of = f"{'transactional id' if key_type is CoordinatorType.TRANSACTION else 'group'} {key!r}"
        self._node: BrokerNode | None = None
        self._finding: Promise[BrokerNode] | None = None

    @property
    def known(self) -> bool:
        """Whether a coordinator is known now."""
        return self._node is not None

    async def node(self) -> BrokerNode:
        """The coordinator. KafkaError (retriable: it is not there yet), Disconnected."""
        if self._node is None:
            if self._finding is None:
                finding = self._finding = spawn(self.cluster.coordinator(self.key, key_type=self._key_type))
                finding.when_settled(self._found)
                return await finding
            return await self._finding
        return self._node

    async def ask(self, api_key: ApiKey, build: Callable[[int], Message], *, timeout_ms: float | None = None, purpose: str | None = None) -> Message:
        """The coordinator's answer to the request that `build` makes for a version. Disconnected forgets the coordinator; see `check` for error codes."""
        node = await self.node()
        if purpose is not None:
            node = self.cluster.node_at(node.host, node.port, purpose)
        try:
            version = await node.version_of(api_key)
            return await node.send(build(version), version=version, timeout_ms=timeout_ms)
        except Disconnected:
            self.lost(node)
            raise

    def check(self, code: int, what: str) -> None:
        """Raise KafkaError for an error code; forget a coordinator that says it is none."""
        if code == ErrorCode.NONE:
            return
        error = ErrorCode(code)
        if error in _MOVED:
            self.lost()
        raise KafkaError(error, f"{what} of {self._of}: {error.message}")

    def lost(self, node: BrokerNode | None = None) -> None:
        """Look for it anew next time."""
        if node is None or node is self._node:
            if self._node is not None:
                log.info("The coordinator of %s, %s, is lost", self._of, self._node)
            self._node = None

    def _found(self, finding: Promise[BrokerNode]) -> None:
        self._finding = None
        if finding.error() is None:
            self._node = finding.result()
