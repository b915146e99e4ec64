"""`/controller_epoch`: how many controllers there have been.

* Kind: persistent; the data is a decimal number, no JSON.
* Writers: the first broker ever creates it with 0; each election adds 1 by compare-and-set, in one multi with the creation of /controller.
* Watchers: none. But every write of a controller is a multi that first checks this node's znode version: one deposed cannot write any more ("fenced").
* Sample: `7`.

Source: ControllerEpochZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala.
"""

from __future__ import annotations

from typing import Final

from zk_schema.errors import MalformedZNode
from zk_schema.json_fields import INT_MAX, decimal

PATH: Final = "/controller_epoch"
INITIAL_EPOCH: Final = 0  # as created; the first controller's epoch is 1


def encode(value: int) -> bytes:
    """The number in digits."""
    return str(value).encode()


def decode(data: bytes | None) -> int:
    """A number of 32 bits."""
    epoch = decimal(data, PATH)
    if not -INT_MAX - 1 <= epoch <= INT_MAX:
        raise MalformedZNode(PATH, f"{epoch} has more than 32 bits")
    return epoch
