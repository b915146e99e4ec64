"""Names of files and folders in a log dir."""

from __future__ import annotations

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.names import DirectoryKind, NumberedFile, marked_directory_name, numbered_name, parse_directory_name, parse_numbered_name
from tests.fakes.clock import SeededRandom


def test_a_segment_file_is_named_by_twenty_digits_of_its_base_offset() -> None:
    assert numbered_name(64, ".index", ".swap") == "00000000000000000064.index.swap"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("00000000000000000064.log", NumberedFile(64, ".log", "")),
        ("09223372036854775807.timeindex.deleted", NumberedFile(9223372036854775807, ".timeindex", ".deleted")),
        ("leader-epoch-checkpoint", None),
        ("64.log", None),
        ("00000000000000000064.log.tmp", None),
    ],
)
def test_a_segment_file_name_is_taken_apart(name: str, parts: NumberedFile | None) -> None:
    assert parse_numbered_name(name) == parts


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("flights-0", (TopicPartition("flights", 0), DirectoryKind.CURRENT)),
        ("my-topic-12", (TopicPartition("my-topic", 12), DirectoryKind.CURRENT)),
        ("gone-0.87bc4cc525024342bc68bd35612d4156-delete", (TopicPartition("gone", 0), DirectoryKind.DELETE)),
        ("moving-3.87bc4cc525024342bc68bd35612d4156-future", (TopicPartition("moving", 3), DirectoryKind.FUTURE)),
        ("topic.with.dots-1", (TopicPartition("topic.with.dots", 1), DirectoryKind.CURRENT)),
        ("lost+found", None),
        ("-1", None),
        ("flights-", None),
    ],
)
def test_a_directory_name_says_whose_log_it_is(name: str, expected: object) -> None:
    assert parse_directory_name(name) == expected


def test_a_directory_marked_for_deletion_is_recognised_and_never_longer_than_a_file_system_allows() -> None:
    name = marked_directory_name(TopicPartition("t" * 249, 7), DirectoryKind.DELETE, SeededRandom())
    assert len(name) == 255
    parsed = parse_directory_name(name)
    assert parsed is not None and parsed[1] is DirectoryKind.DELETE


def test_a_future_directory_keeps_the_whole_topic_name() -> None:
    name = marked_directory_name(TopicPartition("flights", 7), DirectoryKind.FUTURE, SeededRandom())
    assert parse_directory_name(name) == (TopicPartition("flights", 7), DirectoryKind.FUTURE)
