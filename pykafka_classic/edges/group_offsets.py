"""`GroupOffsets`: the offsets of consumer groups in ZooKeeper and in Kafka, for programs that wait.

    with GroupOffsets("localhost:9092", "localhost:2181") as offsets:
        for partition, found in offsets.read("billing").partitions.items():
            print(partition, found.newer, found.current, found.lag, found.time_lag_ms)
        offsets.migrate("billing", source=Store.ZOOKEEPER, dry_run=True)

Meaning of the results: `client/group_offsets/values.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from pykafka_classic.client.group_offsets.group_offsets import GroupOffsetsCore
from pykafka_classic.client.group_offsets.values import GroupSnapshot, Migration, Store
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.zookeeper import Request, Result, SessionEvent, WatchEvent
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper


class WaitingZooKeeper:
    """The seam to ZooKeeper over a session that waits: each promise is kept when it is returned, so that it can be awaited beside those of brokers."""

    def __init__(self, zookeeper: BlockingZooKeeper) -> None:
        self._zookeeper = zookeeper

    @property
    def session_id(self) -> int:
        """The id of the current session."""
        return self._zookeeper.zk.session_id

    def submit(self, requests: Sequence[Request]) -> Promise[list[Result]]:
        """Send all and wait for all answers."""
        return Promise.resolved(self._zookeeper.submit(*requests))

    def add_watch_listener(self, listener: Callable[[WatchEvent], None]) -> None:
        """Tell of watches, while somebody waits."""
        self._zookeeper.zk.add_watch_listener(listener)

    def add_session_listener(self, listener: Callable[[SessionEvent], None]) -> None:
        """Tell of session changes, while somebody waits."""
        self._zookeeper.zk.add_session_listener(listener)


class GroupOffsets:
    """Both stores of one cluster. Also a context manager.

    Args:
        bootstrap: of the brokers, `host:port,host:port,...`.
        zookeeper: `host:port,host:port,.../chroot`, where the groups' `/consumers` is.

    Raises, from the constructor: NoBroker, ValueError, ZooKeeperUnavailable; the text is for the user.
    """

    def __init__(self, bootstrap: Sequence[tuple[str, int]] | str, zookeeper: str) -> None:
        self._admin = Admin(bootstrap)
        try:
            self._zookeeper = BlockingZooKeeper(zookeeper)
        except BaseException:
            self._admin.close()
            raise
        self.core = GroupOffsetsCore(self._admin.core, WaitingZooKeeper(self._zookeeper))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the session and all connections."""
        self._admin.close()
        self._zookeeper.close()

    def read(self, group: str) -> GroupSnapshot:
        """A group in both stores; see `GroupOffsetsCore.read`."""
        return self._admin.run(self.core.read(group))

    def migrate(self, group: str, *, source: Store, force: bool = False, dry_run: bool = False) -> Migration:
        """Copy what is newer in `source` to the other store; see `GroupOffsetsCore.migrate`."""
        return self._admin.run(self.core.migrate(group, source=source, force=force, dry_run=dry_run))
