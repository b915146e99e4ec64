"""The pytest fixture `kafka_cluster`: three brokers for the tests of a module. Use it with `pytest_plugins = ["pykafka_classic.testing.plugin"]`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pykafka_classic.testing.cluster import LocalCluster


@pytest.fixture(scope="module")
def kafka_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Three brokers and a ZooKeeper on free ports; on failure their logs lie in the test's temporary folder."""
    with LocalCluster(tmp_path_factory.mktemp("cluster"), brokers=3) as cluster:
        yield cluster
