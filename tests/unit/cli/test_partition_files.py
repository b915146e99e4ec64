"""Files that name partitions: what is wrong with one is told in a sentence, with the words of Kafka's tools where they have some."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from pykafka_classic.cli.command import CommandFailed, Console, execute
from pykafka_classic.cli.delete_records import read_offsets
from pykafka_classic.cli.leader_election import TOOL as ELECTION
from pykafka_classic.common.topic_partition import TopicPartition


def written(folder: Path, text: str) -> str:
    path = folder / "file.json"
    path.write_text(text)
    return str(path)


def test_offsets_are_read(tmp_path: Path) -> None:
    text = '{"version":1,"partitions":[{"topic":"t","partition":0,"offset":10},{"topic":"t","partition":1,"offset":-1}]}'
    assert read_offsets(written(tmp_path, text)) == {TopicPartition("t", 0): 10, TopicPartition("t", 1): -1}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "The input string is not a valid JSON"),
        ("", "The input string is not a valid JSON"),
        (" ", "Expected JSON object, received "),
        ("[]", "Expected JSON object, received []"),
        ('{"version":"1","partitions":[]}', 'Expected `Int` value, received "1"'),
        ('{"version":1,"partitions":null}', "Expected JSON array, received null"),
        ('{"version":2,"partitions":[]}', "Not supported version field value 2"),
        ('{"version":1}', "Missing partitions field"),
        ('{"partitions":[{"topic":"t","partition":0}]}', "No such field exists: `offset`"),
        ('{"partitions":[{"topic":"t","partition":"0","offset":1}]}', 'Expected `Int` value, received "0"'),
        ('{"partitions":[{"topic":3,"partition":0,"offset":1}]}', "Expected `String` value, received 3"),
        ('{"partitions":["t-0"]}', 'Expected JSON object, received "t-0"'),
        ('{"partitions":[{"topic":"t","partition":2147483648,"offset":1}]}', "Expected `Int` value, received 2147483648"),
        ('{"partitions":[{"topic":"t","partition":0,"offset":1.5}]}', "Expected `Long` value, received 1.5"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(CommandFailed) as raised:
        read_offsets(written(tmp_path, text))
    assert str(raised.value) == sentence


def test_what_stands_behind_the_object_counts_for_nothing(tmp_path: Path) -> None:
    """As with Kafka's parser, which stops there."""
    assert read_offsets(written(tmp_path, '{"partitions":[{"topic":"t","partition":0,"offset":7}]} and more')) == {TopicPartition("t", 0): 7}


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"Unable to read file .*: No such file or directory"):
        read_offsets(str(tmp_path / "missing.json"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--topic", "t"], "Missing required option(s): election-type, bootstrap-server"),
        (["--bootstrap-server", "h:1", "--topic", "t"], "Missing required option(s): election-type"),
        (
            ["--election-type", "UNCLEAN", "--bootstrap-server", "h:1", "--partition", "1", "--all-topic-partitions"],
            "Option partition is only allowed if topic",
        ),
        (
            ["--election-type", "preferred", "--bootstrap-server", "h:1", "--all-topic-partitions", "--path-to-json-file", "x"],
            "One and only one of the following",
        ),
    ],
)
def test_options_of_an_election_that_do_not_go_together(words: list[str], sentence: str) -> None:
    errors = StringIO()
    assert execute(ELECTION, words, Console(StringIO(), StringIO(), errors)) == 1
    assert errors.getvalue().startswith(sentence)
