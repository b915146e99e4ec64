"""Archives of classes (class data sharing, Java 13 and newer): a JVM that finds its classes laid out needs little more than half the time to start.

The first JVM of a kind that is started here and ends in order leaves its classes behind (`ArchiveClassesAtExit`), all later ones read them. The JVM itself
sees whether an archive is of its release and of the same jars, and does without where not.
"""

from __future__ import annotations

import hashlib
import os
from itertools import count
from pathlib import Path
from typing import Final

from pykafka_classic.edges.processes import require_java

# Whatever there is to be said about an archive, a tool's output is not the place; and an older Java knows none of it.
QUIETLY: Final = ("-XX:+IgnoreUnrecognizedVMOptions", "-Xlog:disable")
_numbers = count()


def cache_folder() -> Path:
    """What costs to fetch or to make, in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pykafka_classic"


class ClassArchive:
    """The archive of one program.

    Args:
        program: a name, one for each main class.
        class_path: its jars; a folder's "/*" is taken as that folder.
    """

    def __init__(self, program: str, class_path: str) -> None:
        folders = [Path(part.removesuffix("*")) for part in class_path.split(os.pathsep)]
        java = Path(require_java()).resolve()
        made_of = [(str(path), path.stat().st_mtime_ns) for path in (java, *folders)]
        self._path = cache_folder() / "classes" / f"{program}-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:12]}.jsa"
        self._own = self._path.with_suffix(f".{os.getpid()}-{next(_numbers)}")

    def flags(self, *, makes: bool = True) -> tuple[str, ...]:
        """For java, before -cp: to use the archive; to make it where there is none and whoever starts that JVM sees it end, and says so by `ended`."""
        if self._path.exists():
            return (f"-XX:SharedArchiveFile={self._path}", *QUIETLY)
        if not makes:
            return ()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:  # no cache can be written here: it goes without
            return ()
        return (f"-XX:ArchiveClassesAtExit={self._own}", *QUIETLY)

    def ended(self) -> None:
        """The JVM with these flags has ended in order, not killed while it wrote: what it has made is there for others from now on."""
        if self._own.exists():
            self._own.rename(self._path)
