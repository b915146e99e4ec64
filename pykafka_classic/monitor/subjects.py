"""What a line of the timeline is about, from a znode's path: flights-0, topic flights, broker 3, group G, controller. Pure."""

from __future__ import annotations

from typing import Final

from pykafka_classic.monitor.collector.event_lines import CONTROLLER
from zk_schema import partition_state

_KINDS: Final = {"topics": "topic", "brokers": "broker", "users": "user", "clients": "client", "ips": "address"}


def subjects_of_path(path: str) -> tuple[str, ...]:
    """The subjects, the narrowest first; none for nodes that are about nothing in particular."""
    partition = partition_state.partition_of(path)
    if partition is not None:
        return (f"{partition[0]}-{partition[1]}", f"topic {partition[0]}")
    parts = path.split("/")[1:]
    match parts:
        case ["brokers", "ids", broker]:
            return (f"broker {broker}",)
        case ["brokers", "topics", topic, *_] | ["admin", "delete_topics", topic]:
            return (f"topic {topic}",)
        case ["consumers", group, *_]:
            return (f"group {group}",)
        case ["config", kind, name, *_] if kind in _KINDS:
            return (f"{_KINDS[kind]} {name}",)
        case ["controller" | "controller_epoch"]:
            return (CONTROLLER,)
        case _:
            return ()
