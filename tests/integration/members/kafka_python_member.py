"""A member by kafka-python: python kafka_python_member.py BOOTSTRAP TOPIC GROUP STRATEGY [INSTANCE]."""

from __future__ import annotations

import json
import signal
import sys
import warnings

with warnings.catch_warnings():  # its own use of what Python will drop one day
    warnings.simplefilter("ignore")
    from kafka import KafkaConsumer
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
        session_timeout_ms=6000,
        heartbeat_interval_ms=300,
        fetch_max_wait_ms=100,
    )
    consumer.partitions_for_topic(topic)  # a leader that assigns before it knows the topic, while poll's time runs out, falls silent for good
    consumer.subscribe([topic])
    owned: list[int] = []
    while not ending:
        polled = consumer.poll(1000)
        now = sorted(each.partition for each in consumer.assignment())
        if now != owned:
            owned = now
            print(json.dumps({"name": "assignment", "partitions": owned}), flush=True)
        for place, records in polled.items():
            for record in records:
                print(json.dumps({"name": "record_data", "partition": place.partition, "offset": record.offset, "value": record.value.decode()}), flush=True)
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
