"""`StoreReader`: all that the store answers. Its methods may be called from any thread; each thread gets a connection of its own.

    reader = StoreReader(Path("data/monitor.db"))
    for partition in reader.partitions_at("flights-cluster", t_ms):
        print(partition.topic, partition.partition, partition.leader, partition.isr)

The methods stand in history (znodes and what they tell), samples (logs, lag, groups, configs, disks), and here (clusters, events of brokers, alarms, gaps).
A query takes single milliseconds, with thousands of partitions some tens: on a reactor's thread use `deferToThread`.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from pykafka_classic.monitor.store.answers import Alarm, BrokerEvent, ClusterInfo, Gap, Span
from pykafka_classic.monitor.store.rows import EventPosition
from pykafka_classic.monitor.store.samples import SampleQueries


class StoreReader(SampleQueries):
    """The query side of the store. Raises StoreMissing, and UnknownCluster where a name is none of the store's."""

    def clusters(self) -> tuple[ClusterInfo, ...]:
        """All clusters, in the order in which they came into the configuration."""
        return tuple(ClusterInfo(*row) for row in self.rows("SELECT name, zookeeper, kafka_id, state, state_ms FROM cluster ORDER BY id"))

    def gaps(self, since_ms: int = 0) -> tuple[Gap, ...]:
        """When no monitor ran, the oldest first."""
        runs = self.rows("SELECT started_ms, beat_ms FROM run ORDER BY id")
        found = [Gap(before[1], now[0]) for before, now in itertools.pairwise(runs)]
        return tuple(gap for gap in found if gap.to_ms >= since_ms)

    def latest(self, cluster: str) -> tuple[int, int]:
        """The ids of the latest change of a znode and the latest event of a broker: whoever polls sees by them whether there is something new."""
        number = self.cluster_id(cluster)
        ((change,),) = self.rows("SELECT coalesce(max(id), 0) FROM znode_change WHERE cluster_id = ?", number)
        ((event,),) = self.rows("SELECT coalesce(max(id), 0) FROM broker_event WHERE cluster_id = ?", number)
        return change, event

    def broker_events(self, cluster: str, span: Span, *, subject: str | None = None) -> tuple[BrokerEvent, ...]:
        """What brokers told of their decisions, the latest first. `subject`: flights-0, broker 3, group G."""
        sql = (
            "SELECT id, t_ms, broker, name, subject, zxid, facts FROM broker_event WHERE cluster_id = ? AND t_ms >= ? AND t_ms <= ? "
            "AND (? IS NULL OR subject = ?) ORDER BY t_ms DESC, id DESC LIMIT ?"
        )
        return tuple(_event(row) for row in self.rows(sql, self.cluster_id(cluster), span.since_ms, span.end_ms, subject, subject, span.limit))

    def event_positions(self, cluster: str) -> dict[int, EventPosition]:
        """By broker: up to where its events.log was read."""
        rows = self.rows("SELECT broker, inode, offset FROM event_position WHERE cluster_id = ?", self.cluster_id(cluster))
        return {row[0]: EventPosition(*row) for row in rows}

    def alarms(self, cluster: str, *, only_on: bool = False, limit: int = 500) -> tuple[Alarm, ...]:
        """The alarms, the latest first; `only_on`: those that are still on."""
        condition = " AND cleared_ms IS NULL" if only_on else ""
        sql = f"SELECT id, rule, subject, raised_ms, cleared_ms, sentence, value FROM alarm WHERE cluster_id = ?{condition} ORDER BY id DESC LIMIT ?"
        return tuple(Alarm(*row) for row in self.rows(sql, self.cluster_id(cluster), limit))


def _event(row: tuple[Any, ...]) -> BrokerEvent:
    number, t_ms, broker, name, subject, zxid, facts = row
    return BrokerEvent(number, t_ms, broker, name, subject, zxid, json.loads(facts))
