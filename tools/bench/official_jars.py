"""The jars of Spark's own Kafka connector (spark-sql-kafka-0-10), fetched once with Maven into a folder of the user's cache.

Run as a program it prints them, for `spark.jars`; where they cannot be had it says why, and ends with status 1.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark

POM = Path(__file__).parent / "official-pom.xml"
FETCH_S = 600
# Connector and token provider. Not every release of Spark is published there whole: the newest that is, and that pyspark's jars can run, serves then.
VERSIONS = ((pyspark.__version__, pyspark.__version__), ("4.2.0", "4.1.0-preview1"))


class NotToBeHad(Exception):
    """No Maven, or no such jars where it looks; the text is for the user."""


def official_jars() -> list[Path]:
    """The jars. NotToBeHad."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pykafka_classic"
    folders = {versions: cache / f"spark-kafka-{'-'.join(versions)}" for versions in VERSIONS}
    cache.mkdir(parents=True, exist_ok=True)
    failure = ""
    with (cache / "spark-kafka.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # runs beside each other share the folders: one fetches, the others wait for it
        for folder in folders.values():
            if (folder / "complete").exists():
                return sorted(folder.glob("*.jar"))
        for versions, folder in folders.items():
            failure = fetch(folder, *versions)
            if not failure:
                return sorted(folder.glob("*.jar"))
    raise NotToBeHad(f"the jars of Spark's Kafka connector cannot be fetched: {failure}")


def fetch(folder: Path, connector: str, token: str) -> str:
    """Fetch into a folder; why that failed, or nothing."""
    if shutil.which("mvn") is None:
        return "`mvn` is not installed"
    settings = [f"-Dconnector.version={connector}", f"-Dtoken.version={token}", f"-DoutputDirectory={folder}"]
    fetched = subprocess.run(
        ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", *settings], capture_output=True, text=True, timeout=FETCH_S, check=False
    )
    if fetched.returncode != 0:
        return fetched.stdout.strip()[-300:]
    (folder / "complete").touch()
    return ""


if __name__ == "__main__":
    try:
        print(",".join(map(str, official_jars())))
    except NotToBeHad as error:
        sys.exit(str(error))
