"""A member by librdkafka: python librdkafka_member.py BOOTSTRAP TOPIC GROUP STRATEGY [INSTANCE]."""

from __future__ import annotations

import json
import os
import signal
import sys

from confluent_kafka import Consumer


def main(bootstrap: str, topic: str, group: str, strategy: str, instance: str | None = None) -> None:
    """Read until SIGTERM."""
    ending: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ending.append(number))
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "partition.assignment.strategy": strategy,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 200,
        "session.timeout.ms": int(os.environ.get("SESSION_TIMEOUT_MS", "6000")),
        "heartbeat.interval.ms": 300,
        "fetch.wait.max.ms": 100,
        "log_level": 2,
    }
    consumer = Consumer(settings | ({} if instance is None else {"group.instance.id": instance}))
    consumer.subscribe([topic])
    owned: list[int] = []
    while not ending:
        message = consumer.poll(0.1)
        now = sorted(each.partition for each in consumer.assignment())
        if now != owned:
            owned = now
            print(json.dumps({"name": "assignment", "partitions": owned}), flush=True)
        if message is not None and message.error() is None:
            value = (message.value() or b"").decode()
            print(json.dumps({"name": "record_data", "partition": message.partition(), "offset": message.offset(), "value": value}), flush=True)
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
