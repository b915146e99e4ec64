"""The driver as a member of a group whose coordinator is a broker: it joins, beats, commits and leaves like any consumer, but fetches nothing.

One thread keeps the membership: it polls, so that rebalances go on between batches also while Spark does not ask, and does the commits. A rebalance takes
partitions only at a batch boundary: the callback that gives them up waits until the batch under way has ended, and been committed, for as long as
`max.poll.interval.ms` allows; heartbeats go on meanwhile.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from queue import Empty, SimpleQueue
from typing import Any, Final

from pykafka_classic.client.client_errors import ClientTimeout
from pykafka_classic.client.consuming.consumer_errors import CommitFailed, RebalanceInProgress
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.clients.consumer import Consumer
from pykafka_classic.protocol.network import Disconnected
from spark_integration.cluster import CannotPlan, Cluster
from spark_integration.membership import CommitLater, CommitRefused
from spark_integration.options import GroupOptions, Membership, member_settings
from spark_integration.solitude import await_solitude

log = logging.getLogger("spark_integration")

POLL_MS: Final = 1_000
PAUSE_S: Final = 0.5  # after a poll that failed
LOOK_S: Final = 0.2  # how often it is looked whether a predecessor has gone
LEAVE_MS: Final = 5_000
FIRST_REBALANCE_S: Final = 60.0
COMMIT_S: Final = 15.0  # no longer is a micro-batch held up by a coordinator that is away

Task = tuple[Callable[[], None], "Outcome"]


class Outcome:
    """Of a task that another thread does."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._error: Exception | None = None

    def settle(self, error: Exception | None) -> None:
        """It is done."""
        self._error = error
        self._done.set()

    def wait(self, seconds: float) -> None:
        """Raise what it raised; TimeoutError."""
        if not self._done.wait(seconds):
            raise TimeoutError
        if self._error is not None:
            raise self._error


