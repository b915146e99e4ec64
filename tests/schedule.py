"""In which order test files are shared out to the processes that run them (`pytest -n`): what takes long begins first, so that nobody waits at the end.

Each process would start a Spark of its own for its first test that needs one: files whose tests need one inside their own process stay together.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from xdist.scheduler import LoadFileScheduling

TESTS: Final = Path(__file__).parent
SPARK: Final = ("spark", "spark_executor", "unit/spark_integration/pipelines")
# Half a minute and more on two cores; the longest first. A file that is not named here is only begun later.
LONG: Final = (
    *SPARK,
    "integration/test_cli_on_apache.py",
    "integration/test_cli_recordings.py",
    "integration/test_failover.py",
    "integration/test_own_groups.py",
    "integration/test_own_clients.py",
)
# The others that start processes; tests of plain functions fill the end.
SLOW: Final = ("integration", "chaos", "deployment", "spark_official", "edges")


def place(path: Path) -> int:
    """The place in the order of a test file: a lower one begins earlier."""
    name = path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else ""
    order = (*LONG, *SLOW)
    return next((number for number, each in enumerate(order) if name == each or name.startswith(f"{each}/")), len(order))


class LongestFirst(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """As `--dist loadfile`, in the order of collection, and the files that share a Spark in one process."""

    def _split_scope(self, nodeid: str) -> str:
        """The name of what is run in one process."""
        file = super()._split_scope(nodeid)
        return "spark" if file.startswith(tuple(f"tests/{each}/" for each in SPARK)) else file
