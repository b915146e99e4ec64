"""A store in a folder, filled by tests with what a cluster might have gone through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pykafka_classic.monitor.store.reader import StoreReader
from pykafka_classic.monitor.store.rows import Batch, ChangeKind, ClusterRow, ZNodeRow
from pykafka_classic.monitor.store.writer import StoreWriter
from zk_schema import partition_state, topics
from zk_schema.partition_state import TopicPartitionStateZNode
from zk_schema.topics import ReplicaAssignment, TopicZNode

CLUSTER = "here"
T0 = 1_600_000_000_000


class World:
    """A writer and a reader of one store, and rows made easily: times are seconds after T0."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "monitor.db"
        self.now_ms = T0
        self.writer = StoreWriter(self.path, lambda: self.now_ms)
        self.reader = StoreReader(self.path)
        self.zxid = 0
        self.writer.put(ClusterRow(CLUSTER, "zk:2181", None, "connected", T0))

    def write(self, second: float, *rows: ZNodeRow) -> None:
        """A look that found these."""
        self.batch(Batch(CLUSTER, ms(second), znodes=rows))

    def batch(self, batch: Batch) -> None:
        """Any batch; it is there when this returns."""
        self.now_ms = max(self.now_ms, batch.t_ms)
        self.writer.put(batch)
        assert self.writer.flush()

    def row(self, path: str, second: float, data: bytes | None, kind: ChangeKind = ChangeKind.CREATED, *, owner: int = 0, version: int = 0) -> ZNodeRow:
        """A change, with the next zxid."""
        self.zxid += 1
        return ZNodeRow(path, kind, ms(second), ms(second) + 5, self.zxid, version, owner, 1, data)

    def topic(self, name: str, second: float, *assignments: Sequence[int]) -> ZNodeRow:
        """A topic's node."""
        znode = TopicZNode("AAAAAAAAAAAAAAAAAAAAAA", {number: ReplicaAssignment(tuple(each)) for number, each in enumerate(assignments)})
        return self.row(topics.path(name), second, topics.encode(znode))

    def state(self, name: str, partition: int, second: float, leader: int, isr: Sequence[int], *, epoch: int = 0) -> ZNodeRow:
        """A partition's state node; the epoch is its version too."""
        znode = TopicPartitionStateZNode(leader, epoch, tuple(isr), 1)
        kind = ChangeKind.WRITTEN if epoch else ChangeKind.CREATED
        return self.row(partition_state.path(name, partition), second, partition_state.encode(znode), kind, version=epoch)


def ms(second: float) -> int:
    """Seconds after T0 as ms since 1970."""
    return T0 + round(second * 1000)


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """A store that is closed in the end."""
    made = World(folder)
    try:
        yield made
    finally:
        made.reader.close_own()
        made.writer.close()
