"""How many segment files may be open at once.

A broker with thousands of partitions has tens of thousands of segments, and most of them sleep. Segments open their file when they need it and say so here;
the ones that were not used for longest are told to let go. Bytes written stay written, and slices handed out to fetch answers keep their file alive until
they are sent.

Differs from Kafka, which keeps every segment and its indexes open and therefore wants a limit of 100,000 descriptors.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Protocol

OPEN_FILES_MAX: Final = 2048


class HoldsFile(Protocol):
    """Whoever opened a file."""

    def release(self) -> None:
        """Close the file and forget what can be read again."""
        ...


class OpenFiles:
    """The holders of open files, the longest unused first. Used from the deciders' thread only."""

    def __init__(self, files_max: int = OPEN_FILES_MAX) -> None:
        self._files_max = files_max
        self._holders: OrderedDict[int, HoldsFile] = OrderedDict()

    def __len__(self) -> int:
        return len(self._holders)

    def opened(self, holder: HoldsFile) -> None:
        """`holder` has opened its file just now; another one may have to close its own."""
        self._holders[id(holder)] = holder
        while len(self._holders) > self._files_max:
            _, longest_unused = self._holders.popitem(last=False)
            longest_unused.release()

    def used(self, holder: HoldsFile) -> None:
        """`holder` is in use: it is the last to be asked to close."""
        self._holders.move_to_end(id(holder))

    def closed(self, holder: HoldsFile) -> None:
        """`holder` has closed its file by itself."""
        self._holders.pop(id(holder), None)
