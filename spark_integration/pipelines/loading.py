"""Brings the flights into their topic with our own producer. A load that was cut off is gone on with: each partition's end says how many of its records it has.

That is sound because the records, and the partition of each, are the same each time; because an idempotent producer writes each once and in order; and because
nobody else writes into the topic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from pykafka_classic.clients import Admin, Consumer, ErrorCode, KafkaError, NewTopic, Producer, RecordMetadata
from pykafka_classic.common.murmur2 import partition_of_key
from spark_integration.pipelines.data_set import Loaded

TOLD_EVERY: Final = 2000


def create_topics(bootstrap: str, topics: Mapping[str, Mapping[str, str]], *, partitions: int) -> None:
    """Create those that are not there, with these configurations, replicated to as many brokers as there are, three at most."""
    with Admin(bootstrap) as admin:
        replicas = min(3, len(admin.describe_cluster().nodes))
        made = admin.create_topics([NewTopic(name, partitions, replicas, configs=dict(configs)) for name, configs in topics.items()])
        for error in made.errors().values():
            if not isinstance(error, KafkaError) or error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise error


def load(bootstrap: str, topic: str, records: Iterable[Loaded], on_progress: Callable[[int], None]) -> int:
    """Send what the topic does not have yet; `on_progress` is told how many records are dealt with. How many were sent. KafkaError, ClientTimeout."""
    with Consumer(bootstrap) as consumer:
        there = {partition.partition: end for partition, end in consumer.end_offsets(consumer.partitions_of(topic)).items()}
    failures: list[Exception] = []

    def told(_: RecordMetadata | None, error: Exception | None) -> None:
        if error is not None:
            failures.append(error)

    sent = 0
    with Producer(bootstrap, enable_idempotence=True, linger_ms=20, batch_size=131_072, compression_type="lz4") as producer:
        for number, record in enumerate(records):
            partition = partition_of_key(record.key, partition_count=len(there))
            if there[partition]:
                there[partition] -= 1
            else:
                producer.send(topic, record.value, record.key, partition=partition, on_delivery=told)
                sent += 1
            if number % TOLD_EVERY == 0:
                on_progress(number)
        producer.flush()
    if failures:
        raise failures[0]
    return sent
