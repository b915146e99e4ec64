"""Secrets that stand in znodes, and must not stand in the monitor's store: SCRAM credentials, passwords among configs, keys of delegation tokens. Pure."""

from __future__ import annotations

import re
from typing import Final

from zk_schema import configs, delegation_tokens
from zk_schema.errors import MalformedZNode

# Names of values that nobody should read over somebody's shoulder.
NAMES: Final = re.compile(r"password|secret|SCRAM|jaas", re.IGNORECASE)
MASK: Final = "(secret)"
_CONFIG: Final = re.compile(r"/config/(?!changes(/|$)).+")


def masked(path: str, data: bytes | None) -> bytes | None:
    """A node's data as it may be stored."""
    if data is None:
        return None
    if path.startswith(f"{delegation_tokens.PATH}/"):
        return MASK.encode()
    if _CONFIG.fullmatch(path) is None or NAMES.search(data.decode("utf-8", "replace")) is None:
        return data
    try:
        entries = configs.decode(data)
    except MalformedZNode:
        return MASK.encode()
    return configs.encode({name: MASK if NAMES.search(name) else value for name, value in entries.items()})
