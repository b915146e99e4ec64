"""What kafka-dump-log does beside printing what Kafka prints (tests/golden/test_dump_log)."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pykafka_classic.cli import dump_log
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.record import Record

NAME = "00000000000000000000.log"


def batch(offset: int, value: bytes = b"value") -> bytes:
    return build_batch([Record(offset, 1_600_000_000_000, b"key", value)], BatchFields())


def dump(*arguments: str) -> tuple[int, list[str], str]:
    output, errors = io.StringIO(newline=""), io.StringIO()
    status = dump_log.main(arguments, output, errors)
    return status, output.getvalue().split("\n"), errors.getvalue()


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of 1,000 batches."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / NAME
    path.write_bytes(b"".join(batch(offset) for offset in range(1000)))
    return path


def test_max_bytes_ends_behind_the_last_whole_batch_without_complaint(log: Path) -> None:
    size = len(batch(0))
    status, lines, errors = dump("--files", NAME, "--max-bytes", str(3 * size + 5))
    assert (status, errors) == (0, "")
    assert [line.split()[1] for line in lines if line.startswith("baseOffset")] == ["0", "1", "2"]
    assert "Found" not in "".join(lines)


def test_logs_of_a_cluster_without_zookeeper_are_refused(log: Path) -> None:
    status, lines, errors = dump("--files", NAME, "--cluster-metadata-decoder")
    assert (status, lines) == (1, [""])
    assert errors == "The option cluster-metadata-decoder is for logs of a cluster without ZooKeeper, which these brokers do not write.\n"


def test_version_is_told_on_stdout(log: Path) -> None:
    status, lines, errors = dump("--version")
    assert (status, errors) == (0, "")
    assert "Kafka 2.8" in lines[0]


def test_bytes_are_printed_as_hexadecimal_digits(log: Path) -> None:
    log.write_bytes(batch(0, b"\x00\xff"))
    _, lines, _ = dump("--files", NAME, "--value-decoder-class", "kafka.serializer.DefaultDecoder")
    assert lines[-2].endswith(" key: key payload: 00ff")


def test_what_was_printed_before_a_damaged_batch_stands(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[600 * len(batch(0)) + 8 : 600 * len(batch(0)) + 12] = (3).to_bytes(4, "big")
    log.write_bytes(data)
    status, lines, errors = dump("--files", f"{NAME},{NAME}")
    assert status == 1
    assert len([line for line in lines if line.startswith("baseOffset")]) == 600
    assert errors == f"Found record size 3 smaller than minimum record overhead (14) in file {NAME}.\n"


def test_a_directory_in_place_of_a_file_is_told(log: Path) -> None:
    Path("1.log").mkdir()
    assert dump("--files", "1.log")[0::2] == (1, "1.log: Is a directory\n")


def test_a_file_that_may_not_be_read_is_told(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", NAME)

    monkeypatch.setattr(Path, "open", refuse)
    assert dump("--files", NAME)[0::2] == (1, f"{NAME}: Permission denied\n")


def test_a_reader_who_has_seen_enough_ends_it_quietly(log: Path) -> None:
    """As `| head -1`, with more lines than a pipe holds."""
    command = [sys.executable, "-m", "pykafka_classic.cli.dump_log", "--files", NAME, "--print-data-log"]
    environment = {**os.environ, "PYTHONPATH": str(Path(dump_log.__file__).parents[2])}
    with subprocess.Popen(command, cwd=log.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == f"Dumping {NAME}\n".encode()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0
