"""`/feature`: the versions of features that the whole cluster has agreed on (KIP-584).

Kafka 2.8 has no such feature, so the list is empty; the znode is kept all the same.

When a controller is elected:

    inter.broker.protocol.version   no znode            disabled                enabled
    2.7-IV0 and later               create, enabled     enable, no features     leave
    earlier                         create, disabled    leave                   disable, forget the features

A broker whose own range of a feature does not hold the agreed one is not admitted to the cluster.
Source: facts/coordination.md 1.2 and 3.2; Kafka's enableFeatureVersioning, disableFeatureVersioning, partitionOnFeatureCompatibility.

Differs from Kafka: the controller does not wait until its own broker's cache of features has seen the znode; it goes by what it wrote.
"""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.zookeeper import Code, Create, SetData
from pykafka_classic.controller.controller_context import LiveBroker
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.zk_client import expect
from pykafka_classic.protocol.messages.update_features import UpdatableFeatureResult, UpdateFeaturesRequest, UpdateFeaturesResponse
from zk_schema import feature
from zk_schema.errors import MalformedZNode
from zk_schema.feature import FeatureZNode


class FeatureVersioning:
    """The agreed features, as this controller found or wrote them."""

    def __init__(self, core: ControllerCore) -> None:
        self._core = core
        self._finalized: Mapping[str, tuple[int, int]] = {}

    async def setup(self) -> None:
        """Bring /feature into the state that this broker's protocol version asks for. Not fenced: Kafka's is not."""
        found = await self._core.zk.get(feature.PATH)
        enabled = self._core.is_feature_versioning_supported
        if not found.ok:
            wanted = FeatureZNode(enabled=enabled)
            self._core.log.info("Creating FeatureZNode at path: %s with contents: %s", feature.PATH, wanted)
            [created] = await self._core.zk.submit([Create(feature.PATH, feature.encode(wanted))])
            expect(created, Code.NODE_EXISTS)
        else:
            existing = self._decode(found.data)
            keeps = enabled and existing is not None and existing.enabled
            wanted = FeatureZNode(enabled=enabled, features=existing.features if keeps and existing is not None else {})
            if existing != wanted:
                self._core.log.info("Updating FeatureZNode at path: %s with contents: %s", feature.PATH, wanted)
                [updated] = await self._core.zk.submit([SetData(feature.PATH, feature.encode(wanted))])
                expect(updated)
        self._finalized = wanted.features

    def _decode(self, data: bytes | None) -> FeatureZNode | None:
        try:
            return feature.decode(data)
        except MalformedZNode as error:
            self._core.log.error("Replacing %s: %s", feature.PATH, error)
            return None

    def compatible(self, brokers: Mapping[int, LiveBroker]) -> dict[int, LiveBroker]:
        """Those brokers whose features hold the agreed versions; the others are logged and left out."""
        admitted = {broker_id: broker for broker_id, broker in brokers.items() if self._is_compatible(broker)}
        refused = sorted(brokers.keys() - admitted.keys())
        if refused:
            self._core.log.warning("Ignoring registration of new brokers due to incompatibilities with finalized features: %s", ",".join(map(str, refused)))
        return admitted

    def _is_compatible(self, broker: LiveBroker) -> bool:
        for name, (low, high) in self._finalized.items():
            supported = broker.registration.features.get(name)
            if supported is None or low < supported[0] or high > supported[1]:
                return False
        return True

    def update(self, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
        """Refuse: this release supports no feature, as Kafka 2.8 does not."""
        refused = "Could not apply finalized feature update because the provided feature is not supported."
        return UpdateFeaturesResponse(
            results=[
                UpdatableFeatureResult(feature=each.feature, error_code=ErrorCode.INVALID_REQUEST, error_message=refused) for each in request.feature_updates
            ]
        )
