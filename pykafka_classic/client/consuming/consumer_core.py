"""A consumer without its face: all on one thread, one call of the user's at a time.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/KafkaConsumer.java.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from pykafka_classic.client.broker_node import ClientSeams
from pykafka_classic.client.client_errors import ClientClosed, ClientTimeout, IllegalState
from pykafka_classic.client.cluster_client import ClusterClient, with_deadline
from pykafka_classic.client.cluster_metadata import ClusterMetadata, TopicInfo
from pykafka_classic.client.consuming.assigned_partitions import AssignedPartitions, Position
from pykafka_classic.client.consuming.bell import Bell
from pykafka_classic.client.consuming.committed_offsets import CommittedOffsets
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.consuming.fetcher import Fetcher
from pykafka_classic.client.consuming.group_member import NO_GENERATION, GroupMember, MemberState
from pykafka_classic.client.consuming.offset_lookup import EARLIEST, LATEST, FoundOffset
from pykafka_classic.client.consuming.positions import Positions
from pykafka_classic.client.consuming.rebalance import Rebalance, RebalanceListener, SilentListener
from pykafka_classic.client.consuming.start_resolution import by_partition, resolve
from pykafka_classic.client.coordinator_link import CoordinatorLink
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.client.group_metadata import GroupMetadata
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.starts import Reset, Start, Word
from pykafka_classic.common.clock import after
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise, failure_told, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.network import Disconnected

T = TypeVar("T")
Step: TypeAlias = Coroutine[Promise[Any], None, T]

log = logging.getLogger("kafka.clients.consumer.KafkaConsumer")

_RESET_WORDS: Final = {Reset.EARLIEST: Word.EARLIEST, Reset.LATEST: Word.LATEST}


class ConsumerCore:
    """See the module. Without a group, `assign` alone is of use, and nothing can be committed."""

    def __init__(self, settings: ConsumerSettings, seams: ClientSeams) -> None:
        self.settings = settings
        self.cluster = ClusterClient(settings, seams, allow_auto_topic_creation=settings.allow_auto_create_topics)
        self.assigned = AssignedPartitions()
        self._clock = seams.clock
        self._bell = Bell(seams.clock)
        self._fetcher = Fetcher(self.cluster, settings, self.assigned, self._bell)
        self._positions = Positions(self.cluster, settings, self.assigned, self._bell)
        self._rebalance = Rebalance(self.cluster, settings, self.assigned, self._must_rejoin)
        self._member: GroupMember | None = None
        self._commits: CommittedOffsets | None = None
        if settings.group_id is not None:
            link = CoordinatorLink(self.cluster, settings.group_id)
            self._member = GroupMember(link, settings, self._rebalance, self._bell)
            self._commits = self._positions.committed = CommittedOffsets(link, settings, self._member)
            if settings.enable_auto_commit:
                self._rebalance.commit = lambda offsets: spawn(self.commit(offsets))
        self._subscribed = False
        self._prepared = False  # what a join takes away has been given up
        self._joining: Promise[None] | None = None
        self._next_auto_commit_ms = self._clock.monotonic_ms() + settings.auto_commit_interval_ms
        self._woken = False
        self._closed = False
        self.cluster.when_updated(self._metadata_updated)

    def group_metadata(self) -> GroupMetadata:
        """Who commits, for a producer that does it in a transaction. IllegalState without a group."""
        if self._member is None or self.settings.group_id is None:
            raise IllegalState("this consumer has no group.id")
        generation = self._member.generation
        return GroupMetadata(self.settings.group_id, generation.generation_id, generation.member_id, self.settings.group_instance_id)

    async def start(self) -> None:
        """Find the cluster. NoBrokers."""
        await self.cluster.update()

    # What to read

    async def subscribe(self, topics: Collection[str], pattern: re.Pattern[str] | None, listener: RebalanceListener | None) -> None:
        """As a member of the group: these topics, or all that match. Takes effect with the next polls. IllegalState."""
        if self._member is None:
            raise IllegalState("subscribe needs a group.id; without a group, assign partitions")
        if self.assigned and not self._subscribed:
            raise IllegalState("partitions were assigned by hand; unsubscribe first")
        self._subscribed = True
        self._rebalance.listener = listener or SilentListener()
        self._rebalance.subscribe(topics, pattern)
        self._must_rejoin()
        await self.cluster.update()

    async def assign(self, partitions: Iterable[TopicPartition], *, patience_ms: float | None = None) -> None:
        """By hand, without the group's help. IllegalState, KafkaError where there is no such partition (`patience_ms`: and none comes in that time)."""
        if self._subscribed:
            raise IllegalState("the consumer subscribes to topics; unsubscribe first")
        wanted = list(partitions)
        self.cluster.want({each.topic for each in wanted})
        limit_ms = self.settings.default_api_timeout_ms if patience_ms is None else patience_ms
        await self.cluster.partitions_exist(wanted, timeout_ms=limit_ms, patient=patience_ms is not None)
        self.assigned.replace(wanted, self.settings.first_start)

    async def unsubscribe(self) -> None:
        """Read nothing; leave the group."""
        subscribed, self._subscribed = self._subscribed, False
        if subscribed:
            await self._leave()
        self._joining, self._prepared = None, False
        self.assigned.clear()

    # Records

    async def poll(self, timeout_ms: float, max_records: int | None = None) -> list[ConsumerRecord]:
        """The next records, as soon as there are any; none after `timeout_ms`, or when woken. IllegalState, NoOffset, LogTruncated, KafkaError."""
        self._check_usable()
        deadline_ms = self._clock.monotonic_ms() + timeout_ms
        count = self.settings.max_poll_records if max_records is None else max_records
        if self._member is not None:
            self._member.poll_began()
        try:
            return await self._poll(deadline_ms, count)
        finally:
            if self._member is not None:
                self._member.poll_ended()

    async def _poll(self, deadline_ms: float, count: int) -> list[ConsumerRecord]:
        while not self._closed:
            if self._subscribed:
                self._keep_membership()
            self._auto_commit()
            self._positions.settle()
            self._raise_errors()
            records = self._fetcher.take(count)
            self._fetcher.send_fetches()
            if records or self._woken or self._clock.monotonic_ms() >= deadline_ms:
                self._woken = False
                return records
            if not self._fetcher.has_records:
                await self._bell.wait(deadline_ms)
        return []

    def wake(self) -> None:
        """End the poll that waits, or the next one."""
        self._woken = True
        self._bell.ring()

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read on from there. IllegalState."""
        if offset < 0:
            raise ValueError(f"offset {offset} of {partition}: an offset is not negative")
        self.assigned.of(partition).seek(Position(offset))

    def seek_to(self, start: Start | None, partitions: Iterable[TopicPartition]) -> None:
        """Read on from a start (None: what is committed), which is looked up when it is needed. No partitions: all. IllegalState."""
        for each in list(partitions) or list(self.assigned):
            self.assigned.of(each).seek_to_start(start)

    def rewind(self, positions: Mapping[TopicPartition, Position]) -> None:
        """Records were taken and not handed out: go back to them."""
        for partition, position in positions.items():
            if partition in self.assigned:
                self.assigned[partition].position = position

    def pause(self, partitions: Iterable[TopicPartition], *, paused: bool) -> None:
        """Hand out no records of these, or do so again. IllegalState."""
        for each in partitions:
            self.assigned.of(each).paused = paused
        self._bell.ring()

    async def position(self, partition: TopicPartition) -> int:
        """The offset of the next record. IllegalState, NoOffset, ClientTimeout."""
        deadline_ms = self._clock.monotonic_ms() + self.settings.default_api_timeout_ms
        assigned = self.assigned.of(partition)
        while assigned.position is None:
            self._positions.settle()
            self._raise_errors()
            if self._clock.monotonic_ms() >= deadline_ms:
                raise ClientTimeout(f"the position of {partition} is not known in the time given")
            await self._bell.wait(deadline_ms)
        return assigned.position.offset

    # Offsets

    async def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata] | None = None, *, timeout_ms: float | None = None) -> None:
        """Store these, or (None) all positions. CommitFailed, RebalanceInProgress, IllegalState, KafkaError, ClientTimeout."""
        commits = self._require_group()
        wanted = self.assigned.positions() if offsets is None else offsets
        await self._repeat("a commit", lambda: commits.commit(wanted), timeout_ms)

    async def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        """What the group has committed, of those where it has. IllegalState, KafkaError, ClientTimeout."""
        commits = self._require_group()
        return await self._repeat("committed offsets", lambda: commits.fetch(partitions))

    async def offsets_for_times(self, times: Mapping[TopicPartition, int]) -> dict[TopicPartition, FoundOffset | None]:
        """The first offset whose record has that time (ms) or a later one; None where there is none. EARLIEST and LATEST may be asked too."""
        await self.cluster.partitions_exist(times, timeout_ms=self.settings.default_api_timeout_ms)
        return await self._positions.look_up(dict(times))

    async def offsets_of(self, start: Start, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Where a start would begin. What it does not say, or the group has not committed, is `auto.offset.reset`'s; left out where that is none."""
        await self.cluster.partitions_exist(partitions, timeout_ms=self.settings.default_api_timeout_ms)
        starts = by_partition(start, partitions)
        wanted = [partition for partition in partitions if starts.get(partition) is Word.COMMITTED]
        found = {partition: each.offset for partition, each in (await self.committed(wanted)).items()} if wanted else {}
        reset = _RESET_WORDS.get(self.settings.reset)
        if reset is not None:
            starts |= {partition: reset for partition in partitions if starts.get(partition, Word.COMMITTED) is Word.COMMITTED}
        asked = {partition: each for partition, each in starts.items() if partition not in found and each is not Word.COMMITTED}
        resolved = await resolve(asked, lambda times: spawn(self._positions.look_up(dict(times))))
        return found | {partition: each.offset for partition, each in resolved.items()}

    async def beginning_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset of the first record, or of the next one where there is none."""
        return {partition: each.offset if each else 0 for partition, each in (await self.offsets_for_times(dict.fromkeys(partitions, EARLIEST))).items()}

    async def end_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset after the last record that this consumer may see."""
        return {partition: each.offset if each else 0 for partition, each in (await self.offsets_for_times(dict.fromkeys(partitions, LATEST))).items()}

    async def topic(self, name: str) -> TopicInfo:
        """A topic and its partitions. KafkaError."""
        before = self.cluster.topics
        try:
            return await self.cluster.topic(name, timeout_ms=self.settings.default_api_timeout_ms)
        finally:
            if before is not None and name not in before:
                self.cluster.want(before)

    async def close(self, *, timeout_ms: float) -> None:
        """Commit (with auto-commit), leave the group, close."""
        if self._closed:
            return
        self._closed = True
        self._bell.ring()  # a poll that is under way ends
        limit = self._clock.call_later(timeout_ms, self.cluster.close)
        try:
            if self._commits is not None and self.settings.enable_auto_commit and self.assigned:
                await self.commit(timeout_ms=timeout_ms)
        except Exception as error:  # noqa: BLE001  # closing goes on
            log.warning("Offsets were not committed at the end: %s", error)
        try:
            if self._subscribed:
                await self._leave()
        except (KafkaError, Disconnected, ClientClosed) as error:
            log.info("Leaving the group: %s", error)
        finally:
            limit.cancel()
            self.cluster.close()

    # inside

    def _keep_membership(self) -> None:
        """Begin to join where that is needed; a join under way rings when it ends, and what is owned meanwhile (cooperative) is read on."""
        assert self._member is not None
        while self._member.fatal is None and (self._member.rejoin_needed or self._joining is not None):
            if self._joining is None:
                self._joining = spawn(self._join())
                self._joining.when_settled(lambda _: self._bell.ring())
            if not self._joining.settled:
                return
            joining, self._joining = self._joining, None
            joining.result()

    async def _join(self) -> None:
        """Until it has succeeded once. The listener's exceptions pass through, when all is done."""
        assert self._member is not None
        failure: Exception | None = None
        while self._member.rejoin_needed and self._subscribed and not self._closed:
            given_up = self._member.generation.generation_id == NO_GENERATION and bool(self.assigned)
            if not self._prepared or given_up:
                failure = failure or await _outcome(self._rebalance.prepare(self._member.generation))
                self._prepared = True
            try:
                joined = await self._member.join()
            except (KafkaError, Disconnected) as error:
                if isinstance(error, KafkaError) and not error.code.retriable:
                    raise
                log.info("Joining group %s: %s", self.settings.group_id, error)
                await after(self._clock, self.settings.retry_backoff_ms)
                continue
            if joined is None:
                continue
            self._prepared = False
            completed = spawn(self._rebalance.complete(joined, self._member.generation))
            failure = failure or await _outcome_of(completed)
            if completed.error() is None and completed.result():
                self._member.rejoin_needed = True
        if failure is not None:
            raise failure

    async def _leave(self) -> None:
        assert self._member is not None
        try:
            if self._member.state is MemberState.STABLE or self.assigned:
                await self._rebalance.leave()
        finally:
            await self._member.leave("the consumer leaves")

    def _must_rejoin(self) -> None:
        if self._member is not None and self._subscribed:
            self._member.rejoin_needed = True
            self._bell.ring()

    def _auto_commit(self) -> None:
        now_ms = self._clock.monotonic_ms()
        if self._commits is None or not self.settings.enable_auto_commit or now_ms < self._next_auto_commit_ms:
            return
        self._next_auto_commit_ms = now_ms + self.settings.auto_commit_interval_ms
        positions = self.assigned.positions()
        if positions and self._joining is None:
            spawn(self._commits.commit(positions)).when_settled(failure_told(log.warning, "Auto-commit failed: %s"))

    def _metadata_updated(self, metadata: ClusterMetadata) -> None:
        if self._subscribed:
            self._rebalance.metadata_updated(metadata)
        self._bell.ring()

    def _raise_errors(self) -> None:
        if self._member is not None and self._member.fatal is not None:
            raise self._member.fatal
        error, self._positions.error = self._positions.error, None
        if error is not None:
            raise error

    def _check_usable(self) -> None:
        if self._closed:
            raise ClientClosed("the consumer is closed")
        if not self._subscribed and not self.assigned:
            raise IllegalState("nothing to poll: subscribe to topics or assign partitions first")

    def _require_group(self) -> CommittedOffsets:
        if self._commits is None:
            raise IllegalState("offsets are committed by a group, and no group.id is set")
        return self._commits

    async def _repeat(self, what: str, attempt: Callable[[], Step[T]], timeout_ms: float | None = None) -> T:
        limit_ms = self.settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        return await with_deadline(self.cluster, self._clock.monotonic_ms() + limit_ms, what, lambda: spawn(attempt()))


async def _outcome(step: Step[None]) -> Exception | None:
    return await _outcome_of(spawn(step))


async def _outcome_of(step: Promise[T]) -> Exception | None:
    try:
        await step
    except Exception as error:  # noqa: BLE001  # a listener of the user's may raise anything
        return error
    return None
