"""meta.properties: whose log dir it is."""

from __future__ import annotations

from uuid import UUID

import pytest

from pykafka_classic.log.checkpoints import MalformedCheckpoint
from pykafka_classic.log.meta_properties import InvalidMetaProperties, MetaProperties, read_meta_properties, write_meta_properties
from pykafka_classic.log.partition_metadata import decode_partition_metadata, encode_partition_metadata
from tests.fakes.file_system import FakeFileSystem

BY_KAFKA = b"#\n#Sat Nov 21 05:36:52 UTC 2026\nbroker.id=0\nversion=0\ncluster.id=ot0bJAw-S-6lI08LQiDbZw\n"


@pytest.fixture
def file_system() -> FakeFileSystem:
    file_system = FakeFileSystem()
    file_system.make_directory("/data")
    return file_system


def test_what_kafka_wrote_is_read(file_system: FakeFileSystem) -> None:
    file_system.write_atomically("/data/meta.properties", BY_KAFKA)
    assert read_meta_properties(file_system, "/data") == MetaProperties(0, "ot0bJAw-S-6lI08LQiDbZw")


def test_what_was_written_is_what_kafka_writes(file_system: FakeFileSystem) -> None:
    write_meta_properties(file_system, "/data", MetaProperties(0, "ot0bJAw-S-6lI08LQiDbZw"), "Sat Nov 21 05:36:52 UTC 2026")
    assert file_system.read("/data/meta.properties") == BY_KAFKA


def test_an_absent_file_is_nothing(file_system: FakeFileSystem) -> None:
    assert read_meta_properties(file_system, "/data") is None


@pytest.mark.parametrize("data", [b"version=1\nnode.id=1\n", b"version=0\nbroker.id=one\n"])
def test_a_file_of_another_kind_is_refused(file_system: FakeFileSystem, data: bytes) -> None:
    file_system.write_atomically("/data/meta.properties", data)
    with pytest.raises(InvalidMetaProperties):
        read_meta_properties(file_system, "/data")


def test_a_topic_id_is_written_and_read_as_kafka_does() -> None:
    by_kafka, topic_id = b"version: 0\ntopic_id: p-Pbmr7pQhGl459Gnaypsg", UUID("a7e3db9a-bee9-4211-a5e3-9f469daca9b2")
    assert encode_partition_metadata(topic_id) == by_kafka
    assert decode_partition_metadata(by_kafka, "f") == topic_id


@pytest.mark.parametrize(
    "data",
    [b"version: 1\ntopic_id: p-Pbmr7pQhGl459Gnaypsg", b"version: 0\n", b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", b"version: 0\ntopic_id: short", b""],
)
def test_anything_else_is_no_topic_id(data: bytes) -> None:
    with pytest.raises(MalformedCheckpoint):
        decode_partition_metadata(data, "f")
