"""The leader of one partition, as a reader of it needs it: asked for a stretch of the log, and looked for again when it has moved.

One request at a time is under way; between `ask` and `answer` the caller can do something else while the answer travels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.blocking_client import BlockingClient, connect_any
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchPartition, FetchRequest, FetchResponse, FetchTopic
from pykafka_classic.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykafka_classic.protocol.network import Disconnected
from spark_integration.ranges import ReadSettings

CLIENT_ID = "pykafka-classic-spark"
CONSUMER = -1  # in the place of a replica's id
NO_SESSION = -1
EARLIEST = -2
MAX_WAIT_MS = 500  # how long a leader may wait for records that are not there; Kafka's fetch.max.wait.ms
_ISOLATION = {"read_uncommitted": 0, "read_committed": 1}


class Leader(Protocol):
    """What reading a range needs of a partition's leader. Disconnected and KafkaError are for the caller to try again, after `lose`."""

    def ask(self, offset: int, *, max_bytes: int) -> None:
        """Send a fetch."""

    def answer(self) -> FetchablePartitionResponse:
        """What `ask` brought."""

    def earliest(self) -> int:
        """The offset at which the log begins now; only while nothing is under way."""

    def lose(self) -> None:
        """Forget who leads; the next `ask` looks for it."""


@dataclass(slots=True)
class PartitionLeader:
    """A `Leader` over a socket that waits."""

    partition: TopicPartition
    settings: ReadSettings
    _client: BlockingClient | None = None

    def ask(self, offset: int, *, max_bytes: int) -> None:
        """See `Leader`."""
        wanted = FetchPartition(partition=self.partition.partition, fetch_offset=offset, partition_max_bytes=max_bytes)
        request = FetchRequest(
            replica_id=CONSUMER,
            max_wait_ms=MAX_WAIT_MS,
            min_bytes=1,
            max_bytes=max_bytes,
            isolation_level=_ISOLATION[self.settings.isolation],
            session_epoch=NO_SESSION,
            topics=[FetchTopic(self.partition.topic, [wanted])],
        )
        self._leader().post(request)

    def answer(self) -> FetchablePartitionResponse:
        """See `Leader`."""
        if self._client is None:
            raise Disconnected("nothing is under way")
        response = self._client.receive()
        assert isinstance(response, FetchResponse)
        if response.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(response.error_code))
        return response.responses[0].partition_responses[0]

    def earliest(self) -> int:
        """See `Leader`."""
        wanted = ListOffsetsTopic(self.partition.topic, [ListOffsetsPartition(partition_index=self.partition.partition, timestamp=EARLIEST)])
        response = self._leader().send(ListOffsetsRequest(replica_id=CONSUMER, topics=[wanted]))
        assert isinstance(response, ListOffsetsResponse)
        told = response.topics[0].partitions[0]
        if told.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(told.error_code))
        return told.old_style_offsets[0] if told.old_style_offsets else told.offset

    def lose(self) -> None:
        """See `Leader`."""
        if self._client is not None:
            self._client.close()
            self._client = None

    close = lose

    def _leader(self) -> BlockingClient:
        if self._client is None:
            host, port = self._find()
            self._client = BlockingClient(host, port, client_id=CLIENT_ID, timeout_ms=self.settings.request_timeout_ms)
        return self._client

    def _find(self) -> tuple[str, int]:
        """Where the leader listens. KafkaError where there is none, Disconnected."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=self.partition.topic)], allow_auto_topic_creation=False)
        with connect_any(self.settings.bootstrap_servers, client_id=CLIENT_ID, timeout_ms=self.settings.request_timeout_ms) as client:
            response = client.send(request)
        assert isinstance(response, MetadataResponse)
        topic = response.topics[0]
        if topic.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(topic.error_code))
        leaders = [each.leader_id for each in topic.partitions if each.partition_index == self.partition.partition]
        if not leaders:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        addresses = [(each.host, each.port) for each in response.brokers if each.node_id == leaders[0]]
        if not addresses:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE)
        return addresses[0]