class KafkaMember:
    """See the module; joins in the constructor. CannotPlan where the group refuses, or others are in it and we must be alone."""

    def __init__(self, cluster: Cluster, group: GroupOptions) -> None:
        self._group = group
        self._is_sole = group.membership is Membership.SOLE
        if self._is_sole:
            own = f"{cluster.options.client_id} on "
            await_solitude(group, cluster.members, lambda member: member.startswith(own))
        self._bootstrap, self._client_id = cluster.bootstrap, cluster.options.client_id
        self._consumer = _make_consumer(cluster, group)
        self._tasks: SimpleQueue[Task] = SimpleQueue()
        self._assigned: frozenset[TopicPartition] = frozenset()
        self.epoch = 0  # how often something was assigned
        self._settled = threading.Event()  # an assignment stands
        self._free = threading.Event()  # no batch is under way
        self._free.set()
        self._fatal: Exception | None = None
        self._closing = False
        topics = cluster.options.topics
        self._wanted: Any = f"^(?:{topics.pattern})$" if topics.pattern else list(topics.names)
        self._thread = threading.Thread(target=self._run, name=f"member of {group.group_id}", daemon=True)
        self._thread.start()
        try:
            self.assignment()
        except BaseException:
            self.close()
            raise

    def assignment(self) -> tuple[int, frozenset[TopicPartition] | None]:
        """See `Membership`."""
        limit_s = max(FIRST_REBALANCE_S, self._group.max_poll_interval_ms / 1000 + 10)
        if not self._settled.wait(limit_s):
            raise CannotPlan(f"group {self._group.group_id!r} did not come to rest within {limit_s:.0f} s")
        if self._fatal is not None:
            raise CannotPlan(str(self._fatal)) from self._fatal
        return self.epoch, None if self._is_sole else self._assigned

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """See `Membership`. A sole owner's commit is repeated once it is in the group again."""
        owned: dict[tuple[str, int], OffsetAndMetadata | int] = {each: offset for each, offset in offsets.items() if self._is_sole or each in self._assigned}
        if not owned:
            return
        if self._fatal is not None:
            raise CommitLater(str(self._fatal))
        outcome, epoch = Outcome(), self.epoch

        def commit() -> None:
            if not self._is_sole and self.epoch != epoch:  # it has waited for too long: others may have gone on
                raise CommitFailed("the group has divided its partitions anew")
            self._consumer.commit(owned)

        self._tasks.put((commit, outcome))
        self._consumer.wakeup()
        try:
            outcome.wait(COMMIT_S)
        except CommitFailed as error:
            raise (CommitLater if self._is_sole else CommitRefused)(str(error)) from error
        except (RebalanceInProgress, ClientTimeout, Disconnected, TimeoutError) as error:
            raise CommitLater(str(error) or "the coordinator takes its time") from error
        except KafkaError as error:
            if error.code.retriable:
                raise CommitLater(str(error)) from error
            raise CannotPlan(f"a commit of group {self._group.group_id!r}: {error}") from error

    def batch_began(self) -> None:
        """See `Membership`."""
        self._free.clear()

    def batch_ended(self) -> None:
        """See `Membership`."""
        self._free.set()

    def close(self) -> None:
        """Leave. Others need not wait for a time-out then."""
        self._closing = True
        self._free.set()
        self._consumer.wakeup()
        self._thread.join(LEAVE_MS / 1000 + 5)

    # The thread

    def _run(self) -> None:
        try:
            self._consumer.subscribe(self._wanted, on_assigned=self._on_assigned, on_revoked=self._on_revoked, on_lost=self._on_lost)
            while not self._closing and self._fatal is None:
                self._do_tasks()
                self._poll()
        except Exception as error:  # noqa: BLE001  # whatever it is, who waits for an assignment must hear of it
            self._end(error)
        finally:
            try:
                self._consumer.close(timeout_ms=LEAVE_MS)
            except (KafkaError, Disconnected, ClientTimeout) as error:
                log.info("Leaving group %s: %s", self._group.group_id, error)
            self._fail_tasks()

    def _poll(self) -> None:
        try:
            self._consumer.poll(timeout_ms=POLL_MS)
        except (Disconnected, ClientTimeout) as error:
            log.warning("Group %s: %s", self._group.group_id, error)
            time.sleep(PAUSE_S)
        except KafkaError as error:
            if not error.code.retriable:
                raise CannotPlan(self._why(error)) from error
            log.warning("Group %s: %s", self._group.group_id, error)
            time.sleep(PAUSE_S)

    def _why(self, error: KafkaError) -> str:
        if error.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
            return f"group {self._group.group_id!r} has members that divide partitions in another way, or that share with nobody ({error})"
        return f"group {self._group.group_id!r}: {error}"

    def _do_tasks(self, *, wait_s: float = 0.0) -> None:
        while True:
            try:
                task, outcome = self._tasks.get(timeout=wait_s) if wait_s else self._tasks.get_nowait()
            except Empty:
                return
            try:
                task()
            except Exception as error:  # noqa: BLE001  # it belongs to who waits
                outcome.settle(error)
            else:
                outcome.settle(None)
            wait_s = 0.0

    def _fail_tasks(self) -> None:
        while not self._tasks.empty():
            self._tasks.get()[1].settle(CommitFailed("the job has left its group"))

    def _on_assigned(self, partitions: tuple[TopicPartition, ...]) -> None:
        self._assigned = frozenset(self._consumer.assignment)
        if partitions:
            self._consumer.pause(*partitions)  # executors fetch, not we
        if self._is_sole and not self._assigned:
            self._check_alone()
        self.epoch += 1
        self._settled.set()

    def _check_alone(self) -> None:
        """Nothing was assigned: there may be nothing yet that matches, or another owner."""
        with Admin(self._bootstrap, client_id=self._client_id) as admin:
            members = admin.describe_groups([self._group.group_id]).check()[self._group.group_id].members
        if any(each.assignment for each in members):
            raise CannotPlan(f"group {self._group.group_id!r} has another owner already, which shares with nobody (option 'membership')")

    def _on_revoked(self, _: tuple[TopicPartition, ...]) -> None:
        self._settled.clear()
        deadline = time.monotonic() + self._group.max_poll_interval_ms / 1000
        while not self._is_sole and not self._free.is_set() and not self._closing and time.monotonic() < deadline:
            self._do_tasks(wait_s=LOOK_S)
        self._do_tasks()

    def _on_lost(self, partitions: tuple[TopicPartition, ...]) -> None:
        self._settled.clear()
        log.warning("Group %s has gone on without this job; it had %d partitions and joins again", self._group.group_id, len(partitions))

    def _end(self, error: Exception) -> None:
        if not self._closing:
            self._fatal = error
            self._settled.set()


def _make_consumer(cluster: Cluster, group: GroupOptions) -> Consumer:
    options = cluster.options
    settings = replace(
        member_settings(group, cluster.bootstrap),
        client_id=options.client_id,
        request_timeout_ms=options.request_timeout_ms,
        default_api_timeout_ms=options.api_timeout_ms,
    )
    return Consumer(**{field.name: getattr(settings, field.name) for field in fields(settings)})
