"""Which version a broker sends to its peers, by inter.broker.protocol.version.

Connections of followers, of the controller, of the transaction coordinator's markers and of controlled shutdown do not negotiate: while a cluster is
upgraded broker by broker, the setting says what the oldest of them understands. `ApiVersion` (parsing and order) lives in `common/api_version.py`.
Source: facts/protocol.md 13. APIs that negotiate (AlterIsr) are not in the table.
"""

from __future__ import annotations

from typing import Final

from pykafka_classic.common.api_version import ApiVersion
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.schema import UnsupportedVersion

# For each API the inter-broker protocol versions at which the version sent changes, in rising order.
_STEPS: Final[dict[ApiKey, dict[str, int]]] = {
    ApiKey.FETCH: {
        "0.8.0": 0,
        "0.9.0": 1,
        "0.10.0-IV0": 2,
        "0.10.1-IV1": 3,
        "0.11.0-IV0": 4,
        "0.11.0-IV1": 5,
        "1.1-IV0": 7,
        "2.0-IV1": 8,
        "2.1-IV2": 10,
        "2.3-IV1": 11,
        "2.7-IV1": 12,
    },
    ApiKey.OFFSET_FOR_LEADER_EPOCH: {"0.11.0-IV2": 0, "2.0-IV0": 1, "2.1-IV1": 2, "2.3-IV1": 3, "2.8-IV0": 4},
    ApiKey.LIST_OFFSETS: {"0.8.0": 0, "0.10.1-IV2": 1, "0.11.0-IV0": 2, "2.0-IV1": 3, "2.1-IV1": 4, "2.2-IV1": 5, "2.8-IV0": 6},
    ApiKey.LEADER_AND_ISR: {"0.8.0": 0, "1.0-IV0": 1, "2.2-IV0": 2, "2.4-IV0": 3, "2.4-IV1": 4, "2.8-IV1": 5},
    ApiKey.UPDATE_METADATA: {"0.8.0": 0, "0.9.0": 1, "0.10.0-IV1": 2, "0.10.2-IV0": 3, "1.0-IV0": 4, "2.2-IV0": 5, "2.4-IV1": 6, "2.8-IV1": 7},
    ApiKey.STOP_REPLICA: {"0.8.0": 0, "2.2-IV0": 1, "2.4-IV1": 2, "2.6-IV0": 3},
    ApiKey.CONTROLLED_SHUTDOWN: {"0.8.0": 0, "0.9.0": 1, "2.2-IV0": 2, "2.4-IV1": 3},
    ApiKey.WRITE_TXN_MARKERS: {"0.11.0-IV0": 0, "2.8-IV0": 1},
}

_PARSED: Final = {key: [(ApiVersion.parse(since), version) for since, version in steps.items()] for key, steps in _STEPS.items()}


def version_to_send(key: ApiKey, inter_broker_protocol: ApiVersion) -> int:
    """The version of `key` to send without negotiation; raises UnsupportedVersion where the peers may not know the API at all."""
    versions = [version for since, version in _PARSED[key] if since <= inter_broker_protocol]
    if not versions:
        raise UnsupportedVersion(f"{key.name} is not sent at inter.broker.protocol.version {inter_broker_protocol.version}")
    return versions[-1]
