"""What the driver asks the cluster when it plans: topics, offsets, the group. A few requests per batch, however many records there are."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Any, Final, Self

from pykafka_classic.client.admin.offsets import EARLIEST, LATEST, IsolationLevel
from pykafka_classic.client.admin.requests import AdminSettings
from pykafka_classic.client.consuming.offset_lookup import FoundOffset
from pykafka_classic.client.consuming.start_resolution import by_partition, resolve
from pykafka_classic.client.starts import AtTime, ByPartition, Reset, Start, Word
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.blocking_client import NoBroker
from pykafka_classic.edges.zookeeper import ZooKeeperUnavailable
from spark_integration.offsets import Offsets
from spark_integration.options import GroupOptions, SourceOptions, Storage
from spark_integration.zookeeper_store import ZooKeeperStore, find_brokers

log = logging.getLogger("spark_integration")

_RESETS: Final = {Reset.EARLIEST: Word.EARLIEST, Reset.LATEST: Word.LATEST}


class CannotPlan(Exception):
    """The cluster, or what is asked of it, does not allow to plan; the text is for the user."""


class Cluster:
    """One session with the brokers, and with ZooKeeper where the group's offsets are there. For one thread; also a context manager.

    Raises:
        CannotPlan: nobody answers.
    """

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self.bootstrap = options.bootstrap_servers or _found_brokers(options.zookeeper_connect)
        settings = AdminSettings(request_timeout_ms=options.request_timeout_ms, default_api_timeout_ms=options.api_timeout_ms)
        try:
            self.admin = Admin(self.bootstrap, client_id=options.client_id, settings=settings)
        except NoBroker as error:
            name = "bootstrap.servers" if options.bootstrap_servers else "zookeeper.connect"
            raise CannotPlan(f"option {name!r}: {error}") from error
        self._znodes = self._open_store()
        self._isolation = IsolationLevel.READ_COMMITTED if options.isolation == "read_committed" else IsolationLevel.READ_UNCOMMITTED

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End all sessions."""
        self.admin.close()
        if self._znodes is not None:
            self._znodes.close()

    def partitions(self, *, all_there: bool = True) -> list[TopicPartition]:
        """All that the options name, as of now. `all_there`: CannotPlan where a topic or partition that was named is not."""
        topics = self.options.topics
        names = [name for name in self.admin.list_topics() if re.fullmatch(topics.pattern, name)] if topics.pattern else list(topics.names)
        if topics.partitions:
            names = list(dict.fromkeys(each.topic for each in topics.partitions))
        described = self.admin.describe_topics(names) if names else {}
        found = []
        for name, topic in described.items():
            if isinstance(topic, KafkaError):
                if topic.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and (topics.pattern or not all_there):
                    continue  # deleted just now
                raise CannotPlan(f"option {topics.option!r}: topic {name}: {topic}")
            found += [TopicPartition(name, each.partition) for each in topic.partitions]
        missing = set(topics.partitions) - set(found)
        if missing and all_there:
            raise CannotPlan(f"option {topics.option!r}: there is no partition {min(missing)}")
        return sorted(set(topics.partitions) & set(found) if topics.partitions else found)

    def bounds(self, partitions: Collection[TopicPartition]) -> tuple[Offsets, Offsets]:
        """The first offset of each, and the end: after the last record that may be read."""
        return self._listed(dict.fromkeys(partitions, EARLIEST)), self._listed(dict.fromkeys(partitions, LATEST))

    def ends(self, partitions: Collection[TopicPartition]) -> Offsets:
        """After the last record that may be read."""
        return self._listed(dict.fromkeys(partitions, LATEST))

    def starts(self, start: Start, partitions: Collection[TopicPartition]) -> Offsets:
        """Where a start begins; where it says nothing, or the group has committed nothing, as `auto.offset.reset` says. CannotPlan where that is none."""
        told = by_partition(start, partitions)
        wanted = [each for each in partitions if told.get(each) is Word.COMMITTED]
        found = self.committed(wanted) if wanted else {}
        reset = _RESETS.get(self.options.reset)
        unsaid = [each for each in partitions if each not in found and told.get(each, Word.COMMITTED) is Word.COMMITTED]
        if unsaid and reset is None:
            raise CannotPlan(f"{unsaid[0]}: there is nothing to begin at, and 'auto.offset.reset' is none")
        told |= {each: reset for each in unsaid if reset is not None}
        asked = {each: told[each] for each in partitions if each not in found}
        self._check_times(asked)
        return found | self._resolve(asked)

    def ends_at(self, end: Start, partitions: Collection[TopicPartition]) -> Offsets:
        """Where a batch is to end; partitions that it does not name: at their ends."""
        told = dict.fromkeys(partitions, Word.LATEST) | by_partition(end, partitions)
        return self._resolve(told)

    # The group

    def committed(self, partitions: Collection[TopicPartition]) -> Offsets:
        """What the group has committed, of those where it has."""
        if self._znodes is not None:
            return self._znodes.read(partitions)
        return {each: found.offset for each, found in self.admin.list_group_offsets(self._group().group_id, partitions).items()}

    def members(self) -> list[str]:
        """Who reads for the group at present, of the generation that keeps its offsets where this job does: names for people, our own ones recognizable."""
        if self._znodes is not None:
            return self._znodes.members()
        name = self._group().group_id
        described = self.admin.describe_groups([name]).check()[name]
        return [f"{each.client_id} on {each.host.removeprefix('/')}" for each in described.members]

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit from outside the group. CannotPlan where it has members, which alone may commit then; KafkaError, OffsetStorageFailed."""
        if self._znodes is not None:
            self._znodes.write(offsets)
            return
        group_id = self._group().group_id
        outcomes = self.admin.alter_group_offsets(group_id, dict(offsets))
        if any(error.code is ErrorCode.UNKNOWN_MEMBER_ID for error in outcomes.errors().values()):
            raise CannotPlan(f"nothing was committed: group {group_id!r} has active members, which alone may commit: {', '.join(self.members()[:3])}")
        outcomes.check()

    # inside

    def _open_store(self) -> ZooKeeperStore | None:
        group, connect = self.options.group, self.options.zookeeper_connect
        if group is None or group.storage is not Storage.ZOOKEEPER:
            return None
        try:
            return ZooKeeperStore(connect, group.group_id)
        except ZooKeeperUnavailable as error:
            self.admin.close()
            raise CannotPlan(f"option 'zookeeper.connect': {error}") from error

    def _group(self) -> GroupOptions:
        assert self.options.group is not None, "only asked where there is a group"
        return self.options.group

    def _listed(self, wanted: Mapping[TopicPartition, int]) -> Offsets:
        if not wanted:
            return {}
        listed = self.admin.list_offsets(wanted, isolation_level=self._isolation)
        return {partition: each.offset for partition, each in listed.check().items()}

    def _resolve(self, starts: Mapping[TopicPartition, Any]) -> Offsets:
        async def find() -> dict[TopicPartition, FoundOffset]:
            return await resolve(starts, self._look_up)

        return {partition: each.offset for partition, each in self.admin.run(find()).items()}

    def _look_up(self, times: Mapping[TopicPartition, int]) -> Promise[dict[TopicPartition, FoundOffset | None]]:
        async def look_up() -> dict[TopicPartition, FoundOffset | None]:
            listed = (await self.admin.core.list_offsets(times, isolation_level=self._isolation)).check()
            return {each: None if found.offset < 0 else FoundOffset(found.offset) for each, found in listed.items()}

        return spawn(look_up())

    def _check_times(self, starts: Mapping[TopicPartition, Any]) -> None:
        times = {each: start.timestamp_ms for each, start in starts.items() if isinstance(start, AtTime)}
        if not times or not self.options.strict_times:
            return
        late = [each for each, found in self._listed(times).items() if found < 0]
        if late:
            raise CannotPlan(
                f"{late[0]} has no record as late as {times[late[0]]}: set 'startingOffsetsByTimestampStrategy' to latest to begin behind the last one then"
            )


def check_named(option: str, told: Start | None, partitions: Collection[TopicPartition]) -> None:
    """CannotPlan where a start or end in JSON names partitions that are not read: something else must have been meant."""
    strange = sorted(set(told.starts) - set(partitions)) if isinstance(told, ByPartition) else []
    if strange:
        raise CannotPlan(f"option {option!r} speaks of {strange[0]}, which is not read: there is no such partition, or nobody asked for it")


def _found_brokers(connect: str) -> str:
    try:
        found = find_brokers(connect)
    except ZooKeeperUnavailable as error:
        raise CannotPlan(f"option 'zookeeper.connect': {error}") from error
    if not found:
        raise CannotPlan(f"option 'zookeeper.connect': no broker is registered in ZooKeeper at {connect}")
    return found
