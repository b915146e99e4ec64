"""Our own clients, ready to import.

    from pykafka_classic.clients import Producer

Blocking: `Producer`. On a Twisted reactor: `TwistedProducer`, whose methods give Deferreds. What can go wrong: `KafkaError` (a broker's error code),
`NoBrokers`, `ClientTimeout`, `ClientClosed`, `InvalidSetting`. Examples: docs/clients.md.
"""

from __future__ import annotations

from pykafka_classic.client.client_errors import ClientClosed, ClientTimeout, InvalidSetting, NoBrokers, UnsupportedByBrokers
from pykafka_classic.client.producing.delivery import RecordMetadata
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.producer import Producer

__all__ = [
    "ClientClosed",
    "ClientTimeout",
    "ErrorCode",
    "InvalidSetting",
    "KafkaError",
    "NoBrokers",
    "Producer",
    "RecordMetadata",
    "TopicPartition",
    "UnsupportedByBrokers",
]
