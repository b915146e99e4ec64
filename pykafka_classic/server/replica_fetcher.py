"""What a follower asks one leader, and what it makes of the answers: all decisions of a fetcher, none of the waiting.

One fetcher serves some of the partitions that this broker follows at one source broker. Its loop (fetcher_loop.py) goes round like this:

1. `epoch_request` / `handle_epoch_response`: partitions that have to be cut first ask where their latest epoch ended (KIP-101, KIP-279).
2. `build_fetch` / `handle_fetch_response`: append what came, take over high watermark and log start; or learn that the logs diverge, and cut.
3. `out_of_range`: partitions whose offset the leader does not have ask for its offsets (`handle_leader_offsets`).

From inter.broker.protocol.version 2.7-IV1 on the first step is needed only for logs without epochs. An error delays a partition by `replica.fetch.backoff.ms`;
what cannot be mended marks it failed until the next LeaderAndIsr.

Partitions at the leader's end cost nothing from request to request: only changes go to the session (fetch_session_handler.py). Log starts, which retention
moves behind our back, are looked at twice a second.

Mirrors kafka.server.{AbstractFetcherThread, ReplicaFetcherThread}; facts/coordination.md 4.2, 4.3.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.common.api_version import KAFKA_0_11_0_IV2, KAFKA_2_7_IV1
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.protocol import ibp
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.fetch_session_handler import FetchSessionHandler
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchPartition, FetchRequest, FetchResponse
from pykafka_classic.protocol.messages.offset_for_leader_epoch import EpochEndOffset, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
from pykafka_classic.server.fetcher_requests import epoch_request_of
from pykafka_classic.server.fetcher_settings import FetcherSettings
from pykafka_classic.server.partition_fetch_state import InitialFetchState, OffsetTruncationState, PartitionFetchState, ReplicaState, truncation_state
from pykafka_classic.server.pending_flushes import PendingFlushes

log = logging.getLogger("kafka.server.ReplicaFetcherThread")

LOG_START_CHECK_MS: Final = 500
NO_EPOCH: Final = -1

# Transient, or cured by a new LeaderAndIsr: try again later. Any other code is logged as an error, and tried again as well.
_EXPECTED: Final = frozenset({ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})


class ReplicaFetcher:
    """The partitions of one fetcher.

    Invariants: a partition is in the session exactly while it was ready when last looked at; `_stale` has those to look at before the next request;
    `out_of_range` those whose offset the leader refused in the last answer; `_throttled` those out of the session until the quota allows them.
    """

    def __init__(self, settings: FetcherSettings, source_broker_id: int, fetcher_id: int) -> None:
        self.source_broker_id = source_broker_id
        self.name = f"[ReplicaFetcher replicaId={settings.config.broker_id}, leaderId={source_broker_id}, fetcherId={fetcher_id}]"
        self._settings = settings
        self._backoff_ms = settings.config.replica_fetch_backoff_ms
        self._truncates_on_fetch = settings.protocol >= KAFKA_2_7_IV1
        self._asks_epochs = settings.protocol >= KAFKA_0_11_0_IV2
        self.fetch_version = ibp.version_to_send(ApiKey.FETCH, settings.protocol)
        self.session = FetchSessionHandler(source_broker_id, version=self.fetch_version)
        self.states: dict[TopicPartition, PartitionFetchState] = {}
        self.out_of_range: list[TopicPartition] = []
        self.flushes = PendingFlushes()
        self._stale: dict[TopicPartition, None] = {}
        self._delayed: dict[TopicPartition, None] = {}
        self._truncating: dict[TopicPartition, None] = {}
        self._throttled: dict[TopicPartition, None] = {}
        self._log_starts_checked_ms = settings.now_ms()

    # Partitions

    def add_partitions(self, initial: Mapping[TopicPartition, InitialFetchState]) -> None:
        """Begin to fetch these. One that is fetched in the same leader epoch already goes on as it is."""
        for topic_partition, begin in initial.items():
            current = self.states.get(topic_partition)
            if current is None or current.current_leader_epoch != begin.current_leader_epoch:
                self._set(topic_partition, self._initial_state(topic_partition, begin))

    def _initial_state(self, topic_partition: TopicPartition, begin: InitialFetchState) -> PartitionFetchState:
        epoch = self._latest_epoch(topic_partition) if self._truncates_on_fetch else None
        state = ReplicaState.TRUNCATING if epoch is None else ReplicaState.FETCHING
        return PartitionFetchState(begin.init_offset, begin.current_leader_epoch, state, epoch)

    def remove_partitions(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Fetch these no more; what is under way for them will be ignored."""
        for topic_partition in topic_partitions:
            if self.states.pop(topic_partition, None) is not None:
                self.session.forget(topic_partition)
                for each in (self._stale, self._delayed, self._truncating, self._throttled):
                    each.pop(topic_partition, None)

    def _set(self, topic_partition: TopicPartition, state: PartitionFetchState) -> None:
        self.states[topic_partition] = state
        self._stale[topic_partition] = None
        if state.state is ReplicaState.TRUNCATING:
            self._truncating[topic_partition] = None
        else:
            self._truncating.pop(topic_partition, None)

    def delay_partitions(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Leave these alone for `replica.fetch.backoff.ms`, but for those that wait already."""
        now_ms = self._settings.now_ms()
        for topic_partition in topic_partitions:
            state = self.states.get(topic_partition)
            if state is not None and not state.is_delayed(now_ms):
                state.delayed_until_ms = now_ms + self._backoff_ms
                self._stale[topic_partition] = self._delayed[topic_partition] = None

    def _mark_failed(self, topic_partition: TopicPartition) -> None:
        self._settings.failed_partitions.add(topic_partition)
        self.remove_partitions([topic_partition])
        log.warning("%s Partition %s marked as failed", self.name, topic_partition)

    # Truncation by asking for epochs

    def epoch_request(self) -> OffsetForLeaderEpochRequest | None:
        """What to ask before anything can be fetched. Logs without epochs are cut to the high watermark at once, and ask nothing."""
        now_ms = self._settings.now_ms()
        asked: dict[TopicPartition, tuple[int, int]] = {}
        for topic_partition in list(self._truncating):
            state = self.states[topic_partition]
            if state.is_truncating(now_ms):
                epoch = self._latest_epoch(topic_partition) if self._asks_epochs else None
                if epoch is not None:
                    asked[topic_partition] = (state.current_leader_epoch, epoch)
                else:
                    log.info("%s Truncating partition %s to local high watermark %d", self.name, topic_partition, state.fetch_offset)
                    self._truncate(topic_partition, state, OffsetTruncationState(state.fetch_offset, completed=True))
        return epoch_request_of(self._settings.config.broker_id, asked) if asked else None

    def handle_epoch_response(self, request: OffsetForLeaderEpochRequest, response: OffsetForLeaderEpochResponse) -> None:
        """Cut the logs where the leader's epochs ended."""
        asked = {TopicPartition(topic.topic, each.partition): each.current_leader_epoch for topic in request.topics for each in topic.partitions}
        for topic in response.topics:
            for answer in topic.partitions:
                topic_partition = TopicPartition(topic.topic, answer.partition)
                state = self.states.get(topic_partition)
                if state is not None and asked.get(topic_partition) == state.current_leader_epoch:  # else the leadership has changed meanwhile
                    self._handle_epoch_end(topic_partition, state, answer)

    def _handle_epoch_end(self, topic_partition: TopicPartition, state: PartitionFetchState, answer: EpochEndOffset) -> None:
        error = ErrorCode(answer.error_code)
        if error is ErrorCode.NONE:
            self._truncate_to_epoch_end(topic_partition, state, answer.leader_epoch, answer.end_offset)
        elif error is ErrorCode.FENCED_LEADER_EPOCH:
            self._on_fenced(topic_partition, state)
        else:
            log.info("%s Retrying leaderEpoch request for partition %s as the leader reported an error: %s", self.name, topic_partition, error.name)
            self.delay_partitions([topic_partition])

    def _truncate_to_epoch_end(self, topic_partition: TopicPartition, state: PartitionFetchState, leader_epoch: int, end_offset: int) -> None:
        partition = self._settings.hosted.online.get(topic_partition)
        if partition is not None and partition.log is not None:  # else its log dir has failed, and the fetcher is about to be told
            self._truncate(topic_partition, state, truncation_state(partition.log, state.fetch_offset, leader_epoch, end_offset))

    def _truncate(self, topic_partition: TopicPartition, state: PartitionFetchState, truncation: OffsetTruncationState) -> None:
        try:
            self._partition(topic_partition).truncate_to(truncation.offset)
        except KafkaError as error:
            log.error("%s Failed to truncate %s at offset %d: %s", self.name, topic_partition, truncation.offset, error)
            self._mark_failed(topic_partition)
            return
        done = truncation.completed or self._truncates_on_fetch
        following = ReplicaState.FETCHING if done else ReplicaState.TRUNCATING
        epoch = self._latest_epoch(topic_partition)
        self._set(topic_partition, PartitionFetchState(truncation.offset, state.current_leader_epoch, following, epoch, state.delayed_until_ms, state.lag))

    def _on_fenced(self, topic_partition: TopicPartition, state: PartitionFetchState) -> None:
        """Our leader epoch is old, and it is still the one that we know: only a LeaderAndIsr can help."""
        log.info(
            "%s Partition %s has an older epoch (%d) than the current leader. Will await the new LeaderAndIsr state before resuming fetching.",
            self.name, topic_partition, state.current_leader_epoch,
        )  # fmt: skip
        self._mark_failed(topic_partition)

    # Fetching

    def build_fetch(self) -> FetchRequest | None:
        """The next Fetch; None while no partition is ready (and none has to be forgotten)."""
        now_ms = self._settings.now_ms()
        self._find_stale(now_ms)
        for topic_partition in self._stale:
            state = self.states[topic_partition]
            partition = self._settings.hosted.online.get(topic_partition)
            if partition is None or partition.log is None or not state.is_ready_for_fetch(now_ms):
                self.session.forget(topic_partition)
            elif self._has_to_wait(topic_partition, state):
                self._throttled[topic_partition] = None
                self.session.forget(topic_partition)
            else:
                self.session.put(topic_partition, self._fetch_partition(topic_partition, state, partition.log.log_start_offset))
        self._stale.clear()
        data = self.session.build()
        if data is None:
            return None
        config = self._settings.config
        return FetchRequest(
            replica_id=config.broker_id,
            max_wait_ms=config.replica_fetch_wait_max_ms,
            min_bytes=config.replica_fetch_min_bytes,
            max_bytes=config.replica_fetch_response_max_bytes,
            session_id=data.session_id,
            session_epoch=data.session_epoch,
            topics=data.topics,
            forgotten_topics_data=data.forgotten,
        )

    def _has_to_wait(self, topic_partition: TopicPartition, state: PartitionFetchState) -> bool:
        """A replica that has caught up is not throttled."""
        return state.lag != 0 and self._settings.quota.blocks(topic_partition)

    def _find_stale(self, now_ms: float) -> None:
        if self._throttled and not self._settings.quota.is_exceeded():
            self._stale.update(self._throttled)
            self._throttled.clear()
        for topic_partition in list(self._delayed):
            if not self.states[topic_partition].is_delayed(now_ms):
                del self._delayed[topic_partition]
                self._stale[topic_partition] = None
        if now_ms - self._log_starts_checked_ms >= LOG_START_CHECK_MS:
            self._log_starts_checked_ms = now_ms
            online = self._settings.hosted.online
            for topic_partition, asked in self.session.partitions.items():
                partition = online.get(topic_partition)
                if partition is None or partition.log is None or partition.log.log_start_offset != asked.log_start_offset:
                    self._stale[topic_partition] = None

    def _fetch_partition(self, topic_partition: TopicPartition, state: PartitionFetchState, log_start_offset: int) -> FetchPartition:
        epoch = state.last_fetched_epoch if self._truncates_on_fetch else None
        return FetchPartition(
            partition=topic_partition.partition,
            current_leader_epoch=state.current_leader_epoch,
            fetch_offset=state.fetch_offset,
            last_fetched_epoch=NO_EPOCH if epoch is None else epoch,
            log_start_offset=log_start_offset,
            partition_max_bytes=self._settings.config.replica_fetch_max_bytes,
        )

    def handle_fetch_error(self) -> None:
        """No answer came: leave all partitions alone for a while."""
        self.session.handle_error()
        self.delay_partitions(self.states)

    def handle_fetch_response(self, response: FetchResponse) -> None:
        """Append what came. Answers that no longer fit the state of their partition are ignored: it was removed, cut or given a new leader meanwhile."""
        self.out_of_range = []
        if not self.session.handle_response(response):
            return
        now_ms = self._settings.now_ms()
        for topic in response.responses:
            for data in topic.partition_responses:
                topic_partition = TopicPartition(topic.topic, data.partition)
                state, request = self.states.get(topic_partition), self.session.partitions.get(topic_partition)
                if state is None or request is None or topic_partition in self._stale or not state.is_ready_for_fetch(now_ms):
                    continue
                if request.fetch_offset == state.fetch_offset and request.current_leader_epoch == state.current_leader_epoch:
                    self._handle_partition(topic_partition, state, data)

    def _handle_partition(self, topic_partition: TopicPartition, state: PartitionFetchState, data: FetchablePartitionResponse) -> None:
        error = ErrorCode(data.error_code)
        if error is ErrorCode.NONE:
            self._handle_data(topic_partition, state, data)
        elif error is ErrorCode.OFFSET_OUT_OF_RANGE:
            self.out_of_range.append(topic_partition)
        elif error is ErrorCode.FENCED_LEADER_EPOCH:
            self._on_fenced(topic_partition, state)
        else:
            level = logging.INFO if error in _EXPECTED else logging.ERROR
            log.log(level, "%s Error for partition %s at offset %d: %s", self.name, topic_partition, state.fetch_offset, error.name)
            self.delay_partitions([topic_partition])

    def _handle_data(self, topic_partition: TopicPartition, state: PartitionFetchState, data: FetchablePartitionResponse) -> None:
        diverging = data.diverging_epoch
        try:
            if self._truncates_on_fetch and diverging.epoch >= 0:
                # The records and offsets of this answer mean nothing until the log is cut.
                self._truncate_to_epoch_end(topic_partition, state, diverging.epoch, diverging.end_offset)
            else:
                self._append(topic_partition, state, data)
        except KafkaError as error:
            log.error(
                "%s Error while processing data for partition %s at offset %d: %s (%s)", self.name, topic_partition, state.fetch_offset, error, error.code.name
            )
            if error.code in (ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD):
                self.delay_partitions([topic_partition])  # it may have been damaged on its way only
            else:
                self._mark_failed(topic_partition)
        except Exception:
            log.exception("%s Unexpected error occurred while processing data for partition %s at offset %d", self.name, topic_partition, state.fetch_offset)
            self._mark_failed(topic_partition)

    def _append(self, topic_partition: TopicPartition, state: PartitionFetchState, data: FetchablePartitionResponse) -> None:
        partition = self._partition(topic_partition)
        follower_log = partition.local_log()
        assert follower_log.log_end_offset == state.fetch_offset, f"fetched offset = {state.fetch_offset}, log end offset = {follower_log.log_end_offset}"
        records = data.record_set.read() if isinstance(data.record_set, FileRecords) else data.record_set
        if records:
            self._settings.quota.record_partition(topic_partition, len(records))
            info = partition.append_records_to_follower(records)
            if info.size:
                state.fetch_offset = info.last_offset + 1
                state.last_fetched_epoch = info.last_leader_epoch if info.last_leader_epoch >= 0 else None
                self._stale[topic_partition] = None
                self.flushes.note(follower_log)
            else:
                self._warn_of_oversized(topic_partition)
        partition.update_follower_offsets(data.high_watermark, data.log_start_offset)
        state.lag = max(0, data.high_watermark - state.fetch_offset)

    def _warn_of_oversized(self, topic_partition: TopicPartition) -> None:
        if self.fetch_version < 3:  # later versions give the first batch whole
            log.error("%s Replication is failing due to a message that is greater than replica.fetch.max.bytes for partition %s.", self.name, topic_partition)

    # Offsets that the leader does not have

    def handle_latest_offsets(self, offsets: Mapping[TopicPartition, int | ErrorCode]) -> list[TopicPartition]:
        """The leader's log ends, asked for `out_of_range`. Where it ends before ours (unclean election) ours is cut; the others must ask for its start."""
        ask_start = []
        for topic_partition, state, offset in self._usable(offsets):
            log_end_offset = self._log(topic_partition).log_end_offset
            if offset < log_end_offset:
                log.warning(
                    "%s Reset fetch offset for partition %s from %d to current leader's latest offset %d", self.name, topic_partition, log_end_offset, offset
                )
                self._truncate(topic_partition, state, OffsetTruncationState(offset, completed=True))
            else:
                ask_start.append(topic_partition)
        return ask_start

    def handle_earliest_offsets(self, offsets: Mapping[TopicPartition, int | ErrorCode]) -> None:
        """The leader's log starts: go on from there; where that lies beyond our end, with an empty log."""
        for topic_partition, state, offset in self._usable(offsets):
            follower_log = self._log(topic_partition)
            begin = max(offset, follower_log.log_end_offset)
            log.warning(
                "%s Reset fetch offset for partition %s from %d to current leader's start offset %d", self.name, topic_partition, state.fetch_offset, offset
            )
            try:
                if offset > follower_log.log_end_offset:
                    follower_log.truncate_fully_and_start_at(offset)
            except KafkaError:
                self._mark_failed(topic_partition)
                continue
            epoch = self._latest_epoch(topic_partition)
            self._set(topic_partition, PartitionFetchState(begin, state.current_leader_epoch, ReplicaState.FETCHING, epoch))

    def _usable(self, offsets: Mapping[TopicPartition, int | ErrorCode]) -> Sequence[tuple[TopicPartition, PartitionFetchState, int]]:
        usable = []
        for topic_partition, offset in offsets.items():
            state = self.states.get(topic_partition)
            if state is None or topic_partition not in self._settings.hosted.online:
                continue
            if not isinstance(offset, ErrorCode):
                usable.append((topic_partition, state, offset))
            elif offset is ErrorCode.FENCED_LEADER_EPOCH:
                self._on_fenced(topic_partition, state)
            else:
                log.info("%s Could not fetch offset for %s due to error: %s", self.name, topic_partition, offset.name)
                self.delay_partitions([topic_partition])
        return usable

    # The local logs

    def _partition(self, topic_partition: TopicPartition) -> Partition:
        return self._settings.hosted.get(topic_partition)

    def _log(self, topic_partition: TopicPartition) -> Log:
        return self._partition(topic_partition).local_log()

    def _latest_epoch(self, topic_partition: TopicPartition) -> int | None:
        partition = self._settings.hosted.online.get(topic_partition)
        return None if partition is None or partition.log is None else partition.log.leader_epoch_cache.latest_epoch()
