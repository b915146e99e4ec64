"""Log lines as Kafka's log4j.properties makes them: `[2026-01-01 12:00:00,000] INFO [Controller id=1] Starting (kafka.controller.KafkaController)`.

Loggers have Kafka's names. Lines go to standard output; whoever starts a broker in the background sends that to a file.
"""

from __future__ import annotations

import logging
import sys
from typing import Final, TextIO

KAFKA_LEVELS: Final = {logging.WARNING: "WARN", logging.CRITICAL: "FATAL"}

# Libraries that tell of each connection attempt; our own lines say what an operator needs.
QUIET: Final = ("kazoo", "twisted")


class KafkaFormatter(logging.Formatter):
    """The layout `[%d] %p %m (%c)` of log4j, with its names of levels. Times are local, with milliseconds."""

    def __init__(self) -> None:
        super().__init__("[%(asctime)s] %(levelname)s %(message)s (%(name)s)")

    def formatMessage(self, record: logging.LogRecord) -> str:  # the name is logging's
        """One line; the record itself is left as it is."""
        level = KAFKA_LEVELS.get(record.levelno, record.levelname)
        return f"[{record.asctime}] {level} {record.message} ({record.name})"


def set_up_logging(stream: TextIO | None = None, *, level: int = logging.INFO) -> None:
    """Send all log lines to `stream` (standard output), replacing what was set up before."""
    lines = logging.StreamHandler(sys.stdout if stream is None else stream)
    lines.setFormatter(KafkaFormatter())
    logging.basicConfig(level=level, handlers=[lines], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
