"""sarama (Go) with a nil config: one message to a topic that does not exist yet. Runs where Go is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.foreign import read_all

SOURCE: Final = Path(__file__).parent / "sarama"
BUILD_S: Final = 300
RUN_S: Final = 60

pytestmark = pytest.mark.skipif(shutil.which("go") is None, reason="`go` is not installed: sarama is not tried")


@pytest.fixture(scope="module")
def hello(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Go program, built; skips where its modules cannot be had (no network)."""
    program = tmp_path_factory.mktemp("sarama") / "hello"
    downloaded = subprocess.run(["go", "mod", "download"], cwd=SOURCE, capture_output=True, text=True, timeout=BUILD_S, check=False)
    if downloaded.returncode != 0:
        pytest.skip(f"sarama cannot be downloaded: {downloaded.stderr.strip()[-200:]}")
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false -mod=readonly"}
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=SOURCE, env=environment, timeout=BUILD_S, check=True)
    return program


def test_sarama_with_nil_config_stores_its_message_and_is_told_where(single_broker: LocalCluster, hello: Path) -> None:
    answers = [subprocess.run([str(hello), single_broker.bootstrap], capture_output=True, text=True, timeout=RUN_S, check=False) for _ in range(2)]
    assert [answer.stderr for answer in answers] == ["", ""]
    told = [re.fullmatch(r"partition (\d+) offset (\d+)\n", answer.stdout) for answer in answers]
    assert [match and match.groups() for match in told] == [("0", "0"), ("0", "1")]
    [stored] = read_all(single_broker.bootstrap, "my_topic").values()
    assert [record.record.value for record in stored] == [b"Hello, Kafka Log!"] * 2
