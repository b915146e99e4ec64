"""`/cluster/id`: the cluster's name for itself, for ever.

* Kind: persistent.
* Writer: the first broker of the cluster; others that tried at the same time read its id instead. Each broker keeps it in meta.properties too, and refuses to
  join another cluster.
* Watchers: none.
* Sample: `{"version":"1","id":"oZ2m7zLQRfm2OIZooXRTfw"}`: the one place where the version is a string. The id is a random UUID in base64url without padding.

Source: ClusterIdZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala; KIP-78.
"""

from __future__ import annotations

from typing import Final

from zk_schema.json_fields import JsonFields, to_json

PARENT: Final = "/cluster"
PATH: Final = "/cluster/id"


def encode(value: str) -> bytes:
    """The id."""
    return to_json({"version": "1", "id": value})


def decode(data: bytes | None) -> str:
    """The id, whatever the version."""
    return JsonFields.of(data, PATH).text("id")
