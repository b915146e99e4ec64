"""What is said of the Python that Spark's tasks run."""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

from spark_integration.executor_python import what_python_lacks


def test_this_python_lacks_nothing_by_whatever_name() -> None:
    assert what_python_lacks(sys.executable) == ""
    assert what_python_lacks(str(Path(sys.executable).parent / "python")) == ""


def test_a_python_that_is_not_there() -> None:
    assert re.match(r"Spark's tasks run 'no-python', which this machine has not: set PYSPARK_PYTHON to .*python", what_python_lacks("no-python"))


def _script(path: Path, lines: str) -> str:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return str(path)


def test_a_python_of_another_version(tmp_path: Path) -> None:
    told = what_python_lacks(_script(tmp_path / "python3", "echo 3.8.1"))
    assert f"which is Python 3.8.1 and not {platform.python_version()} as this program: set PYSPARK_PYTHON to {sys.executable}" in told


def test_a_python_without_the_libraries(tmp_path: Path) -> None:
    lines = f"echo {platform.python_version()}; echo 'Traceback:' >&2; echo 'ModuleNotFoundError: No module named pyarrow' >&2; exit 1"
    assert "which lacks something (ModuleNotFoundError: No module named pyarrow): set PYSPARK_PYTHON" in what_python_lacks(_script(tmp_path / "python3", lines))
    assert what_python_lacks(_script(tmp_path / "python4", f"echo {platform.python_version()}")) == ""
