"""Disks that fill up, fail or vanish under a broker: real file systems, a few megabytes each. Needs to be allowed to mount; says so where it is not.

Broker 0 has two log dirs, one on such a disk. What lies there goes offline, its leaders move, nothing acknowledged is lost, and the other log dir goes on.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import DEADLINE_S, Load, assert_nothing_lost, eventually, in_sync
from tests.integration.witness import Witness

DISK_BYTES: Final = 2_000_000
EMPTY_EXT4_BYTES: Final = 500_000  # what an empty file system takes, with tables for 512 files
PARTITIONS: Final = 2
TOPIC: Final = "two-disks"
OVERRIDES: Final = {"min.insync.replicas": "2", "log.segment.bytes": "400000", "zookeeper.session.timeout.ms": "9000"}  # a busy broker is not dead


def run(*command: str | Path) -> None:
    """A command that has to succeed; skips the test with its words where it doesn't."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"file systems cannot be mounted here: {' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()[:200]}")


@contextlib.contextmanager
def tiny_tmpfs(folder: Path, size: int = DISK_BYTES) -> Iterator[Path]:
    """It fills up: ENOSPC."""
    disk = folder / "tiny"
    disk.mkdir()
    run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


@contextlib.contextmanager
def broken_disk(folder: Path) -> Iterator[Path]:
    """A disk that promises 64 MB and has three: beyond that, its writes end in EIO, as those of a dying one do."""
    for tool in ("mkfs.ext4", "losetup"):
        if shutil.which(tool) is None:
            pytest.skip(f"`{tool}` is not installed: no disk with EIO can be made")
    with tiny_tmpfs(folder, EMPTY_EXT4_BYTES + DISK_BYTES) as backing:
        image, disk = backing / "image", folder / "broken"
        disk.mkdir()
        run("truncate", "-s", "64M", image)
        run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0,nodiscard", "-N", "512", "-m", "0", image)
        run("mount", "-o", "loop,errors=continue", image, disk)
        try:
            yield disk
        finally:
            subprocess.run(["umount", "-l", disk], check=False)


class ClusterWithDisks(LocalCluster):
    """A cluster whose broker 0 has log dirs of its own."""

    def __init__(self, directory: Path, log_dirs: list[Path], *, brokers: int = 3) -> None:
        self._log_dirs = log_dirs
        super().__init__(directory, brokers=brokers, overrides=OVERRIDES)

    def _properties(self, directory: Path, number: int, overrides: Mapping[str, str]) -> dict[str, str]:
        properties = super()._properties(directory, number, overrides)
        return properties | ({"log.dirs": ",".join(map(str, self._log_dirs))} if number == 0 else {})


