"""Our own clients, ready to import.

    from pykafka_classic.clients import Consumer, Producer

`Producer` and `Consumer` wait; `TwistedProducer` and `TwistedConsumer` run on a reactor and give Deferreds. One core stands behind both.

What can go wrong: `KafkaError` (a broker's error code), `NoBrokers`, `ClientTimeout`, `ClientClosed`, `InvalidSetting`; for consumers also `NoOffset`,
`LogTruncated`, `CommitFailed`, `RebalanceInProgress`, `IllegalState`. Every text is for the user. Examples: docs/clients.md.
"""

from __future__ import annotations

from pykafka_classic.client.client_errors import ClientClosed, ClientTimeout, InvalidSetting, NoBrokers, UnsupportedByBrokers
from pykafka_classic.client.consuming.assigned_partitions import OffsetAndMetadata
from pykafka_classic.client.consuming.consumer_errors import CommitFailed, IllegalState, LogTruncated, NoOffset, RebalanceInProgress
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.client.producing.delivery import RecordMetadata
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.consumer import Consumer
from pykafka_classic.edges.clients.producer import Producer
from pykafka_classic.edges.clients.twisted_consumer import TwistedConsumer
from pykafka_classic.edges.clients.twisted_producer import TwistedProducer

__all__ = [
    "ClientClosed",
    "ClientTimeout",
    "CommitFailed",
    "Consumer",
    "ConsumerRecord",
    "ErrorCode",
    "IllegalState",
    "InvalidSetting",
    "KafkaError",
    "LogTruncated",
    "NoBrokers",
    "NoOffset",
    "OffsetAndMetadata",
    "Producer",
    "RebalanceInProgress",
    "RecordMetadata",
    "TopicPartition",
    "TwistedConsumer",
    "TwistedProducer",
    "UnsupportedByBrokers",
]
