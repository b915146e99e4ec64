"""A walk over a segment's batch headers that ends, with a warning, where the bytes make no sense: who reads gets what lies before the damage.

Source: facts/storage.md 7; FileLogInputStream.java.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from pykafka_classic.log.batch_header import BatchHeader, CorruptBatch

log = logging.getLogger("kafka.log.LogSegment")


class HeaderWalk:
    """An iterator of headers. `path` is for the warning."""

    def __init__(self, path: str, headers: Iterator[BatchHeader]) -> None:
        self._path = path
        self._headers = headers

    def __iter__(self) -> HeaderWalk:
        return self

    def __next__(self) -> BatchHeader:
        try:
            return next(self._headers)
        except CorruptBatch as error:
            log.warning("%s: %s", self._path, error)
            raise StopIteration from error
