"""What lies in the log dirs of a real broker, while it runs, after a SIGKILL, and after a clean stop; and what kafka-dump-log.sh says of it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.foreign import Sent, create_topic, end_offsets, eventually, read_all, send

ROOT: Final = Path(__file__).resolve().parents[2]
SEGMENT_BYTES: Final = 20_000
PARTITIONS: Final = 4
RECORDS: Final = [Sent(f"key-{number}".encode(), f"value-{number} {'x' * 60}".encode()) for number in range(1200)]

pytestmark = pytest.mark.skipif(not (ROOT / ".venv/bin/python").exists(), reason="the launchers use the checkout's .venv: run `make setup`")


class Site:
    """One broker with two log dirs and segments allocated in advance."""

    def __init__(self, folder: Path) -> None:
        self.log_dirs = [folder / "first", folder / "second"]
        overrides = {
            "log.dirs": ",".join(map(str, self.log_dirs)),
            "log.preallocate": "true",
            "log.segment.bytes": str(SEGMENT_BYTES),
            "log.retention.ms": "-1",
        }
        self.cluster = LocalCluster(folder, brokers=1, overrides=overrides)

    def files(self, kind: str) -> list[Path]:
        """Of the topic's partitions."""
        return sorted(path for log_dir in self.log_dirs for path in log_dir.glob(f"flights-*/*{kind}"))

    def active_sizes(self) -> set[int]:
        """Lengths of the newest .log of each partition."""
        return {max(folder.glob("*.log")).stat().st_size for log_dir in self.log_dirs for folder in log_dir.glob("flights-?")}

    def values(self) -> list[bytes | None]:
        """What a consumer reads."""
        return [stored.record.value for partition in read_all(self.cluster.bootstrap, "flights").values() for stored in partition]


def dump(files: list[Path], *options: str) -> subprocess.CompletedProcess[str]:
    """Run the launcher."""
    command = [str(ROOT / "tools/kafka-dump-log.sh"), "--files", ",".join(map(str, files)), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site, with its records sent."""
    site = Site(tmp_path_factory.mktemp("site"))
    with site.cluster:
        create_topic(site.cluster.bootstrap, "flights", partitions=PARTITIONS, replicas=1)
        send(site.cluster.bootstrap, "flights", RECORDS, enable_idempotence=True, batch_num_messages=20)
        yield site


def test_partitions_are_spread_evenly_over_the_log_dirs(site: Site) -> None:
    assert [len(list(log_dir.glob("flights-?"))) for log_dir in site.log_dirs] == [PARTITIONS // 2, PARTITIONS // 2]


def test_preallocated_segments_have_their_full_length_while_the_broker_runs_and_no_more_than_their_records_after_it(site: Site) -> None:
    assert site.active_sizes() == {SEGMENT_BYTES}
    assert len(site.files(".log")) > PARTITIONS, "some were rolled"

    site.cluster.brokers[0].kill()
    assert site.active_sizes() == {SEGMENT_BYTES}
    site.cluster.restart(0)
    eventually(lambda: sum(end_offsets(site.cluster.bootstrap, "flights").values()) == len(RECORDS), "high watermarks at the end of the recovered logs")
    assert sorted(site.values(), key=str) == sorted((each.value for each in RECORDS), key=str)

    site.cluster.brokers[0].stop()
    assert max(path.stat().st_size for path in site.files(".log")) < SEGMENT_BYTES
    assert all((log_dir / ".kafka_cleanshutdown").exists() for log_dir in site.log_dirs)

    check_dumps(site)
    site.cluster.restart(0)


def check_dumps(site: Site) -> None:
    """The tool finds every record once, and nothing that does not agree."""
    logs = dump(site.files(".log"), "--print-data-log")
    assert (logs.returncode, logs.stderr) == (0, "")
    payloads = re.findall(r"(?m)^\| offset: .* key: (key-\d+) payload: (value-\d+ x+)$", logs.stdout)
    assert sorted(payloads) == sorted((str(each.key, "ascii"), str(each.value, "ascii")) for each in RECORDS if each.key and each.value)
    assert "isvalid: false" not in logs.stdout and "invalid bytes" not in logs.stdout

    indexes = dump([*site.files(".index"), *site.files(".timeindex")])
    assert (indexes.returncode, indexes.stderr) == (0, "")
    assert "position: " in indexes.stdout and "timestamp: " in indexes.stdout

    producers = {re.sub(r" .*", "", line) for line in dump(site.files(".snapshot")).stdout.splitlines() if line.startswith("producerId: ")}
    assert len(producers) == 1, "one producer has written"