def make_topic(cluster: LocalCluster, replicas: Sequence[int]) -> None:
    """Both partitions led by broker 0 (the first replica), one in each of its log dirs."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    [made] = admin.create_topics([NewTopic(TOPIC, PARTITIONS, replica_assignment=[list(replicas)] * PARTITIONS)], operation_timeout=DEADLINE_S).values()
    made.result(DEADLINE_S)
    wait_in_sync(cluster, dict.fromkeys(range(PARTITIONS), 3))


def wait_in_sync(cluster: LocalCluster, expected: dict[int, int]) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    eventually(lambda: in_sync(admin, TOPIC) == expected, f"replicas in sync: {expected}", seconds=60)


@contextlib.contextmanager
def cluster_on(folder: Path, log_dirs: list[Path], replicas: Sequence[int] = (0, 1, 2)) -> Iterator[tuple[LocalCluster, Witness]]:
    """Three brokers, broker 0 on these log dirs, and the topic. No log may show a stack trace at the end."""
    with ClusterWithDisks(folder, log_dirs) as cluster, Witness(cluster.zookeeper.address) as witness:
        make_topic(cluster, replicas)
        yield cluster, witness
        assert_no_stack_traces(cluster)


@contextlib.contextmanager
def load_that_loses_nothing(cluster: LocalCluster) -> Iterator[Load]:
    """600 records of 1 KB a second; at the end none may have failed, be missing, or stand there twice."""
    with Load(cluster.bootstrap, TOPIC, partitions=PARTITIONS, per_second=600, size=1000, enable_idempotence=True, batch_size=100_000) as load:
        yield load
    assert load.failed == []
    assert assert_nothing_lost(load, cluster.bootstrap, TOPIC) == 0


def partition_on(disk: Path) -> int:
    """Which partition lies on this disk; the first ISR names a replica before that has made its log."""
    eventually(lambda: any(disk.rglob(f"{TOPIC}-*")), "a log on the disk")
    [folder] = disk.rglob(f"{TOPIC}-*")
    return int(folder.name.rpartition("-")[2])


def error_of(cluster: LocalCluster, partition: int) -> int:
    """What broker 0 says about a partition."""
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=TOPIC, partitions=[ListOffsetsPartition(partition_index=partition, timestamp=-1)])]
    )
    with BlockingClient("127.0.0.1", cluster.ports[0]) as client:
        response = client.send(request)
    assert isinstance(response, ListOffsetsResponse)
    return int(response.topics[0].partitions[0].error_code)


def unmount(disk: Path) -> None:
    """The disk is pulled out."""
    run("umount", "-l", disk)


def nothing_more(disk: Path) -> None:
    """The load alone fills the disk, or wears it out."""


@pytest.mark.parametrize(
    ("make_disk", "strike"), [(tiny_tmpfs, nothing_more), (broken_disk, nothing_more), (tiny_tmpfs, unmount)], ids=["full", "EIO", "pulled out"]
)
def test_a_failing_disk_takes_its_partitions_offline_and_nothing_acknowledged_is_lost(
    tmp_path: Path, make_disk: Callable[[Path], contextlib.AbstractContextManager[Path]], strike: Callable[[Path], None]
) -> None:
    with make_disk(tmp_path) as disk, cluster_on(tmp_path, [disk / "data", tmp_path / "healthy"]) as (cluster, witness):
        lost = partition_on(disk)
        kept = 1 - lost
        with load_that_loses_nothing(cluster) as load:
            strike(disk)
            eventually(lambda: witness.state(TOPIC, lost).leader in {1, 2} and 0 not in witness.state(TOPIC, lost).isr, "another leader", seconds=90)
            load.wait_for_more_in(range(PARTITIONS))
            load.wait_for_more(500)
        assert error_of(cluster, lost) == ErrorCode.KAFKA_STORAGE_ERROR
        assert error_of(cluster, kept) == ErrorCode.NONE
        assert (witness.state(TOPIC, kept).leader, sorted(witness.state(TOPIC, kept).isr)) == (0, [0, 1, 2])
        told = cluster.brokers[0].output()
        assert f"Stopping serving logs in dir {disk}/data: " in told
        assert f"Log dir {disk}/data has failed: its partitions are offline here" in told


def test_when_there_is_room_again_a_restarted_broker_has_its_partitions_back(tmp_path: Path) -> None:
    with tiny_tmpfs(tmp_path) as disk, cluster_on(tmp_path, [disk / "data", tmp_path / "healthy"]) as (cluster, witness):
        lost = partition_on(disk)
        with load_that_loses_nothing(cluster) as load:
            eventually(lambda: 0 not in witness.state(TOPIC, lost).isr, "broker 0 is out of the ISR", seconds=90)
            run("mount", "-o", "remount,size=200M", disk)
            assert cluster.brokers[0].stop() == 0
            cluster.restart(0)
            load.wait_for_more(500)
            wait_in_sync(cluster, dict.fromkeys(range(PARTITIONS), 3))
        assert not (disk / "data" / ".kafka_cleanshutdown").exists()
        assert f"Attempting recovery for all logs in {disk}/data since no clean shutdown file was found" in cluster.brokers[0].output()


def test_a_follower_with_a_full_disk_only_leaves_the_isr(tmp_path: Path) -> None:
    with tiny_tmpfs(tmp_path) as disk, cluster_on(tmp_path, [disk / "data", tmp_path / "healthy"], (1, 2, 0)) as (cluster, witness):
        lost = partition_on(disk)
        with load_that_loses_nothing(cluster) as load:
            eventually(lambda: 0 not in witness.state(TOPIC, lost).isr, "broker 0 is out of the ISR", seconds=90)
            load.wait_for_more_in(range(PARTITIONS))
        assert witness.leaders(TOPIC, PARTITIONS) == [1, 1]
        assert sorted(witness.state(TOPIC, 1 - lost).isr) == [0, 1, 2]


def test_a_broker_restarted_on_a_disk_that_is_still_full_serves_its_other_log_dir(tmp_path: Path) -> None:
    with tiny_tmpfs(tmp_path) as disk, cluster_on(tmp_path, [disk / "data", tmp_path / "healthy"]) as (cluster, witness):
        lost = partition_on(disk)
        with load_that_loses_nothing(cluster) as load:
            eventually(lambda: 0 not in witness.state(TOPIC, lost).isr, "broker 0 is out of the ISR", seconds=90)
            cluster.brokers[0].kill()
            (disk / "filler").write_bytes(bytes(room(disk)))
            cluster.restart(0)
            eventually(lambda: sorted(witness.state(TOPIC, 1 - lost).isr) == [0, 1, 2], "the healthy one is in sync again", seconds=60)
            load.wait_for_more_in(range(PARTITIONS))
        assert 0 not in witness.state(TOPIC, lost).isr
        assert cluster.brokers[0].running


def room(disk: Path) -> int:
    """Bytes that are left."""
    return shutil.disk_usage(disk).free


def test_a_broker_without_any_log_dir_left_stops_and_says_why(tmp_path: Path) -> None:
    with tiny_tmpfs(tmp_path) as disk:
        log_dirs = [disk / "data-a", disk / "data-b"]
        with cluster_on(tmp_path, log_dirs) as (cluster, witness):
            with load_that_loses_nothing(cluster) as load:
                eventually(lambda: not cluster.brokers[0].running, "broker 0 has ended", seconds=90)
                load.wait_for_more_in(range(PARTITIONS))
                load.wait_for_more(500)
            assert cluster.brokers[0].wait() == 1
            assert f"Shutdown broker because all log dirs in {log_dirs[0]}, {log_dirs[1]} have failed" in cluster.brokers[0].output()
            assert witness.session_of(0) == 0


def test_a_broker_that_finds_no_log_dir_working_does_not_start(tmp_path: Path) -> None:
    with tiny_tmpfs(tmp_path) as disk:
        run("mount", "-o", "remount,ro", disk)
        cluster = ClusterWithDisks(tmp_path, [disk / "data"], brokers=1)
        try:
            cluster.start_zookeeper()
            cluster.brokers[0].start()
            assert cluster.brokers[0].wait(60) == 1
            assert f"none of the specified log dirs from {disk}/data can be created or validated" in cluster.brokers[0].output()
            assert_no_stack_traces(cluster)
        finally:
            cluster.kill()
