"""`/feature`: the feature versions that all brokers of the cluster have agreed on.

* Kind: persistent. Its znode version is the epoch of the features that brokers tell each other and their clients.
* Writer: the controller, when elected and on UpdateFeatures; at any version, not fenced.
* Watchers: every broker from inter.broker.protocol.version 2.7-IV0 on; one that does not support what it reads exits.

| version | written by | sample |
|---|---|---|
| 1 | 2.7 and later | `{"features":{},"version":1,"status":1}`; a feature is `"name":{"min_version_level":1,"max_version_level":2}` |
| 2 | 3.9 from 3.3-IV0 | `{"features":{},"version":2,"status":1}`; without min_version_level |

Status 0 (below 2.7-IV0) means that features are not in use; the node is written all the same. No feature exists in a ZooKeeper cluster of 2.8: the map is
empty in practice.

Source: FeatureZNode in 2.8 and 3.9:core/src/main/scala/kafka/zk/ZkData.scala; KIP-584.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from zk_schema.json_fields import JsonFields, to_json

PATH: Final = "/feature"
DISABLED: Final = 0
ENABLED: Final = 1


@dataclass(frozen=True, slots=True)
class FeatureZNode:
    """The finalized features."""

    enabled: bool
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # name: (min, max version level); both equal in version 2
    version: int = 1  # of the JSON


def encode(value: FeatureZNode) -> bytes:
    """By `value.version`."""
    features = {}
    for name, (low, high) in value.features.items():
        features[name] = {"min_version_level": low, "max_version_level": high} if value.version == 1 else {"max_version_level": high}
    return to_json({"features": features, "version": value.version, "status": ENABLED if value.enabled else DISABLED})


def decode(data: bytes | None) -> FeatureZNode:
    """Version 1 or 2; levels are at least 1."""
    fields = JsonFields.of(data, PATH)
    version, status = fields.integer("version"), fields.integer("status")
    if version not in (1, 2):
        fields.fail(f"version {version} is neither 1 nor 2")
    if status not in (DISABLED, ENABLED):
        fields.fail(f"status {status} is neither 0 nor 1")
    stored = fields.fields("features")
    return FeatureZNode(status == ENABLED, {name: _levels(stored.fields(name), version) for name, _ in stored.items()}, version)


def _levels(stored: JsonFields, version: int) -> tuple[int, int]:
    high = stored.integer("max_version_level")
    low = stored.integer("min_version_level") if version == 1 else high
    if not 1 <= low <= high:
        stored.fail(f"a feature's levels {low} to {high}")
    return low, high
