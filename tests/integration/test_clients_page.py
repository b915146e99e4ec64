"""The examples of docs/clients.md run as they stand, one after the other, each in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.foreign import create_topic

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"


def test_every_example_runs_and_tells_what_the_page_says(single_broker: LocalCluster) -> None:
    create_topic(single_broker.bootstrap, "flights", partitions=3, replicas=1)
    first, *examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 9
    told = []
    for example in examples:
        script = (first + example).replace("localhost:9092", single_broker.bootstrap).replace("localhost:2181", single_broker.zookeeper.address)
        done = subprocess.run([sys.executable, "-c", script], cwd=PAGE.parents[1], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, ""), f"{example}\n{done.stdout}\n{done.stderr}"
        told.append(done.stdout)
    produced, callbacks, own_partitioner, group, committed, by_hand, transaction, admin, credentials, both_stores, twisted = told
    assert re.fullmatch(r"partition \d, offset 1\n", produced)  # the second record with its key
    assert len(re.findall(r"^flights-\d @ \d+$", callbacks, re.MULTILINE)) == 10
    assert own_partitioner == ""
    assert group.rstrip().endswith("b'NSK' b'arrived'")
    assert re.search(r"\d+ records\n", committed) and "OffsetAndMetadata" in committed
    assert "b'taxiing'" in by_hand  # partition 2 is where the first example's key goes
    assert transaction == ""
    assert admin.endswith("3600000\n")
    assert "'tower': (ScramInfo(mechanism='SCRAM-SHA-512', iterations=8192),)" in credentials
    assert re.search(r"flights-\d Store.KAFKA \d+ 0\n", both_stores) and both_stores.endswith(" steps\n")
    assert twisted == "[b'overhead']\n"
