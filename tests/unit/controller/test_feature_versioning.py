"""/feature at an election."""

from __future__ import annotations

import json

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.unit.controller.cluster import ControlCluster

OLD = {"inter.broker.protocol.version": "2.6"}
ENABLED = b'{"features":{},"version":1,"status":1}'
DISABLED = b'{"features":{},"version":1,"status":0}'
WITH_FEATURE = b'{"features":{"f":{"min_version_level":1,"max_version_level":2}},"version":1,"status":1}'


@pytest.mark.parametrize(
    ("properties", "before", "after"),
    [({}, None, ENABLED), ({}, DISABLED, ENABLED), ({}, ENABLED, ENABLED), (OLD, None, DISABLED), (OLD, DISABLED, DISABLED), (OLD, WITH_FEATURE, DISABLED)],
)
def test_the_znode_follows_the_protocol_version(properties: dict[str, str], before: bytes | None, after: bytes) -> None:
    cluster = ControlCluster(properties)
    if before is not None:
        cluster.server.put("/feature", before)
    cluster.start(1)
    assert json.loads(cluster.server.data("/feature") or b"") == json.loads(after)


def test_a_broker_without_an_agreed_feature_is_not_admitted() -> None:
    cluster = ControlCluster()
    cluster.server.put("/feature", WITH_FEATURE)
    cluster.start(1)
    assert cluster.controller.context.live_broker_ids == frozenset()


def test_no_feature_can_be_updated() -> None:
    cluster = ControlCluster(brokers=[1])
    [result] = cluster.controller.update_features(UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey("f", 1)])).result().results
    assert result.error_code == ErrorCode.INVALID_REQUEST
