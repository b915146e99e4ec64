"""The purgatories whose operations wait for something that a partition does. The key is the partition."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.purgatory.purgatory import Purgatory


@dataclass(frozen=True, slots=True)
class DelayedOperations:
    """Produce waits for the high watermark, Fetch for bytes, DeleteRecords for the replicas' log starts."""

    produce: Purgatory
    fetch: Purgatory
    delete_records: Purgatory

    def check_all(self, topic_partition: TopicPartition) -> None:
        """The high watermark moved, the leadership changed, or the partition is gone."""
        for purgatory in (self.fetch, self.produce, self.delete_records):
            if topic_partition in purgatory.watchers:
                purgatory.check_and_complete(topic_partition)

    def check_fetch(self, topic_partition: TopicPartition) -> None:
        """Records were appended, but the high watermark stands: only followers can go on."""
        if topic_partition in self.fetch.watchers:
            self.fetch.check_and_complete(topic_partition)
