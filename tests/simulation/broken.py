"""Three ways to break replication, to show that the simulation would see it. Each is a context in which the code is broken.

* `ack_before_isr`: acks=all is answered when the leader alone has the records.
* `no_epoch_fencing`: nobody looks at epochs: old LeaderAndIsr and controllers are obeyed, old leaders are fetched from.
* `truncate_to_high_watermark`: a new follower cuts its log to its own high watermark, as before KIP-101, which may lag behind what is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.log.log import Log
from pykafka_classic.server import delayed_produce
from pykafka_classic.server.partition_fetch_state import InitialFetchState, PartitionFetchState, ReplicaState
from pykafka_classic.server.replica_fetcher import ReplicaFetcher
from pykafka_classic.server.replica_manager import ReplicaManager
from pykafka_classic.server.replica_roles import ReplicaRoles, Wanted


@contextmanager
def ack_before_isr() -> Iterator[None]:
    """acks=all waits for nobody."""

    def verdict(partition: Partition, required_offset: int) -> ErrorCode | None:
        del required_offset
        return ErrorCode.NONE if partition.is_leader else ErrorCode.NOT_LEADER_OR_FOLLOWER

    with patch.object(delayed_produce, "replication_verdict", verdict):
        yield


@contextmanager
def no_epoch_fencing() -> Iterator[None]:
    """Requests of any epoch are carried out."""
    local_log, why_not = Partition.local_log, ReplicaRoles._why_not

    def any_epoch(self: Partition, current_leader_epoch: int = -1, **more: Any) -> Log:
        del current_leader_epoch
        return local_log(self, **more)

    def obey(self: ReplicaRoles, wanted: Wanted) -> ErrorCode:
        error = why_not(self, wanted)
        return ErrorCode.NONE if error is ErrorCode.STALE_CONTROLLER_EPOCH else error

    def believe(self: ReplicaManager, controller_epoch: int, controller_id: int, kind: str) -> bool:
        del controller_id, kind
        self.controller_epoch = controller_epoch
        return True

    with (
        patch.object(Partition, "local_log", any_epoch),
        patch.object(ReplicaRoles, "_why_not", obey),
        patch.object(ReplicaManager, "_is_current", believe),
    ):
        yield


@contextmanager
def truncate_to_high_watermark() -> Iterator[None]:
    """Logs are cut where the follower's own high watermark is."""

    def initial_state(self: ReplicaFetcher, topic_partition: Any, begin: InitialFetchState) -> PartitionFetchState:
        follower_log = self._log(topic_partition)
        self._truncates_on_fetch = self._asks_epochs = False
        return PartitionFetchState(follower_log.high_watermark, begin.current_leader_epoch, ReplicaState.TRUNCATING, None)

    with patch.object(ReplicaFetcher, "_initial_state", initial_state):
        yield


VARIANTS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "ack-before-isr": ack_before_isr,
    "no-epoch-fencing": no_epoch_fencing,
    "truncate-to-high-watermark": truncate_to_high_watermark,
}
