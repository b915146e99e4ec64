"""The broker's entry: what it reads, and what it says when it cannot start."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from pykafka_classic.__main__ import UsageError, main, parse_overrides, read_config
from pykafka_classic.edges.logging_setup import KafkaFormatter


@pytest.fixture
def properties(tmp_path: Path) -> str:
    """A file that would do."""
    path = tmp_path / "server.properties"
    path.write_text("zookeeper.connect=localhost:2181\nbroker.id=1\n")
    return str(path)


def test_overrides_win_over_the_file(properties: str) -> None:
    config = read_config([properties, "--override", "broker.id=2", "--override=num.partitions=7", "--override", "broker.id = 3"])
    assert (config.broker_id, config.num_partitions, config.zookeeper_connect) == (3, 7, "localhost:2181")


def test_override_value_may_contain_equals_signs() -> None:
    assert parse_overrides(["--override", "sasl.jaas.config=a b=c;"]) == {"sasl.jaas.config": "a b=c;"}


@pytest.mark.parametrize("arguments", [["--override"], ["--override", "broker.id"], ["--override", "=1"], ["broker.id=1"], ["--no", "a=b"]])
def test_arguments_that_make_no_sense_are_refused(arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        parse_overrides(arguments)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ["--override", "num.partitions=0"],
            "Invalid value 0 for configuration num.partitions: Value must be at least 1\nnum.partitions takes an INT in [1,...]",
        ),
        (["--override", "broker.id=x"], "Invalid value x for configuration broker.id: Not a number of type INT\nbroker.id takes an INT"),
        (["--override", "log.retention.ms=0"], "Invalid value 0 for configuration log.retention.ms: -1 (for ever), or 1 or more"),
        (["extra"], "found non argument parameters: extra\nUSAGE: "),
    ],
)
def test_bad_value_tells_key_value_and_what_is_allowed(properties: str, more: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([properties, *more]) == 1
    assert capsys.readouterr().err.startswith(said)


def test_missing_file_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["/no/such/file"]) == 1
    assert capsys.readouterr().err == "Cannot read /no/such/file: No such file or directory\n"


def test_no_argument_prints_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 1
    assert capsys.readouterr().err.startswith("USAGE: kafka-server-start.sh [-daemon] server.properties")


def test_version_is_printed_and_nothing_started(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert "Kafka 2.8" in capsys.readouterr().out


def test_log_line_has_the_form_of_log4j() -> None:
    record = logging.LogRecord("kafka.server.KafkaServer", logging.WARNING, "", 0, "[KafkaServer id=%d] started", (0,), None)
    record.created, record.msecs = 1_700_000_000.25, 250.0
    line = KafkaFormatter().format(record)
    assert line[0] == "["
    assert line[20:] == ",250] WARN [KafkaServer id=0] started (kafka.server.KafkaServer)"
    assert record.levelname == "WARNING"
