"""Checkpoint files: what is written, what is read, what is refused."""

from __future__ import annotations

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.checkpoints import MalformedCheckpoint, OffsetCheckpointFile, decode_epochs, encode_epochs
from tests.fakes.file_system import FakeFileSystem


@pytest.fixture
def checkpoint() -> OffsetCheckpointFile:
    file_system = FakeFileSystem()
    file_system.make_directory("/data")
    return OffsetCheckpointFile(file_system, "/data/recovery-point-offset-checkpoint")


def write(checkpoint: OffsetCheckpointFile, data: bytes) -> None:
    checkpoint._file_system.write_atomically(checkpoint.path, data)


def test_a_checkpoint_has_version_count_and_a_line_per_partition() -> None:
    offsets = {TopicPartition("topicA", 0): 1234, TopicPartition("topicB", 3): 99}
    assert OffsetCheckpointFile.encode(offsets) == b"0\n2\ntopicA 0 1234\ntopicB 3 99\n"


def test_what_was_written_is_read(checkpoint: OffsetCheckpointFile) -> None:
    offsets = {TopicPartition("topic-with-dash", 0): 1, TopicPartition("t", 12): 9223372036854775807}
    checkpoint.write(offsets)
    assert checkpoint.read() == offsets


def test_an_absent_file_has_no_entries(checkpoint: OffsetCheckpointFile) -> None:
    assert checkpoint.read() == {}


@pytest.mark.parametrize("data", [b"", b"0\n0\n"])
def test_an_empty_file_is_valid_and_has_no_entries(checkpoint: OffsetCheckpointFile, data: bytes) -> None:
    write(checkpoint, data)
    assert checkpoint.read() == {}


def test_fields_may_be_separated_by_any_white_space(checkpoint: OffsetCheckpointFile) -> None:
    write(checkpoint, b"0\n1\nt \t 0   7\n")
    assert checkpoint.read() == {TopicPartition("t", 0): 7}


@pytest.mark.parametrize("data", [b"1\n0\n", b"0\n", b"0\nx\n", b"0\n2\nt 0 1\n", b"0\n1\nt 0 1\nt 1 1\n", b"0\n1\nt 0\n", b"0\n1\nt zero 1\n", b"\xff\xfe"])
def test_a_malformed_file_is_an_error(checkpoint: OffsetCheckpointFile, data: bytes) -> None:
    write(checkpoint, data)
    with pytest.raises(MalformedCheckpoint):
        checkpoint.read()


def test_leader_epochs_are_lines_of_epoch_and_start_offset() -> None:
    data = encode_epochs([(0, 0), (3, 80)])
    assert data == b"0\n2\n0 0\n3 80\n"
    assert decode_epochs(data, "f") == [(0, 0), (3, 80)]


def test_a_line_that_is_no_epoch_is_an_error() -> None:
    with pytest.raises(MalformedCheckpoint):
        decode_epochs(b"0\n1\n0 0 0\n", "f")
