"""A member by kafka-python: python kafka_python_member.py BOOTSTRAP TOPIC GROUP STRATEGY [INSTANCE]."""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Iterable

with warnings.catch_warnings():  # its own use of what Python will drop one day
    warnings.simplefilter("ignore")
    from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

STRATEGIES = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


class Owned(ConsumerRebalanceListener):  # type: ignore[misc]  # kafka-python has no types
    """Prints each change: a member that wakes may lose all and get it again within one poll."""

    def __init__(self) -> None:
        self._partitions: set[int] = set()

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """After a rebalance: all, or with a cooperative assignor what is new."""
        self._now(self._partitions | {each.partition for each in assigned})

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Before a rebalance."""
        self._now(self._partitions - {each.partition for each in revoked})

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        """The group has gone on without this member."""
        self.on_partitions_revoked(lost)

    def _now(self, partitions: set[int]) -> None:
        self._partitions = partitions
        print(json.dumps({"name": "assignment", "partitions": sorted(partitions)}), flush=True)


def main(bootstrap: str, topic: str, group: str, strategy: str, instance: str | None = None) -> None:
    """Read until SIGTERM."""
    ending: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ending.append(number))
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap.split(","),
        group_id=group,
        group_instance_id=instance,
        partition_assignment_strategy=[STRATEGIES[strategy]],
        auto_offset_reset="earliest",
        auto_commit_interval_ms=200,
        session_timeout_ms=int(os.environ.get("SESSION_TIMEOUT_MS", "6000")),
        heartbeat_interval_ms=300,
        fetch_max_wait_ms=100,
    )
    consumer.partitions_for_topic(topic)  # a leader that assigns before it knows the topic, while poll's time runs out, falls silent for good
    consumer.subscribe([topic], listener=Owned())
    while not ending:
        for place, records in consumer.poll(1000).items():
            for record in records:
                print(json.dumps({"name": "record_data", "partition": place.partition, "offset": record.offset, "value": record.value.decode()}), flush=True)
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
