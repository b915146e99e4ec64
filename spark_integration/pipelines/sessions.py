"""A job's Spark session, and the options that both jobs have."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import Final

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_integration import register

SOURCE: Final = "kafka_classic"
DEPARTURES: Final = "departures"
RESULTS: Final = "departure-delays"
DEAD_LETTERS: Final = "departures-dead-letters"

# A run of a minute does not live to see what compilers make of it, neither the JVM's second nor Spark's own; on two cores that is half of the time.
SHORT_LIVED: Final = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

# Small tables of names, a few thousand groups: two partitions are plenty here. A state's partitions cannot be changed while its checkpoint lives.
SHUFFLE_PARTITIONS: Final = "2"


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Where the cluster is, what the topics are called, and how Spark is started where spark-submit has not said it."""
    parser.add_argument("--bootstrap", required=True, metavar="HOST:PORT,...", help="some brokers of the cluster")
    parser.add_argument("--results", default=RESULTS, metavar="TOPIC", help="topic of the statistics, compacted (default: %(default)s)")
    parser.add_argument("--dead-letters", default=DEAD_LETTERS, metavar="TOPIC", help="topic of what could not be used (default: %(default)s)")
    parser.add_argument("--option", action="append", default=[], type=_pair, metavar="NAME=VALUE", help="an option more for the sources; may be repeated")
    parser.add_argument("--master", metavar="URL", help="Spark's master, such as local[2]; leave it out under spark-submit")


def session(name: str, master: str | None) -> SparkSession:
    """The session, with the data source registered. Days are days of UTC, wherever it runs."""
    builder = SparkSession.builder.appName(name).config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark would take the first python3 on the PATH, which may not know our packages
        builder = builder.master(master).config("spark.sql.shuffle.partitions", SHUFFLE_PARTITIONS).config("spark.ui.enabled", "false")
        builder = builder.config(map={**SHORT_LIVED})
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    register(spark)
    return spark


def source_options(options: argparse.Namespace) -> dict[str, str]:
    """What every source of a job is given."""
    return {"bootstrap.servers": options.bootstrap, **dict(options.option)}


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def in_a_sentence(error: PySparkException) -> str:
    """What our source says is wrong, without the stack traces in which Spark wraps it; all of it where it was not our source."""
    own = re.findall(r"^(?:spark_integration|pykafka_classic)\.[\w.]+: (.+)", str(error), re.MULTILINE)
    return own[0] if own else str(error)
