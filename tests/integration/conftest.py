"""Clusters for the tests of this folder.

No test here can pass without brokers: each fixture waits until all serve, and afterwards looks into what they wrote.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.testing.cluster import LocalCluster

LAST_LINES: Final = 60
# Records of the tests have times of their own, long ago: retention, which looks 30 s after a broker's start, would delete them.
KEEP: Final = {"log.retention.ms": "-1"}
LINE_MAX: Final = 240


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder are slow ones."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.cluster)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where a test fails, its brokers' last words belong to the report."""
    report = yield
    if report.when == "call" and report.failed and isinstance(item, pytest.Function):
        for running in item.funcargs.values():
            if isinstance(running, LocalCluster):
                for number, broker in enumerate(running.brokers):
                    report.sections.append((f"broker {number}, its last {LAST_LINES} lines", last_words(broker.directory / "server.log")))
    return report


def last_words(path: Path) -> str:
    """The end of a log, its lines cut."""
    return "\n".join(line[:LINE_MAX] for line in path.read_text(errors="replace").splitlines()[-LAST_LINES:])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Three brokers and a ZooKeeper of one test module; no stack trace in any log at the end."""
    with LocalCluster(tmp_path_factory.mktemp("cluster"), brokers=3, overrides=KEEP) as running:
        yield running
    assert_no_stack_traces(running)


@pytest.fixture(scope="module")
def single_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """One broker and a ZooKeeper of one test module; no stack trace in its log at the end."""
    with LocalCluster(tmp_path_factory.mktemp("single"), brokers=1, overrides=KEEP) as running:
        yield running
    assert_no_stack_traces(running)


def assert_no_stack_traces(cluster: LocalCluster) -> None:
    """What brokers wrote in all their lives."""
    for broker in cluster.brokers:
        path = broker.directory / "server.log"
        text = path.read_text(errors="replace")
        assert "Traceback" not in text, f"{path}:\n{text[text.index('Traceback') - 500 :][:3000]}"
