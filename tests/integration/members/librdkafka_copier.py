"""Copies NAME-in to NAME-out in transactions of librdkafka's: python librdkafka_copier.py BOOTSTRAP NAME INPUTS BATCH. Prints how much is copied after each.

It ends when all is copied, and when something fails: whoever comes next aborts what is open, and reads from where the group committed.
"""

from __future__ import annotations

import sys

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

WAIT_S = 30.0


def main(bootstrap: str, name: str, inputs: int, batch: int) -> None:
    """See the module."""
    settings: dict[str, str | int | bool] = {"bootstrap.servers": bootstrap, "group.id": name, "log_level": 0}
    consumer = Consumer(settings | {"auto.offset.reset": "earliest", "enable.auto.commit": False, "isolation.level": "read_committed"})
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": name, "transaction.timeout.ms": 20_000, "log_level": 0})
    producer.init_transactions(WAIT_S)
    places = [TopicPartition(f"{name}-in", number) for number in range(2)]
    committed = consumer.committed(places, WAIT_S)
    copied = sum(max(each.offset, 0) for each in committed)
    consumer.assign([TopicPartition(each.topic, each.partition, max(each.offset, 0)) for each in committed])
    print(copied, flush=True)
    while copied < inputs:
        messages = [each for each in consumer.consume(batch, 1.0) if each.error() is None]
        if messages:
            producer.begin_transaction()
            for message in messages:
                producer.produce(f"{name}-out", message.value())
            producer.send_offsets_to_transaction(consumer.position(places), consumer.consumer_group_metadata(), WAIT_S)
            producer.commit_transaction(WAIT_S)
            copied += len(messages)
            print(copied, flush=True)
    consumer.close()


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    except KafkaException as error:
        sys.exit(str(error))
