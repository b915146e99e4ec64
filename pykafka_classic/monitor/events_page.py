"""docs/events.md, made of the table of events: `make docs`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from pykafka_classic.common.broker_events import KINDS, EventKind

HEAD: Final = """# What brokers tell of their decisions

A broker of ours writes a line of JSON for each decision that changes something: at the place in the code that decides, when it does. The logger is
`kafka.events`; with config/log4j.properties its lines go to `logs/events.log`, five files of 10 MB at most. Where log lines go to standard output only, they
are among the others there, each with its JSON. Nothing is told for a batch of records, a client's request or a heartbeat.

The monitor reads these files (`NAME.events.BROKER` in config/monitor.properties, the path of the broker's events.log, or of any log file that has such lines)
and puts the lines beside what it sees in ZooKeeper. It reads on where it stopped, also over a restart of its own, and over files that are rolled.

Each line has `time_ms` (ms since 1970), `broker` (who tells it) and `event` (its name), and facts:

    {"time_ms":1700000000123,"broker":1,"event":"isr-applied","partition":"flights-0","isr":[1,2],"leader_epoch":4,"zk_version":9}

This page is made of the table in `pykafka_classic/common/broker_events.py` by `make docs`.
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(f"\n{line}" for kind in KINDS.values() for line in _section(kind)) + "\n"


def _section(kind: EventKind) -> Iterator[str]:
    yield f"## {kind.name}\n"
    yield f"{kind.meaning} More: [{kind.page}]({kind.page}).\n"
    yield f"Told by {', '.join(_place(each) for each in kind.places)}.\n"
    yield "| fact | meaning |"
    yield "|---|---|"
    yield from (f"| `{name}` | {meaning} |" for name, meaning in kind.facts.items())
    yield ""


def _place(place: str) -> str:
    module, _, function = place.partition(":")
    return f"`{function}` in [{module}](../pykafka_classic/{module})"


if __name__ == "__main__":
    sys.stdout.write(page().rstrip("\n") + "\n")
