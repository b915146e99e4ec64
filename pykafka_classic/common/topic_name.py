"""What a topic may be called (facts/tools.md 2).

1 to 249 of `[a-zA-Z0-9._-]`, but not `.` or `..`. Two names collide where they differ only in `.` and `_`, since metric names know only one of them.
"""

from __future__ import annotations

import re
from typing import Final

from pykafka_classic.common.errors import ErrorCode, KafkaError

GROUP_METADATA_TOPIC: Final = "__consumer_offsets"
TRANSACTION_STATE_TOPIC: Final = "__transaction_state"
INTERNAL_TOPICS: Final = frozenset({GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC})
LENGTH_MAX: Final = 249

_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")


def validate(name: str) -> None:
    """Raise INVALID_TOPIC_EXCEPTION, in Kafka's words, for a name that no topic may have."""
    if not name:
        raise _invalid("Topic name is illegal, it can't be empty")
    if name in (".", ".."):
        raise _invalid('Topic name cannot be "." or ".."')
    if len(name) > LENGTH_MAX:
        raise _invalid(f"Topic name is illegal, it can't be longer than {LENGTH_MAX} characters, topic name: {name}")
    if not _LEGAL.fullmatch(name):
        raise _invalid(f"Topic name \"{name}\" is illegal, it contains a character other than ASCII alphanumerics, '.', '_' and '-'")


def is_internal(name: str) -> bool:
    """True for topics that only brokers write to."""
    return name in INTERNAL_TOPICS


def has_collision_chars(name: str) -> bool:
    """True where another name may collide with this one."""
    return "." in name or "_" in name


def has_collision(name: str, other: str) -> bool:
    """True where two names would share their metrics."""
    return name.replace(".", "_") == other.replace(".", "_")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
