"""A Spark session with the data source, and a cluster for each file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pykafka_classic.testing.cluster import LocalCluster
from spark_integration import register
from tests.integration.conftest import KEEP, assert_no_stack_traces


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder are slow ones."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """Two cores, three tries of each task. It lives as long as the process: other files' tests may have the same one."""
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master("local[2,3]").config("spark.driver.memory", "1g").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1").config("spark.ui.showConsoleProgress", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    register(session)
    return session


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Three brokers."""
    with LocalCluster(tmp_path_factory.mktemp("cluster"), overrides={**KEEP, "auto.create.topics.enable": "false"}) as running:
        yield running
    assert_no_stack_traces(running)
