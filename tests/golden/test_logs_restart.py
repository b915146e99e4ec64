"""Checkpoints, snapshots and indexes in both directions: a broker that starts on a directory and stops leaves the same files, ours and Kafka's."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator

import pytest

from pykafka_classic.log.checkpoints import OffsetCheckpointFile, decode_epochs, encode_epochs
from pykafka_classic.log.meta_properties import read_meta_properties
from pykafka_classic.log.names import INDEX, SNAPSHOT, TIME_INDEX, TXN_INDEX
from pykafka_classic.log.offset_index import OffsetIndex
from pykafka_classic.log.partition_metadata import decode_partition_metadata, encode_partition_metadata
from pykafka_classic.log.producer_snapshot import decode_snapshot, encode_snapshot
from pykafka_classic.log.time_index import TimeIndex
from pykafka_classic.log.transaction_index import AbortedTransaction, TransactionIndex
from tests.fakes.file_system import FakeFileSystem
from tests.golden.log_data import DATA, Recording, members

SCENARIOS = sorted(path.name.removesuffix(".tar.gz") for path in DATA.glob("*.tar.gz"))


def restarted() -> dict[str, dict[str, list[object]]]:
    """What Kafka left, by scenario and root."""
    with lzma.open(DATA / "restarted.json.xz", "rt") as file:
        return json.load(file)  # type: ignore[no-any-return]


def digest(name: str, data: bytes) -> list[object]:
    """Size and hash; the order of the lines in an offset checkpoint means nothing."""
    if name.endswith("-offset-checkpoint"):
        data = b"\n".join(sorted(data.split(b"\n")))
    return [len(data), hashlib.sha256(data).hexdigest()[:16]]


NOTHING = digest("", b"")


@pytest.mark.parametrize("place", sorted(restarted()))
def test_a_start_and_a_clean_stop_leave_the_files_that_kafka_leaves(place: str) -> None:
    scenario, root = place.split("/")
    recording = Recording(scenario, root)
    recording.load().shutdown().result()
    files = {name.removeprefix(f"/{root}/"): data for name, data in recording.file_system.files_under(f"/{root}").items()}
    ours = {name: digest(name, data) for name, data in files.items() if name != "meta.properties"}
    theirs = restarted()[place]
    # The topics' settings lay in ZooKeeper, which was a new one: Kafka took topics of old formats for new ones without epochs, and made them an empty file.
    made_empty = {name for name in theirs if name.endswith("leader-epoch-checkpoint") and theirs[name] == NOTHING and name not in ours}
    assert ours == {name: said for name, said in theirs.items() if name not in made_empty}
    assert len(ours) > 20


def files(kind: str) -> Iterator[tuple[str, bytes]]:
    """All files of one kind in all recordings."""
    for scenario in SCENARIOS:
        for name, data in members(scenario).items():
            if name.endswith(kind):
                yield f"{scenario}/{name}", data


def test_every_producer_snapshot_is_written_as_it_was_read() -> None:
    found = list(files(SNAPSHOT))
    for name, data in found:
        assert encode_snapshot(decode_snapshot(data)) == data, name
    assert len(found) > 250
    assert len({data for _, data in found}) > 50


def test_every_leader_epoch_checkpoint_is_written_as_it_was_read() -> None:
    found = [(name, data) for name, data in files("leader-epoch-checkpoint") if data]  # a new log's has 0 bytes
    for name, data in found:
        assert encode_epochs(decode_epochs(data, name)) == data, name
    assert max(data.count(b"\n") for _, data in found) == 6  # four epochs


@pytest.mark.parametrize("kind", ["recovery-point", "log-start", "replication", "cleaner"])
def test_every_offset_checkpoint_is_written_as_it_was_read(kind: str) -> None:
    found = [(name, data) for name, data in files(f"/{kind}-offset-checkpoint") if data]
    for name, data in found:
        file_system = FakeFileSystem()
        file_system.write_atomically("/checkpoint", data)
        checkpoint = OffsetCheckpointFile(file_system, "/checkpoint")
        assert checkpoint.encode(checkpoint.read()) == data, name
    assert found


def test_every_topic_id_is_written_as_it_was_read() -> None:
    found = list(files("partition.metadata"))
    for name, data in found:
        assert encode_partition_metadata(decode_partition_metadata(data, name)) == data, name
    assert found


def test_every_meta_properties_names_broker_and_cluster_and_differs_in_its_date_only() -> None:
    found = list(files("meta.properties"))
    for name, data in found:
        file_system = FakeFileSystem()
        file_system.make_directory("/dir")
        file_system.write_atomically("/dir/meta.properties", data)
        properties = read_meta_properties(file_system, "/dir")
        assert properties is not None, name
        theirs, ours = ([line for line in text.split(b"\n") if not line.startswith(b"#")] for text in (data, properties.encode()))
        assert sorted(ours) == sorted(theirs), name
    assert len(found) > 10


def written_again(file_system: FakeFileSystem, index: OffsetIndex | TimeIndex | TransactionIndex) -> bytes:
    """What an index writes of itself after all its entries were added anew."""
    entries = index.entries
    index.reset()
    for entry in entries:
        match index:
            case TimeIndex():
                index.maybe_append(entry[0], entry[1], at_roll=True)
            case OffsetIndex():
                index.append(entry[0], entry[1])
            case TransactionIndex():
                assert isinstance(entry, AbortedTransaction)
                index.append(entry)
    if not isinstance(index, TransactionIndex):
        index.write_pending()
    return file_system.read("/index")


@pytest.mark.parametrize("kind", [INDEX, TIME_INDEX, TXN_INDEX])
def test_every_index_of_a_clean_stop_is_written_as_it_was_read(kind: str) -> None:
    count = 0
    for place in restarted():
        scenario, root = place.split("/")
        for name, data in members(scenario).items():
            if not name.startswith(f"{root}/") or not name.endswith(kind) or not data:
                continue
            file_system = FakeFileSystem()
            file_system.write_atomically("/index", data)
            base_offset = int(name.rpartition("/")[2].partition(".")[0])
            index: OffsetIndex | TimeIndex | TransactionIndex
            if kind == TXN_INDEX:
                index = TransactionIndex(file_system, "/index", base_offset)
            else:
                index = (OffsetIndex if kind == INDEX else TimeIndex)(file_system, "/index", base_offset, 1 << 20)
            assert written_again(file_system, index) == data, f"{scenario}/{name}"
            count += 1
    assert count > 10
