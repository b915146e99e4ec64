"""A round of questions to the brokers of one cluster, and what their answers mean together.

Order matters: commits are asked for before ends, for a log only grows meanwhile, so that no lag is negative; a commit that comes between the two makes the lag
of this round a little too large, never too small.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pykafka_classic.client.admin.configs import ConfigResource
from pykafka_classic.client.admin.offsets import EARLIEST, LATEST
from pykafka_classic.client.admin.requests import AdminSettings, Broker, Call, ClusterRequests
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.collector import questions
from pykafka_classic.monitor.collector.disks import with_disk
from pykafka_classic.monitor.collector.lag import EndOffsets
from pykafka_classic.monitor.collector.vanished import KnownCommits, KnownGroups
from pykafka_classic.monitor.collector.view import ClusterView
from pykafka_classic.monitor.store.rows import KAFKA, NO_LOG, ZOOKEEPER, Batch, ConfigRow, GroupSample, GroupStateRow, LogDirRow, PartitionSample
from pykafka_classic.protocol.messages.describe_groups import DescribeGroupsResponse
from pykafka_classic.protocol.messages.describe_log_dirs import DescribeLogDirsResponse
from pykafka_classic.protocol.messages.list_groups import ListGroupsResponse
from pykafka_classic.protocol.schema import Message

log = logging.getLogger("kafka.monitor.Brokers")

R = TypeVar("R", bound=Message)

# A broker that is dying must not hold up a round.
SETTINGS: Final = AdminSettings(request_timeout_ms=4_000, default_api_timeout_ms=5_000)
UNKNOWN_SIZE: Final = -1
GROUPS_AT_ONCE: Final = 200  # questions for commits that are under way at the same time


@dataclass(slots=True)
class Known:
    """What stays from round to round: ends over time, sizes and starts of logs, which are asked for less often."""

    ends: dict[TopicPartition, EndOffsets] = field(default_factory=dict)
    starts: dict[TopicPartition, int] = field(default_factory=dict)
    sizes: dict[TopicPartition, int] = field(default_factory=dict)
    partitions: set[TopicPartition] = field(default_factory=set)  # whose series have not ended
    groups: KnownGroups = field(default_factory=KnownGroups)
    kafka: KnownCommits = field(default_factory=lambda: KnownCommits(KAFKA, {}))
    zookeeper: KnownCommits = field(default_factory=lambda: KnownCommits(ZOOKEEPER, {}))


class BrokerRounds:
    """Asks the brokers of one cluster.

    Args:
        requests: of an admin client; it finds brokers by their ids.
        view: who leads what.

    Attributes: is_silent: brokers that are not asked.
    """

    def __init__(self, requests: ClusterRequests, view: ClusterView) -> None:
        self.known = Known()
        self.is_silent: Callable[[int], bool] = lambda _: False
        self._requests = requests
        self._view = view

    async def look(self, cluster: str, t_ms: int, *, widely: bool) -> Batch:
        """One round. `widely`: also what changes slowly: where logs begin, how large they are, and configs, where those may have changed."""
        groups = await self._list_groups()
        commits, states = await self._commits(groups), await self._describe(groups)
        fresh = await self._look_at_ends(t_ms)
        disks: list[LogDirRow] = []
        configs: list[ConfigRow] = []
        if widely:
            disks = await self._look_at_logs()
            configs = await self._configs()
        gone = self._gone_groups(groups)
        in_zookeeper = self._zookeeper_commits()
        ended = self.known.kafka.ended(commits, gone) + self.known.zookeeper.ended(in_zookeeper, self.known.zookeeper.groups - in_zookeeper.keys())
        samples = [*self._group_samples(KAFKA, commits, fresh), *self._group_samples(ZOOKEEPER, in_zookeeper, fresh)]
        return Batch(
            cluster,
            t_ms,
            partitions=[*self._partition_samples(fresh), *self._ended_partitions()],
            groups=[*samples, *ended],
            group_states=states,
            gone_groups=gone,
            configs=configs,
            log_dirs=disks,
        )

    # groups

    async def _list_groups(self) -> dict[int, list[str]]:
        """By coordinator; a broker that did not answer is missing."""
        told = await self._ask_all(ListGroupsResponse, {broker: questions.list_groups() for broker in self._view.brokers})
        return {broker: [each.group_id for each in response.groups] for broker, response in told.items() if response.error_code == 0}

    async def _commits(self, groups: Mapping[int, Sequence[str]]) -> dict[str, dict[TopicPartition, int]]:
        pairs = [(broker, group) for broker, some in groups.items() for group in some]
        found: dict[str, dict[TopicPartition, int] | None] = {}
        for begin in range(0, len(pairs), GROUPS_AT_ONCE):
            some = pairs[begin : begin + GROUPS_AT_ONCE]
            told = await gather([spawn(self._ask(broker, questions.offset_fetch(group))) for broker, group in some])
            found |= {group: questions.commits_of(each) for (_, group), each in zip(some, told, strict=True) if each is not None}
        return {group: commits for group, commits in found.items() if commits is not None}

    def _gone_groups(self, groups: Mapping[int, Sequence[str]]) -> list[str]:
        """Those that the broker that should know them did not list, three times."""
        unheard = {group for group in self.known.groups.names if self._view.coordinator_of(group) not in groups}
        return self.known.groups.gone({name for some in groups.values() for name in some}, unheard)

    async def _describe(self, groups: Mapping[int, Sequence[str]]) -> list[GroupStateRow]:
        told = await self._ask_all(DescribeGroupsResponse, {broker: questions.describe_groups(some) for broker, some in groups.items() if some})
        return [state for broker, response in told.items() for state in questions.group_states(response, broker)]

    def _zookeeper_commits(self) -> dict[str, dict[TopicPartition, int]]:
        return {group: {partition: each.offset for partition, each in offsets.items()} for group, offsets in self._view.zookeeper_offsets.items()}

    def _group_samples(self, store: str, commits: Mapping[str, Mapping[TopicPartition, int]], fresh: Set[TopicPartition]) -> list[GroupSample]:
        """Of partitions whose end was told in this round: a lag against an old end would be wrong."""
        found = []
        for group, offsets in commits.items():
            for partition, committed in offsets.items():
                ends = self.known.ends.get(partition)
                if partition not in fresh or ends is None or ends.end is None:
                    continue
                since = ends.behind_since(committed)
                lag, since_ms, exact = max(0, ends.end - committed), since.t_ms if since else None, since.exact if since else True
                found.append(GroupSample(group, store, *partition, committed, lag, since_ms, exact))
        return found

    # logs

    async def _look_at_ends(self, t_ms: int) -> set[TopicPartition]:
        """The partitions whose leaders answered."""
        gone = self.known.ends.keys() - self._view.leaders.keys()
        for partition in gone:
            del self.known.ends[partition]
            self.known.starts.pop(partition, None)
            self.known.sizes.pop(partition, None)
        by_leader = self._view.by_leader()
        told = await gather([spawn(self._ask(leader, questions.list_offsets(some, LATEST))) for leader, some in by_leader.items()])
        fresh: set[TopicPartition] = set()
        for response in told:
            for partition, end in questions.offsets_of(response) if response is not None else ():
                if partition not in self.known.ends:
                    self.known.ends[partition] = EndOffsets()
                self.known.ends[partition].add(t_ms, end)
                fresh.add(partition)
        return fresh

    def _ended_partitions(self) -> list[PartitionSample]:
        """Last samples of those that are gone."""
        gone = self.known.partitions - self._view.leaders.keys()
        self.known.partitions -= gone
        return [PartitionSample(*partition, 0, NO_LOG, UNKNOWN_SIZE) for partition in gone]

    async def _look_at_logs(self) -> list[LogDirRow]:
        by_leader = self._view.by_leader()
        for response in await gather([spawn(self._ask(leader, questions.list_offsets(some, EARLIEST))) for leader, some in by_leader.items()]):
            self.known.starts.update(questions.offsets_of(response) if response is not None else ())
        disks = []
        told = await self._ask_all(DescribeLogDirsResponse, {broker: questions.describe_log_dirs() for broker in self._view.brokers})
        for broker, lying in told.items():
            disks += [with_disk(row, self._view.brokers) for row in questions.log_dirs(lying, broker)]
            self.known.sizes.update(questions.sizes(lying, self._view.leaders, broker))
        return disks

    def _partition_samples(self, fresh: Set[TopicPartition]) -> list[PartitionSample]:
        known = self.known
        known.partitions |= fresh
        return [
            PartitionSample(*partition, known.starts.get(partition, 0), ends.end, known.sizes.get(partition, UNKNOWN_SIZE))
            for partition, ends in known.ends.items()
            if partition in fresh and ends.end is not None
        ]

    async def _configs(self) -> list[ConfigRow]:
        """Of all brokers and topics, where a node below /config has changed, or a broker has come, since the last time."""
        if not self._view.configs_changed or not self._view.brokers:
            return []
        self._view.configs_changed = False
        wanted: dict[int, list[ConfigResource]] = {broker: [ConfigResource.broker(broker)] for broker in self._view.brokers}
        wanted[next(iter(wanted))] += [ConfigResource.topic(name) for name in dict.fromkeys(each.topic for each in self._view.leaders)]
        told = await gather([spawn(self._ask(broker, questions.describe_configs(some))) for broker, some in wanted.items()])
        if None in told:
            self._view.configs_changed = True  # once more, next time
        return [row for response in told if response is not None for row in questions.config_rows(response)]

    # asking

    async def _ask_all(self, kind: type[R], calls: Mapping[int, Call[R]]) -> dict[int, R]:
        told = await gather([spawn(self._ask(broker, call)) for broker, call in calls.items()])
        return {broker: response for broker, response in zip(calls, told, strict=True) if isinstance(response, kind)}

    async def _ask(self, broker: int, call: Call[R]) -> R | None:
        if self.is_silent(broker):
            return None  # it would hold up the round
        try:
            return await self._requests.ask_once(Broker(broker), call, deadline=self._requests.deadline())
        except KafkaError as error:
            log.info("Broker %d did not answer %s: %s", broker, call.name, error)
            return None
