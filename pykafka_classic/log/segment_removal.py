"""Segments that are out of the log: their files, renamed to `.deleted`, stay for a while and are then removed in the background.

The delay lets those finish who have been given slices of them; a restart does not wait and removes what it finds.

Source: facts/storage.md 10; Log.scala (deleteSegmentFiles).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from pykafka_classic.common.promise import Promise
from pykafka_classic.log.log_segment import LogSegment
from pykafka_classic.log.log_services import LogServices

log = logging.getLogger("kafka.log.Log")


def remove_files_later(services: LogServices, segments: Sequence[LogSegment], delay_ms: int, storage_failed: Callable[[OSError], object]) -> None:
    """Remove the files of these segments, `delay_ms` from now; a failing disk is reported."""

    def settled(outcome: Promise[None]) -> None:
        error = outcome.error()
        if isinstance(error, OSError):
            storage_failed(error)
        elif error is not None:
            log.error("Segments %s could not be removed", segments, exc_info=error)

    def remove() -> None:
        for segment in segments:
            segment.remove_files()

    services.clock.call_later(delay_ms, lambda: services.background.run(remove).when_settled(settled))
