"""A ZooKeeper group's offsets in __consumer_offsets (`offsets.storage=kafka`): OffsetCommit and OffsetFetch to the group's coordinator.

Such a group has no members at its coordinator, so it commits from outside, with generation -1 and no member id; the coordinator cannot tell a member from a
former one. So before a commit the member makes sure that ZooKeeper still knows its registration (Kafka's does not).

Source: 0.8.2:core/src/main/scala/kafka/client/ClientUtils.scala (channelToOffsetManager), kafka/consumer/ZookeeperConsumerConnector.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Event
from typing import Final, TypeVar

from pykafka_classic.client.consumer_settings import ConsumerSettings
from pykafka_classic.client.group_session import GroupSession
from pykafka_classic.client.offset_storage import OffsetStorageFailed
from pykafka_classic.client.zookeeper_group import is_registered
from pykafka_classic.common.clock import Background
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition, by_topic
from pykafka_classic.common.zookeeper import SessionExpired
from pykafka_classic.edges.blocking_client import BlockingClient, connect_any
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from pykafka_classic.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic, OffsetFetchResponse
from pykafka_classic.protocol.network import Disconnected

T = TypeVar("T")

COMMIT_VERSION: Final = 2  # the highest that says no more than 0.8.2 does
FETCH_VERSION: Final = 1  # version 0 would ask ZooKeeper


class KafkaOffsets:
    """Implements `client.offset_storage.OffsetStorage`; its waiting is done in other threads."""

    def __init__(self, settings: ConsumerSettings, consumer_id: str, background: Background, addresses: Callable[[], list[tuple[str, int]]]) -> None:
        self._settings = settings
        self._consumer_id = consumer_id
        self._background = background
        self._addresses = addresses
        self._closing = Event()

    def close(self) -> None:
        """Try no more."""
        self._closing.set()

    async def fetch(self, session: GroupSession, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """What the coordinator has."""
        wanted = list(partitions)
        found = await self._background.run(lambda: self._with_retries(lambda: self._fetch(wanted)) if wanted else {})
        session.check()
        return found

    async def commit(self, session: GroupSession, offsets: Mapping[TopicPartition, int]) -> None:
        """Write all."""
        if not await is_registered(session, self._settings.group_id, self._consumer_id):
            raise SessionExpired
        wanted = dict(offsets)
        await self._background.run(lambda: self._with_retries(lambda: self._commit(wanted)))

    # in other threads

    def _with_retries(self, attempt: Callable[[], T]) -> T:
        for _ in range(self._settings.offsets_commit_max_retries):
            try:
                return attempt()
            except (Disconnected, OffsetStorageFailed):
                if self._closing.wait(self._settings.offsets_channel_backoff_ms / 1000):
                    break
        try:
            return attempt()
        except Disconnected as error:
            raise OffsetStorageFailed(str(error)) from error

    def _coordinator(self) -> BlockingClient:
        timeout_ms = self._settings.offsets_channel_socket_timeout_ms
        addresses = self._addresses()
        if not addresses:
            raise OffsetStorageFailed("no broker is alive")
        with connect_any(addresses, client_id=self._settings.client_id, timeout_ms=timeout_ms) as client:
            response = client.send(FindCoordinatorRequest(key=self._settings.group_id), 0)
        assert isinstance(response, FindCoordinatorResponse)
        _require_none(response.error_code, "FindCoordinator")
        return BlockingClient(response.host, response.port, client_id=self._settings.client_id, timeout_ms=timeout_ms)

    def _fetch(self, wanted: list[TopicPartition]) -> dict[TopicPartition, int]:
        request = OffsetFetchRequest(group_id=self._settings.group_id, topics=[OffsetFetchRequestTopic(*each) for each in by_topic(wanted).items()])
        with self._coordinator() as client:
            response = client.send(request, FETCH_VERSION)
        assert isinstance(response, OffsetFetchResponse)
        found: dict[TopicPartition, int] = {}
        for answered in response.topics:
            for each in answered.partitions:
                if each.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    _require_none(each.error_code, f"OffsetFetch of {answered.name}-{each.partition_index}")
                if each.committed_offset >= 0:
                    found[TopicPartition(answered.name, each.partition_index)] = each.committed_offset
        return found

    def _commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        entries: dict[str, list[OffsetCommitRequestPartition]] = {}
        for (topic, partition), offset in offsets.items():
            entry = OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset, committed_metadata="")
            entries.setdefault(topic, []).append(entry)
        topics = [OffsetCommitRequestTopic(*each) for each in entries.items()]
        with self._coordinator() as client:
            response = client.send(OffsetCommitRequest(group_id=self._settings.group_id, topics=topics), COMMIT_VERSION)
        assert isinstance(response, OffsetCommitResponse)
        for answered in response.topics:
            for each in answered.partitions:
                _require_none(each.error_code, f"OffsetCommit of {answered.name}-{each.partition_index}")


def _require_none(error_code: int, what: str) -> None:
    if error_code != ErrorCode.NONE:
        raise OffsetStorageFailed(f"{what}: {ErrorCode(error_code).name}")
