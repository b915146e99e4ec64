"""Fetches ahead of the user, one request per broker at a time, and hands out what has come.

What a fetch brought for a partition is a chunk. While one waits to be read, its partition is not fetched again: so what is held is limited by
`max_partition_fetch_bytes` for each partition. A chunk is read batch by batch, when its records are wanted; a big compressed one is unpacked in another thread
before that. A chunk that does not begin where its partition stands (the user has sought) is thrown away.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/Fetcher.java.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from pykafka_classic.client.cluster_client import FETCH, ClusterClient
from pykafka_classic.client.consuming.assigned_partitions import NO_REPLICA, Assigned, AssignedPartitions, Position
from pykafka_classic.client.consuming.bell import Bell
from pykafka_classic.client.consuming.consumer_errors import NoOffset
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.consuming.offset_lookup import CONSUMER
from pykafka_classic.client.fetched_records import BatchReader, ConsumerRecord
from pykafka_classic.client.starts import Reset
from pykafka_classic.common.clock import after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.fetch_session_handler import FetchSessionHandler
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchPartition, FetchRequest, FetchResponse
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Records
from pykafka_classic.records.layout import ATTRIBUTES_POSITION, CODEC_MASK, LEGACY_ATTRIBUTES_POSITION, MAGIC_POSITION

log = logging.getLogger("kafka.clients.consumer.Fetcher")

UNPACK_IN_BACKGROUND_BYTES: Final = 65_536
ANSWER_MARGIN_MS: Final = 5_000  # beyond `fetch_max_wait_ms`, or the request time-out where that is more


class Chunk:
    """What one answer holds of one partition. `position`: where the partition stands when all that was taken is read."""

    def __init__(self, reader: BatchReader, position: Position) -> None:
        self.partition = reader.partition
        self.position = position
        self.exhausted = False
        self.error: Exception | None = None
        self._reader = reader
        self._batches = iter(reader)
        self._records: Sequence[ConsumerRecord] = ()
        self._at = 0

    def unpack(self) -> None:
        """Read all batches now; in any thread, for nobody else has this chunk yet."""
        read = []
        try:
            for records in self._batches:
                read.append((records, Position(self._reader.next_offset, self._reader.leader_epoch)))  # noqa: PERF401  # what came before the damage counts
        except Exception as error:  # noqa: BLE001  # whatever is wrong with the bytes is told when they are reached
            self._batches = iter(_Unpacked(self, read, error))
        else:
            self._batches = iter(_Unpacked(self, read, None))

    def take(self, count: int) -> list[ConsumerRecord]:
        """At most so many records; none where damage comes next (`error`), or nothing is left (`exhausted`)."""
        taken: list[ConsumerRecord] = []
        while len(taken) < count and self._fill():
            some = self._records[self._at : self._at + count - len(taken)]
            self._at += len(some)
            taken += some
            done = self._at == len(self._records)
            self.position = self._batch_end() if done else Position(some[-1].offset + 1, some[-1].leader_epoch)
        return taken

    def _fill(self) -> bool:
        while self._at == len(self._records):
            try:
                self._records, self._at = next(self._batches), 0
            except StopIteration:
                self.exhausted = True
                return False
            except Exception as error:  # noqa: BLE001  # the user has to hear of it
                self.error = error
                return False
            if not self._records:
                self.position = self._batch_end()
        return True

    def _batch_end(self) -> Position:
        return Position(self._reader.next_offset, self._reader.leader_epoch)

    def at(self, end: Position) -> None:
        """Where the reader stands, of what was unpacked before."""
        self._reader.next_offset, self._reader.leader_epoch = end


class _Unpacked:
    """Batches that were read before they are wanted."""

    def __init__(self, chunk: Chunk, read: Iterable[tuple[list[ConsumerRecord], Position]], error: Exception | None) -> None:
        self._chunk, self._read, self._error = chunk, iter(read), error

    def __iter__(self) -> _Unpacked:
        return self

    def __next__(self) -> list[ConsumerRecord]:
        try:
            records, end = next(self._read)
        except StopIteration:
            if self._error is not None:
                raise self._error from None
            raise
        self._chunk.at(end)
        return records


class Fetcher:
    """See the module."""

    def __init__(self, cluster: ClusterClient, settings: ConsumerSettings, assigned: AssignedPartitions, bell: Bell) -> None:
        self._cluster = cluster
        self._settings = settings
        self._assigned = assigned
        self._bell = bell
        self._chunks: dict[TopicPartition, Chunk] = {}
        self._unpacking: set[TopicPartition] = set()
        self._sessions: dict[int, FetchSessionHandler] = {}
        self._under_way: set[int] = set()  # brokers with a request
        self._errors: dict[TopicPartition, Exception] = {}

    # What the user gets

    def take(self, max_records: int) -> list[ConsumerRecord]:
        """What has come, at most so many; positions follow. Raises what is wrong with the next record, where no other has come."""
        taken: list[ConsumerRecord] = []
        for partition, chunk in list(self._chunks.items()):
            assigned = self._assigned.get(partition)
            if assigned is None or assigned.position is None or assigned.position.offset != chunk.position.offset:
                del self._chunks[partition]
            elif assigned.fetchable and len(taken) < max_records:
                taken += self._take_from(assigned, chunk, max_records - len(taken))
        if not taken:
            self._raise_error()
        return taken

    def _take_from(self, assigned: Assigned, chunk: Chunk, count: int) -> list[ConsumerRecord]:
        taken = chunk.take(count)
        assert assigned.position is not None
        if chunk.position != assigned.position:
            assigned.position = chunk.position
        if chunk.error is not None and not taken:
            self._errors[chunk.partition] = chunk.error
        if chunk.exhausted:
            del self._chunks[chunk.partition]
        return taken

    def _raise_error(self) -> None:
        for partition in list(self._errors):
            error = self._errors.pop(partition)
            if partition in self._assigned:
                raise error

    @property
    def has_records(self) -> bool:
        """Whether `take` would give something, or raise."""
        return bool(self._errors) or any(partition in self._assigned and self._assigned[partition].fetchable for partition in self._chunks)

    # Requests

    def send_fetches(self) -> None:
        """Ask every broker that is not asked already for what is wanted of it."""
        for node_id in self._wanted():
            if node_id not in self._under_way and node_id in self._cluster.metadata.brokers:
                self._under_way.add(node_id)
                spawn(self._fetch(node_id)).when_settled(self._fetch_ended)

    def _wanted(self) -> dict[int, list[Assigned]]:
        now_ms = self._cluster.seams.clock.monotonic_ms()
        by_node: dict[int, list[Assigned]] = {}
        for each in self._assigned.values():
            if not each.fetchable or each.partition in self._chunks or each.partition in self._unpacking or each.not_before_ms > now_ms:
                continue
            node_id = self._node_of(each, now_ms)
            if node_id is None:
                self._cluster.update_soon()
            else:
                by_node.setdefault(node_id, []).append(each)
        return by_node

    def _node_of(self, assigned: Assigned, now_ms: float) -> int | None:
        """KIP-392: the replica that the leader has named, for a while."""
        if assigned.preferred_replica != NO_REPLICA:
            if now_ms < assigned.preferred_until_ms and assigned.preferred_replica in self._cluster.metadata.brokers:
                return assigned.preferred_replica
            assigned.preferred_replica = NO_REPLICA
        return self._cluster.metadata.leader_of(assigned.partition)

    async def _fetch(self, node_id: int) -> None:
        try:
            node = self._cluster.node(node_id, FETCH)
            version = await node.version_of(ApiKey.FETCH)
            session = self._sessions.setdefault(node_id, FetchSessionHandler(node_id, version=version))
            wanted = self._wanted().get(node_id, [])
            request = self._build(session, wanted)
            if request is None:
                return
            if version < 4 and self._settings.isolation:
                raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"broker {node} knows nothing of transactions, so nothing of read_committed")
            asked = {each.partition: each.position.offset for each in wanted if each.position is not None}
            timeout_ms = max(self._settings.request_timeout_ms, self._settings.fetch_max_wait_ms + ANSWER_MARGIN_MS)
            try:
                response = await node.send(request, version=version, timeout_ms=timeout_ms)
            except Disconnected:
                session.handle_error()
                raise
            assert isinstance(response, FetchResponse)
            self._answered(session, response, asked)
            if response.throttle_time_ms > 0:
                await after(self._cluster.seams.clock, response.throttle_time_ms)
        except Disconnected as error:
            if self._cluster.closed:
                return
            log.info("Fetching from broker %d failed: %s", node_id, error)
            self._cluster.update_soon()
            await after(self._cluster.seams.clock, self._settings.retry_backoff_ms)
        finally:
            self._under_way.discard(node_id)

    def _build(self, session: FetchSessionHandler, wanted: Sequence[Assigned]) -> FetchRequest | None:
        if not wanted:
            return None
        names = {each.partition for each in wanted}
        for partition in [each for each in session.partitions if each not in names]:
            session.forget(partition)
        for each in wanted:
            assert each.position is not None
            info = self._cluster.metadata.partition(each.partition)
            session.put(
                each.partition,
                FetchPartition(
                    partition=each.partition.partition,
                    current_leader_epoch=info.leader_epoch if info is not None else -1,
                    fetch_offset=each.position.offset,
                    partition_max_bytes=self._settings.max_partition_fetch_bytes,
                ),
            )
        data = session.build()
        if data is None:
            return None
        return FetchRequest(
            replica_id=CONSUMER,
            max_wait_ms=self._settings.fetch_max_wait_ms,
            min_bytes=self._settings.fetch_min_bytes,
            max_bytes=self._settings.fetch_max_bytes,
            isolation_level=self._settings.isolation,
            session_id=data.session_id,
            session_epoch=data.session_epoch,
            topics=data.topics,
            forgotten_topics_data=data.forgotten,
            rack_id=self._settings.client_rack,
        )

    def _fetch_ended(self, fetch: Promise[None]) -> None:
        error = fetch.error()
        if isinstance(error, Exception) and not self._cluster.closed:
            self._errors[next(iter(self._assigned), TopicPartition("", -1))] = error
        if not self._cluster.closed:
            self._bell.ring()

    # Answers

    def _answered(self, session: FetchSessionHandler, response: FetchResponse, asked: dict[TopicPartition, int]) -> None:
        if not session.handle_response(response):
            return
        for topic in response.responses:
            for answer in topic.partition_responses:
                partition = TopicPartition(topic.topic, answer.partition)
                assigned = self._assigned.get(partition)
                if assigned is not None and assigned.position is not None and assigned.position.offset == asked.get(partition, -1):
                    self._take_answer(assigned, answer)

    def _take_answer(self, assigned: Assigned, answer: FetchablePartitionResponse) -> None:
        if answer.error_code != ErrorCode.NONE:
            self._failed(assigned, ErrorCode(answer.error_code))
            return
        assigned.high_watermark = answer.high_watermark
        assigned.last_stable_offset = answer.last_stable_offset
        if answer.log_start_offset >= 0:
            assigned.log_start_offset = answer.log_start_offset
        if answer.preferred_read_replica != NO_REPLICA:
            assigned.preferred_replica = answer.preferred_read_replica
            assigned.preferred_until_ms = self._cluster.seams.clock.monotonic_ms() + self._settings.metadata_max_age_ms
        assert assigned.position is not None
        data = answer.record_set
        if data is None or not len(data):
            return
        reader = BatchReader(assigned.partition, data, fetch_offset=assigned.position.offset, aborted=answer.aborted_transactions or ())
        reader.check_crcs = self._settings.check_crcs
        chunk = Chunk(reader, assigned.position)
        if reader.size_in_bytes >= UNPACK_IN_BACKGROUND_BYTES and _is_compressed(data):
            self._unpacking.add(assigned.partition)
            self._cluster.seams.background.run(chunk.unpack).when_settled(lambda _: self._unpacked(chunk))
        else:
            self._chunks[assigned.partition] = chunk

    def _unpacked(self, chunk: Chunk) -> None:
        self._unpacking.discard(chunk.partition)
        self._chunks[chunk.partition] = chunk
        self._bell.ring()

    def _failed(self, assigned: Assigned, code: ErrorCode) -> None:
        assigned.not_before_ms = self._cluster.seams.clock.monotonic_ms() + self._settings.retry_backoff_ms
        self._cluster.seams.clock.call_later(self._settings.retry_backoff_ms, self._bell.ring)
        followed = assigned.preferred_replica != NO_REPLICA
        assigned.preferred_replica = NO_REPLICA
        if code is ErrorCode.OFFSET_OUT_OF_RANGE and not followed:
            self._out_of_range(assigned)
        elif code in (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CORRUPT_MESSAGE, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE):
            self._errors[assigned.partition] = KafkaError(code, f"{assigned.partition}: {code.message}")
        else:
            log.info("Fetching %s failed: %s", assigned.partition, code.name)
            if code.invalid_metadata:
                self._cluster.update_soon()

    def _out_of_range(self, assigned: Assigned) -> None:
        assert assigned.position is not None
        if self._settings.reset is Reset.NONE:
            text = f"offset {assigned.position.offset} of {assigned.partition} is not in the log any more (or not yet), and auto.offset.reset is none"
            self._errors[assigned.partition] = NoOffset(text, [assigned.partition])
            return
        log.info("Offset %d of %s is out of range; going to the %s", assigned.position.offset, assigned.partition, self._settings.reset.value)
        assigned.seek_by(self._settings.reset)


def _is_compressed(data: Records) -> bool:
    if not isinstance(data, (bytes, memoryview)) or len(data) <= ATTRIBUTES_POSITION + 1:
        return False
    attributes = data[ATTRIBUTES_POSITION + 1] if data[MAGIC_POSITION] == 2 else data[LEGACY_ATTRIBUTES_POSITION]
    return attributes & CODEC_MASK != 0
