"""Nodes of ZooKeeper that hold credentials: that they are there is shown, what they hold is not. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from pykafka_classic.monitor.store.answers import ZNode, ZNodeChange

# SCRAM credentials of users (also below a client), and delegation tokens.
SECRET: Final = re.compile(r"/config/users/.+|/delegation_token/tokens/.+")
HIDDEN: Final = b"(credentials: not shown)"


def data_shown(path: str, data: bytes | None) -> bytes | None:
    """What of a node's data may be shown."""
    return HIDDEN if data and SECRET.fullmatch(path) else data


def node_shown(node: ZNode) -> ZNode:
    """The same of a node."""
    return replace(node, data=data_shown(node.path, node.data))


def change_shown(change: ZNodeChange) -> ZNodeChange:
    """The same of a change, before and after."""
    return replace(change, data=data_shown(change.path, change.data), before=data_shown(change.path, change.before))
