"""Reading the partitions that a member owns, over blocking sockets: the readers of a connector on one side, the user's thread on the other.

Two threads meet here: the connector's loop starts and stops partitions, the user's thread fetches and takes records. All that both touch is touched under
one lock: a record is handed out only while its partition is being read, and its offset counts as consumed in the same moment; so what the connector
commits when it lets go is exactly what was handed out.

Sources: 0.8.2:core/src/main/scala/kafka/consumer/{ConsumerFetcherManager,ConsumerIterator}.scala; facts/protocol.md 9.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pykafka_classic.client.consumer_settings import ConsumerSettings
from pykafka_classic.client.fetched_records import ConsumerRecord, read_fetched
from pykafka_classic.client.starts import Reset
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.blocking_client import BlockingClient, connect_any
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchPartition, FetchRequest, FetchResponse, FetchTopic
from pykafka_classic.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykafka_classic.protocol.network import Disconnected

log = logging.getLogger("kafka.consumer.ConsumerFetcherThread")

Address = tuple[str, int]
CONSUMER: Final = -1
LATEST, EARLIEST = -1, -2  # of ListOffsets
NO_SESSION: Final = -1


@dataclass(eq=False, slots=True)
class _Reading:
    """A partition from its start to its stop; a new start makes a new one, so that what was fetched for the old one is dropped."""

    partition: TopicPartition
    fetch_offset: int | None  # None: as auto.offset.reset says
    consumed: int | None  # the offset after the last record handed out
    buffered: deque[ConsumerRecord] = field(default_factory=deque)


class PartitionFetching:
    """Implements `PartitionReaders`; `take` and `close` are for one other thread."""

    def __init__(self, settings: ConsumerSettings) -> None:
        self._settings = settings
        self._changed = threading.Condition()
        self._readings: dict[TopicPartition, _Reading] = {}
        self._brokers: dict[int, Address] = {}
        self._closed = False
        # of the user's thread alone
        self._leaders: dict[TopicPartition, Address] = {}
        self._clients: dict[Address, BlockingClient] = {}

    # The connector's side

    def set_brokers(self, brokers: Mapping[int, Address]) -> None:
        """See `PartitionReaders`."""
        with self._changed:
            self._brokers = dict(brokers)

    def addresses(self) -> list[Address]:
        """The brokers that are alive."""
        with self._changed:
            return list(self._brokers.values())

    def start(self, positions: Mapping[TopicPartition, int | None]) -> None:
        """See `PartitionReaders`."""
        with self._changed:
            self._readings |= {partition: _Reading(partition, offset, offset) for partition, offset in positions.items()}
            self._changed.notify_all()

    def stop(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """See `PartitionReaders`."""
        with self._changed:
            stopped = [self._readings.pop(partition) for partition in list(partitions) if partition in self._readings]
            return {each.partition: each.consumed for each in stopped if each.consumed is not None}

    def positions(self) -> dict[TopicPartition, int]:
        """See `PartitionReaders`."""
        with self._changed:
            return {each.partition: each.consumed for each in self._readings.values() if each.consumed is not None}

    def wake(self) -> None:
        """End `take`'s waiting, now and for ever."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    # The user's side

    def take(self, wait_s: float) -> ConsumerRecord | None:
        """The next record; None where there is none yet, after one round of fetching or a wait of about `wait_s`."""
        record = self._take_buffered()
        if record is None and not self._closed:
            self._fetch_round(wait_s)
            record = self._take_buffered()
        return record

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _take_buffered(self) -> ConsumerRecord | None:
        with self._changed:
            for reading in self._readings.values():
                if reading.buffered:
                    record = reading.buffered.popleft()
                    reading.consumed = record.offset + 1
                    return record
        return None

    def _fetch_round(self, wait_s: float) -> None:
        """Ask every leader at once, then take the answers."""
        with self._changed:
            if not self._readings:
                self._changed.wait(wait_s)
            readings = list(self._readings.values())
        try:
            self._find_leaders([each.partition for each in readings if each.partition not in self._leaders])
        except Disconnected as error:
            log.warning("Leaders are not known: %s", error)
        by_leader: dict[Address, list[_Reading]] = {}
        for each in readings:
            if each.partition in self._leaders:
                by_leader.setdefault(self._leaders[each.partition], []).append(each)
        asked = [address for address, some in by_leader.items() if self._try(address, some, self._ask)]
        for address in asked:
            self._try(address, by_leader[address], self._answered)
        if len(asked) < len(by_leader) or not by_leader:
            with self._changed:
                self._changed.wait_for(lambda: self._closed, self._settings.refresh_leader_backoff_ms / 1000)

    def _try(self, address: Address, readings: list[_Reading], step: Callable[[BlockingClient, list[_Reading]], None]) -> bool:
        """A step with one leader; where it is gone, its partitions have no known leader any more."""
        try:
            step(self._client(address), readings)
        except Disconnected as error:
            log.warning("%s", error)
            gone = self._clients.pop(address, None)
            if gone is not None:
                gone.close()
            self._forget(readings)
            return False
        return True

    def _ask(self, client: BlockingClient, readings: list[_Reading]) -> None:
        for each in readings:
            if each.fetch_offset is None:
                self._reset(client, each)
        topics: dict[str, list[FetchPartition]] = {}
        for each in readings:
            if each.fetch_offset is not None:
                topics.setdefault(each.partition.topic, []).append(
                    FetchPartition(
                        partition=each.partition.partition, fetch_offset=each.fetch_offset, partition_max_bytes=self._settings.fetch_message_max_bytes
                    )
                )
        client.post(
            FetchRequest(
                replica_id=CONSUMER,
                max_wait_ms=self._settings.fetch_wait_max_ms,
                min_bytes=self._settings.fetch_min_bytes,
                session_epoch=NO_SESSION,
                topics=[FetchTopic(*each) for each in topics.items()],
            )
        )

    def _answered(self, client: BlockingClient, readings: list[_Reading]) -> None:
        response = client.receive()
        assert isinstance(response, FetchResponse)
        by_partition = {each.partition: each for each in readings}
        for topic in response.responses:
            for each in topic.partition_responses:
                self._take_answer(by_partition[TopicPartition(topic.topic, each.partition)], each)

    def _take_answer(self, reading: _Reading, answer: FetchablePartitionResponse) -> None:
        if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            log.warning("Offset %s of %s is out of range; going to the %s", reading.fetch_offset, reading.partition, self._settings.auto_offset_reset)
            reading.fetch_offset = None
        elif answer.error_code != ErrorCode.NONE:
            log.info("%s: %s", reading.partition, ErrorCode(answer.error_code).name)
            self._forget([reading])
        else:
            assert reading.fetch_offset is not None
            fetched = read_fetched(reading.partition, answer.record_set, fetch_offset=reading.fetch_offset)
            with self._changed:
                reading.fetch_offset = fetched.next_offset
                reading.buffered.extend(fetched.records)

    def _reset(self, client: BlockingClient, reading: _Reading) -> None:
        topic, partition = reading.partition
        timestamp = EARLIEST if self._settings.reset is Reset.EARLIEST else LATEST
        request = ListOffsetsRequest(
            replica_id=CONSUMER, topics=[ListOffsetsTopic(topic, [ListOffsetsPartition(partition_index=partition, timestamp=timestamp)])]
        )
        response = client.send(request)
        assert isinstance(response, ListOffsetsResponse)
        answer = response.topics[0].partitions[0]
        if answer.error_code != ErrorCode.NONE:
            self._forget([reading])
            return
        with self._changed:
            reading.fetch_offset = reading.consumed = answer.offset

    # Who leads

    def _forget(self, readings: Iterable[_Reading]) -> None:
        for each in readings:
            self._leaders.pop(each.partition, None)

    def _find_leaders(self, partitions: list[TopicPartition]) -> None:
        addresses = self.addresses()
        if not partitions or not addresses:
            return
        topics = [MetadataRequestTopic(name=topic) for topic in sorted({each.topic for each in partitions})]
        with connect_any(addresses, client_id=self._settings.client_id, timeout_ms=self._settings.socket_timeout_ms) as client:
            response = client.send(MetadataRequest(topics=topics, allow_auto_topic_creation=False))
        assert isinstance(response, MetadataResponse)
        brokers = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
        for topic in response.topics:
            for partition in topic.partitions:
                if partition.leader_id in brokers and topic.name is not None:
                    self._leaders[TopicPartition(topic.name, partition.partition_index)] = brokers[partition.leader_id]

    def _client(self, address: Address) -> BlockingClient:
        if address not in self._clients:
            self._clients[address] = BlockingClient(*address, client_id=self._settings.client_id, timeout_ms=self._settings.socket_timeout_ms)
        return self._clients[address]
