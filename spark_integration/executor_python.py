"""Whether the Python that Spark starts for its tasks, and for planning, can run this source. Asked once, so that no task's failure has to tell."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

ASK_S: Final = 20
_QUESTION: Final = "import platform; print(platform.python_version()); import numpy, pyarrow"


def what_executors_lack(spark: SparkSession) -> str:
    """A sentence for the user; "" where nothing is wrong, or nobody can tell (Spark Connect)."""
    context = getattr(spark, "_sc", None)
    return "" if context is None else what_python_lacks(str(context.pythonExec))


def what_python_lacks(python: str) -> str:
    """The same of a command, as PYSPARK_PYTHON has it: of this machine, where Spark plans with it."""
    advice = f"set PYSPARK_PYTHON to {sys.executable}, or to a Python like it, before the session is made"
    found = shutil.which(python)
    if found is None:
        return f"Spark's tasks run {python!r}, which this machine has not: {advice}"
    if Path(found).absolute().parent == Path(sys.executable).absolute().parent:
        return ""
    try:
        asked = subprocess.run([found, "-c", _QUESTION], capture_output=True, text=True, timeout=ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Spark's tasks run {found}, which does not answer ({error}): {advice}"
    version, lacking = asked.stdout.strip(), asked.stderr.strip().rpartition("\n")[2]
    if version.rpartition(".")[0] != platform.python_version().rpartition(".")[0]:
        return f"Spark's tasks run {found}, which is Python {version or 'of an unknown version'} and not {platform.python_version()} as this program: {advice}"
    return f"Spark's tasks run {found}, which lacks something ({lacking}): {advice}" if asked.returncode else ""
